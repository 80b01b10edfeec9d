#include "vgpu/code/register_places.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "vgpu/code/flow_graph.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr std::uint64_t max_liveness_bits =
    1ULL << 26;  // of liveness (registers × blocks); larger functions share no places
constexpr std::uint64_t max_visits_per_block = 64;

using Words = std::vector<std::uint64_t>;

// The registers that a thread may still need, at the beginning and end of each block.
class Liveness {
  public:
    Liveness(const Code& code, const FunctionCode& function, std::size_t registers)
        : code_(code), function_(function), words_((registers + 63) / 64) {
        const std::size_t size = std::size_t{block_count()} * words_;
        for (Words* w : {&needed_, &written_, &in_, &out_}) w->assign(size, 0);
    }

    [[nodiscard]] std::uint32_t block_count() const { return function_.end_block - function_.first_block; }

    // To be called in the order of the instructions, with the reads of each before its writes.
    void note(std::uint32_t block, std::uint32_t reg, RegisterAccess::Kind kind) {
        const bool known = test(written_, block, reg);
        if (kind != RegisterAccess::Kind::Write && !known) set(needed_, block, reg);
        if (kind == RegisterAccess::Kind::Write) set(written_, block, reg);
    }

    // False if the analysis takes too long.
    bool solve() {
        std::vector<std::vector<std::uint32_t>> before(block_count());
        for (std::uint32_t b = 0; b < block_count(); ++b)
            for_successors(b, [&](std::uint32_t s) { before[s].push_back(b); });
        std::vector<std::uint32_t> work;
        std::vector<bool> queued(block_count(), true);
        for (std::uint32_t b = 0; b < block_count(); ++b) work.push_back(b);
        std::uint64_t visits = 0;
        while (!work.empty()) {
            if (++visits > max_visits_per_block * block_count()) return false;
            const std::uint32_t b = work.back();
            work.pop_back();
            queued[b] = false;
            if (!update(b)) continue;
            for (const std::uint32_t p : before[b])
                if (!queued[p]) {
                    queued[p] = true;
                    work.push_back(p);
                }
        }
        return true;
    }

    template <class F>
    void for_live_in(std::uint32_t block, F&& f) const {
        for_each(in_, block, f);
    }
    template <class F>
    void for_live_out(std::uint32_t block, F&& f) const {
        for_each(out_, block, f);
    }

  private:
    // Numbers the function's blocks from its first.
    template <class F>
    void for_successors(std::uint32_t index, F&& f) const {
        vgpu::for_successors(code_, function_.first_block + index, [&](std::uint32_t block) {
            if (block >= function_.first_block && block < function_.end_block) f(block - function_.first_block);
        });
    }

    // in = needed ∪ (out − written). True if it grew.
    bool update(std::uint32_t block) {
        const std::size_t at = std::size_t{block} * words_;
        for_successors(block, [&](std::uint32_t s) {
            for (std::size_t w = 0; w < words_; ++w) out_[at + w] |= in_[std::size_t{s} * words_ + w];
        });
        bool grew = false;
        for (std::size_t w = at; w < at + words_; ++w) {
            const std::uint64_t in = needed_[w] | (out_[w] & ~written_[w]);
            grew |= in != in_[w];
            in_[w] = in;
        }
        return grew;
    }

    [[nodiscard]] bool test(const Words& set, std::uint32_t block, std::uint32_t reg) const {
        return set[std::size_t{block} * words_ + reg / 64] >> (reg % 64) & 1;
    }
    void set(Words& set, std::uint32_t block, std::uint32_t reg) const {
        set[std::size_t{block} * words_ + reg / 64] |= std::uint64_t{1} << (reg % 64);
    }
    template <class F>
    void for_each(const Words& set, std::uint32_t block, F& f) const {
        for (std::size_t w = 0; w < words_; ++w)
            for (std::uint64_t bits = set[std::size_t{block} * words_ + w]; bits; bits &= bits - 1)
                f(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }

    const Code& code_;
    const FunctionCode& function_;
    std::size_t words_;
    Words needed_, written_, in_, out_;  // by block
};

// From the first to the last instruction at which a register's value matters, both inclusive: a result never shares a
// place with a source of the same instruction, because handlers may write before they have read everything.
struct Interval {
    std::uint32_t reg = 0;
    std::uint32_t begin = ~0u, end = 0;
    void include(std::uint32_t insn) {
        begin = std::min(begin, insn);
        end = std::max(end, insn);
    }
};

// The index after the block's last instruction, including its terminator.
std::uint32_t end_of(const BasicBlock& b) { return b.terminator == Terminator::Fall ? b.end : b.end + 1; }

std::uint32_t place_bytes(std::uint8_t width) { return width ? width * warp_size : 4; }

// Linear scan: intervals by their begin; each takes a free place of its width, or a new one.
RegisterPlaces scan(std::vector<Interval> intervals, std::span<const std::uint8_t> width) {
    RegisterPlaces places;
    places.offset.assign(width.size(), RegisterPlaces::unused);
    std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.reg < b.reg;
    });
    std::map<std::uint32_t, std::vector<std::uint32_t>> free;  // by size
    std::multimap<std::uint32_t, Interval> busy;               // by end
    for (const Interval& i : intervals) {
        while (!busy.empty() && busy.begin()->first < i.begin) {
            const Interval& ended = busy.begin()->second;
            free[place_bytes(width[ended.reg])].push_back(places.offset[ended.reg]);
            busy.erase(busy.begin());
        }
        const std::uint32_t bytes = place_bytes(width[i.reg]);
        auto& candidates = free[bytes];
        if (candidates.empty()) {
            const std::uint32_t align = bytes == 4 ? 4 : 64;
            places.bytes = (places.bytes + align - 1) / align * align;
            places.offset[i.reg] = places.bytes;
            places.bytes += bytes;
        } else {
            places.offset[i.reg] = candidates.back();
            candidates.pop_back();
        }
        busy.emplace(i.end, i);
    }
    return places;
}

}  // namespace

std::optional<RegisterPlaces> place_registers(const Code& code, const FunctionCode& function,
                                              std::span<const std::uint8_t> width,
                                              std::vector<RegisterAccess> accesses) {
    if (std::uint64_t{width.size()} * (function.end_block - function.first_block) > max_liveness_bits)
        return std::nullopt;
    Liveness liveness(code, function, width.size());
    std::vector<bool> read(width.size());
    for (const RegisterAccess& each : accesses)
        if (each.kind == RegisterAccess::Kind::Read) read[each.reg] = true;
    std::vector<Interval> intervals(width.size());
    for (std::uint32_t r = 0; r < width.size(); ++r) intervals[r].reg = r;
    // Liveness::note needs instructions in block order and the reads of each before its writes.
    std::stable_sort(accesses.begin(), accesses.end(), [](const RegisterAccess& x, const RegisterAccess& y) {
        return x.insn != y.insn ? x.insn < y.insn : x.kind < y.kind;
    });
    std::size_t next = 0;
    for (std::uint32_t b = 0; b < liveness.block_count(); ++b) {
        const std::uint32_t end = end_of(code.blocks[function.first_block + b]);
        for (; next < accesses.size() && accesses[next].insn < end; ++next) {
            liveness.note(b, accesses[next].reg, accesses[next].kind);
            intervals[accesses[next].reg].include(accesses[next].insn);
        }
    }
    if (next != accesses.size() || !liveness.solve()) return std::nullopt;
    for (std::uint32_t b = 0; b < liveness.block_count(); ++b) {
        const BasicBlock& block = code.blocks[function.first_block + b];
        const std::uint32_t last = std::max(end_of(block), block.begin + 1) - 1;
        liveness.for_live_in(b, [&](std::uint32_t r) { intervals[r].include(block.begin); });
        liveness.for_live_out(b, [&](std::uint32_t r) { intervals[r].include(last); });
    }
    std::erase_if(intervals, [](const Interval& i) { return i.begin > i.end; });
    RegisterPlaces places = scan(std::move(intervals), width);
    places.read = std::move(read);
    return places;
}

}  // namespace warpgrade::vgpu
