// What a memory instruction did before, so that doing the same again is cheap.
//
// In a loop, or from warp to warp, an instruction's lanes form the same shape of addresses again and again, only
// elsewhere. A shape is recognised by comparing 32 distances; what is known of it then holds again: its bounds, the
// sectors or wavefronts that it costs, and how its lanes are gathered. Nothing here changes what an access does or
// counts: a shape that is not recognised takes the long way, which works everything out from the addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/access/access.hpp"
#include "vgpu/access/granules.hpp"
#include "vgpu/access/lines.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

// A shape of addresses: those of an Access relative to its first active lane's. Bounds are relative as well (modulo
// 2^64).
class Pattern : public Access {
  public:
    unsigned bytes = 0;  // of one lane
    unsigned leader = 0;
    // Each group of eight lanes wants words of one window of eight: `window` is where it begins, `word` which of them.
    bool windowed = false;
    std::uint64_t window[4] = {};
    std::uint64_t reach = 0;  // where the last window ends
    alignas(32) std::uint8_t word[warp_size] = {};

    void learn(const Access& access, unsigned bytes_of_lane);
    [[nodiscard]] bool is(const Access& access, unsigned bytes_of_lane) const;
    // Do the active lanes' registers form this shape? Defined in site_match.hpp.
    [[nodiscard]] bool matches(const std::uint64_t* registers) const;
    [[nodiscard]] bool matches(const std::uint32_t* registers) const;
    // The access with its first active lane at `first`.
    [[nodiscard]] Access at(std::uint64_t first) const;

    // What the shape costs at `first`, worked out once. Wavefronts and local sectors need `first` to be a multiple
    // of 4.
    [[nodiscard]] std::uint32_t sectors_at(std::uint64_t first) {
        std::uint8_t& known = sectors_by_phase_[first % sector_bytes];
        if (known == 0) [[unlikely]]
            known = static_cast<std::uint8_t>(at(first % sector_bytes).sectors(bytes));
        return known;
    }
    [[nodiscard]] Wavefronts wavefronts_anywhere() {
        if (wavefronts_.total == 0) [[unlikely]]
            wavefronts_ = wavefronts(bytes);
        return wavefronts_;
    }
    [[nodiscard]] std::uint32_t local_sectors_anywhere();
    // Of constant memory.
    [[nodiscard]] std::uint32_t words_at(std::uint64_t first) {
        if (bytes < bank_bytes) return at(first).distinct_words(bytes);
        if (words_ == 0) [[unlikely]]
            words_ = distinct_words(bytes);
        return words_;
    }
    // The lines that it touches, relative to that of `first`.
    [[nodiscard]] ShapeLines& lines_at(std::uint64_t first) {
        std::uint8_t& known = lines_by_place_[first % line_bytes];
        if (known == 0) [[unlikely]]
            known = learn_lines(first % line_bytes);
        return lines_[known - 1];
    }
    // The granules that it touches. Only for first lanes at a multiple of a granule, which the access's size is, too.
    [[nodiscard]] const GranuleShape& granules(unsigned shift) {
        if (granules_.runs.empty()) [[unlikely]]
            granules_.learn(*this, bytes, shift);
        return granules_;
    }

  private:
    std::uint8_t learn_lines(std::uint64_t place);
    void find_windows();
    std::uint8_t sectors_by_phase_[sector_bytes] = {};  // 0: not known yet
    Wavefronts wavefronts_{0, 0};
    std::uint32_t local_sectors_ = 0, words_ = 0;
    std::uint8_t lines_by_place_[line_bytes] = {};    // which of lines_, from 1; 0: not known yet
    std::vector<ShapeLines> lines_;                   // all different
    GranuleShape granules_;                           // no runs: not known yet
    alignas(32) std::uint32_t near_[warp_size] = {};  // the distances' low halves
};

// The shapes that one host thread has seen; instructions with the same shape share it. Of fixed size: a new shape
// takes the place of an old one, and whoever refers to that finds out by comparing.
class PatternPool {
  public:
    Pattern* find(const Access& access, unsigned bytes);

  private:
    static constexpr std::size_t capacity = 64;
    std::unique_ptr<Pattern[]> patterns_;
};

// One memory instruction on one host thread.
struct alignas(64) MemorySite : MemoryStats {
    Allocation* allocation = nullptr;                  // where its lanes found their bytes last
    std::uint32_t shared_begin = 0, shared_bytes = 0;  // the same of shared memory: a variable, or its dynamic part
    Pattern* pattern = nullptr;
    std::uint32_t misses = 0;  // in a row; an instruction whose shapes never recur stops looking for a while

    // The shape of these registers, if it is that of last time.
    template <class Register>
    Pattern* recall(const Register* registers, std::uint32_t mask, unsigned bytes) const {
        Pattern* p = pattern;
        return p && p->mask == mask && p->bytes == bytes && misses < patience && p->matches(registers) ? p : nullptr;
    }
    void recalled() { misses = 0; }
    void missed(const Access& access, unsigned bytes, PatternPool& pool) {
        if (misses < patience) pattern = pool.find(access, bytes);
        if (++misses == patience + pause) misses = 0;
    }

  private:
    static constexpr std::uint32_t patience = 8, pause = 64;
};

// Sectors of a local access. The hardware interleaves local memory by lane: word i of all lanes lies in one row of 128
// bytes.
std::uint32_t local_sectors(const Access& x, unsigned bytes);

}  // namespace warpgrade::vgpu
