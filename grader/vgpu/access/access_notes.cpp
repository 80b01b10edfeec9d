#include "vgpu/access/access_notes.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

using device::MemoryAccess;
using device::MemoryUse;

namespace {

constexpr std::uint64_t word_bits = 64;

std::uint64_t* words_of(const HostPages& bits) { return reinterpret_cast<std::uint64_t*>(bits.data()); }

void set(const HostPages& bits, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t* words = words_of(bits);
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t next = std::min(end, (at / word_bits + 1) * word_bits), count = next - at;
        words[at / word_bits] |= (count == word_bits ? ~0ULL : (1ULL << count) - 1) << (at % word_bits);
        at = next;
    }
}

struct Piece {
    std::uint64_t begin, end;
};

// Finds the runs of set bits between two offsets; gaps of up to `gap` bytes count as set. False if there are too many.
bool find_pieces(std::span<const std::uint64_t* const> bitmaps, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t gap, std::vector<Piece>& pieces) {
    pieces.clear();
    for (std::uint64_t word = begin / word_bits; word * word_bits < end; ++word) {
        std::uint64_t bits = 0;
        for (const std::uint64_t* bitmap : bitmaps) bits |= bitmap[word];
        while (bits != 0) {
            const auto first = static_cast<std::uint64_t>(std::countr_zero(bits));
            const auto count = static_cast<std::uint64_t>(std::countr_one(bits >> first));
            const std::uint64_t at = word * word_bits + first;
            if (!pieces.empty() && at - pieces.back().end <= gap) {
                pieces.back().end = at + count;
            } else {
                if (pieces.size() == AccessNotes::max_pieces) return false;
                pieces.push_back({at, at + count});
            }
            bits = first + count == word_bits ? 0 : bits & (~0ULL << (first + count));
        }
    }
    return true;
}

}  // namespace

AccessNotes::Memory::Memory(std::uint64_t base_address, std::uint64_t size) : base(base_address), bytes(size) {
    std::ranges::fill(begin, ~std::uint64_t{0});
}

AccessNotes::Memory& AccessNotes::of(const Allocation& a) {
    if (last_ && last_->base == a.base) return *last_;
    const auto known = std::ranges::find(memories_, a.base, &Memory::base);
    return *(last_ = known != memories_.end() ? &*known : &memories_.emplace_back(a.base, a.bytes));
}

void AccessNotes::note(const Allocation& a, const Access& x, unsigned bytes, MemoryUse use) {
    if (a.on_heap) return;
    Memory& memory = of(a);
    const auto which = static_cast<std::size_t>(use);
    HostPages& bits = memory.bits[which];
    if (!bits.data()) bits = HostPages((memory.bytes + word_bits - 1) / word_bits * sizeof(std::uint64_t));
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
        memory.begin[which] = std::min(memory.begin[which], begin);
        memory.end[which] = std::max(memory.end[which], end);
        set(bits, begin, end);
    };
    if (x.kind == Access::Kind::Contiguous)
        return add(x.address[0] - a.base, x.address[0] - a.base + std::uint64_t{bytes} * warp_size);
    for_active(x.mask, [&](unsigned l) { add(x.address[l] - a.base, x.address[l] - a.base + bytes); });
}

std::vector<MemoryAccess> AccessNotes::merge(std::span<const AccessNotes* const> parts) {
    std::map<std::uint64_t, std::vector<const Memory*>> by_base;
    for (const AccessNotes* part : parts)
        for (const Memory& memory : part->memories_) by_base[memory.base].push_back(&memory);
    std::vector<MemoryAccess> result;
    std::vector<Piece> pieces;
    for (const auto& [base, memories] : by_base)
        for (std::size_t use = 0; use < uses; ++use) {
            std::vector<const std::uint64_t*> bitmaps;
            std::uint64_t begin = ~std::uint64_t{0}, end = 0;
            for (const Memory* memory : memories) {
                if (!memory->bits[use].data()) continue;
                bitmaps.push_back(words_of(memory->bits[use]));
                begin = std::min(begin, memory->begin[use]);
                end = std::max(end, memory->end[use]);
            }
            if (bitmaps.empty()) continue;
            for (std::uint64_t gap = 0; !find_pieces(bitmaps, begin, end, gap, pieces);) gap = 4 * gap + 16;
            for (const Piece& piece : pieces)
                result.push_back({base + piece.begin, piece.end - piece.begin, static_cast<MemoryUse>(use)});
        }
    return result;
}

}  // namespace warpgrade::vgpu
