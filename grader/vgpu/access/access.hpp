// One warp-level memory access: the lanes' addresses, their pattern, and its cost in 32-byte sectors (global, local) or
// in wavefronts over 32 four-byte banks (shared).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/code/code.hpp"
#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

inline constexpr unsigned sector_bytes = 32, bank_count = 32, bank_bytes = 4;

struct Access {
    enum class Kind : std::uint8_t { Uniform, Contiguous, Other };

    alignas(64) std::uint64_t address[warp_size];  // inactive lanes repeat a neighbour's, so every entry is usable
    std::uint64_t low = 0, high = 0;               // of the first bytes
    std::uint64_t misaligned = 0;                  // low bits that are set in any address
    std::uint32_t mask = 0;
    Kind kind = Kind::Other;
    Kind group[4] = {};  // the same for each group of eight lanes

    // `bytes` is what one lane moves, with all elements of a vector: a power of two.
    void collect(const std::uint64_t* registers, std::int64_t offset, std::uint32_t active, unsigned bytes);
    void collect(const std::uint32_t* registers, std::int64_t offset, std::uint32_t active, unsigned bytes);

    // The number of distinct sectors. Accesses are aligned to their size, so none straddles two sectors.
    [[nodiscard]] std::uint32_t sectors(unsigned bytes) const {
        if (kind == Kind::Uniform) return 1;
        if (kind == Kind::Contiguous)
            return static_cast<std::uint32_t>(((address[0] % sector_bytes) + warp_size * bytes + sector_bytes - 1) /
                                              sector_bytes);
        if (group[0] != Kind::Other && group[1] != Kind::Other && group[2] != Kind::Other && group[3] != Kind::Other)
            return sectors_of_groups();
        std::uint64_t changes = 0, falls = 0;
        for (unsigned l = 1; l < warp_size; ++l) {
            const std::uint64_t here = address[l] / sector_bytes, before = address[l - 1] / sector_bytes;
            changes += here != before;
            falls += here < before;
        }
        return falls == 0 ? static_cast<std::uint32_t>(changes + 1) : distinct(sector_bytes);
    }

    // True if a store fills its sectors, except perhaps the first and the last one of lanes that follow each other:
    // their neighbours fill these.
    [[nodiscard]] bool fills_sectors(unsigned bytes) const;

    // The number of different words that the lanes request; a word has 4 bytes, or what one lane moves if that is more.
    // Constant memory delivers one word at a time, to all lanes that request it.
    [[nodiscard]] std::uint32_t distinct_words(unsigned bytes) const {
        return kind == Kind::Uniform ? 1 : distinct(bytes < bank_bytes ? bank_bytes : bytes);
    }
    [[nodiscard]] std::uint32_t distinct_addresses(unsigned bytes) const {
        return kind == Kind::Uniform ? 1 : distinct(bytes);
    }

    struct Wavefronts {
        std::uint32_t total, ideal;
    };
    // In one wavefront each bank delivers one word to all lanes that request it. `ideal` is the minimum for this number
    // of lanes and bytes; the rest are bank conflicts.
    [[nodiscard]] Wavefronts wavefronts(unsigned bytes) const;

    // How many cycles L1 takes for a request of so many lines: it looks up ten of them in three, and has the same banks
    // as shared memory.
    [[nodiscard]] std::uint32_t l1_cycles(unsigned bytes, std::size_t lines) const;

  private:
    void recognise(unsigned bytes);
    void fill_inactive();
    void classify_groups(unsigned bytes);
    [[nodiscard]] std::uint32_t sectors_of_groups() const;
    [[nodiscard]] std::uint32_t distinct(std::uint64_t unit_bytes) const;  // the number of different units of this size
    void set(Kind k, std::uint64_t lowest, std::uint64_t highest, unsigned bytes) {
        kind = k;
        low = lowest;
        high = highest;
        misaligned = lowest & (bytes - 1);
        group[0] = group[1] = group[2] = group[3] = k;
    }
};

// The host address of `address` if address 0 is at `origin`. Wraps, since shapes have addresses below their origin.
inline std::byte* host_place(std::byte* origin, std::uint64_t address) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(origin) + address);
}

// d[l] = the element at address[l] + shift, for lanes in the mask. `origin` + address is its host address.
template <class Mem, class Reg, bool Full>
inline void gather(Reg* d, std::byte* origin, const Access& x, unsigned shift, std::uint32_t mask) {
    std::byte* from = origin + shift;
    for (unsigned g = 0; g < warp_size; g += 8) {
        const Access::Kind kind = x.group[g / 8];
        if (kind == Access::Kind::Uniform) {
            Mem v;
            std::memcpy(&v, host_place(from, x.address[g]), sizeof v);
            for (unsigned l = g; l < g + 8; ++l)
                if (Full || lane_on(mask, l)) d[l] = static_cast<Reg>(v);
        } else if (kind == Access::Kind::Contiguous && Full && x.address[g + 1] - x.address[g] == sizeof(Mem)) {
            Mem v[8];  // not for vector accesses: their lanes are adjacent, but the lanes' first elements are not
            std::memcpy(v, host_place(from, x.address[g]), sizeof v);
            for (unsigned l = 0; l < 8; ++l) d[g + l] = static_cast<Reg>(v[l]);
        } else {
            for (unsigned l = g; l < g + 8; ++l) {
                Mem v;
                std::memcpy(&v, host_place(from, x.address[l]), sizeof v);
                if (Full || lane_on(mask, l)) d[l] = static_cast<Reg>(v);
            }
        }
    }
}

// Writes in lane order: if lanes write the same address, the highest lane's value remains.
template <class Mem, class Reg, bool Full>
inline void scatter(const Reg* s, std::byte* origin, const Access& x, unsigned shift, std::uint32_t mask) {
    std::byte* to = origin + shift;
    for (unsigned g = 0; g < warp_size; g += 8) {
        if (Full && x.group[g / 8] == Access::Kind::Contiguous) {
            Mem v[8];
            for (unsigned l = 0; l < 8; ++l) v[l] = static_cast<Mem>(s[g + l]);
            std::memcpy(host_place(to, x.address[g]), v, sizeof v);
        } else {
            for (unsigned l = g; l < g + 8; ++l) {
                if (!Full && !lane_on(mask, l)) continue;
                const Mem v = static_cast<Mem>(s[l]);
                std::memcpy(host_place(to, x.address[l]), &v, sizeof v);
            }
        }
    }
}

}  // namespace warpgrade::vgpu
