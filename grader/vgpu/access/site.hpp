// What a memory instruction did before, which makes repeating it cheap.
//
// In a loop, or from warp to warp, an instruction's lanes often form the same shape of addresses at another place. A
// shape is recognised by comparing 32 distances. Then its known properties hold again: its bounds, its cost in sectors
// or wavefronts, and how to gather its lanes. Nothing here changes what an access does or counts: an unrecognised shape
// takes the slow path, which computes everything from the addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/access/access.hpp"
#include "vgpu/access/granules.hpp"
#include "vgpu/access/lines.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

// A shape: the addresses of an Access relative to that of its first active lane. Bounds are relative too (modulo 2^64).
class Pattern : public Access {
  public:
    unsigned bytes = 0;  // of one lane
    unsigned leader = 0;
    std::uint64_t extent = 0;  // from the begin of the lowest lane's bytes to the end of the highest one's
    // How four-byte words are loaded. Windows: each group of eight lanes reads words of one window of eight; `window`
    // is its begin, `word` the index of each lane's word in it. One and Adjacent: by a full warp.
    enum class Words : std::uint8_t { Apart, Windows, Adjacent, One };
    Words words = Words::Apart;
    std::uint64_t window[4] = {};
    std::uint64_t reach = 0;  // end of the last window
    alignas(32) std::uint8_t word[warp_size] = {};

    void learn(const Access& access, unsigned bytes_of_lane);
    [[nodiscard]] bool is(const Access& access, unsigned bytes_of_lane) const;
    // True if the active lanes' registers form this shape. Defined in site_match.hpp.
    [[nodiscard]] bool matches(const std::uint64_t* registers) const;
    [[nodiscard]] bool matches(const std::uint32_t* registers) const;
    // The access with its first active lane at `first`.
    [[nodiscard]] Access at(std::uint64_t first) const;
    // The lanes' distances from `first`, as signed numbers if the extent is below 2^31.
    [[nodiscard]] const std::uint32_t* distances() const { return near_; }

    // The cost of the shape at `first`, computed once. Wavefronts and local sectors require `first` to be a multiple of
    // 4.
    [[nodiscard]] std::uint32_t sectors_at(std::uint64_t first) { return lines_at(first).sectors; }
    [[nodiscard]] Wavefronts wavefronts_anywhere() {
        if (wavefronts_.total == 0) [[unlikely]]
            wavefronts_ = wavefronts(bytes);
        return wavefronts_;
    }
    [[nodiscard]] std::uint32_t local_sectors_anywhere();
    // For constant memory.
    [[nodiscard]] std::uint32_t words_at(std::uint64_t first);
    // The lines that the shape touches, relative to that of `first`.
    [[nodiscard]] ShapeLines& lines_at(std::uint64_t first) {
        std::uint8_t& known = lines_by_place_[first % line_bytes];
        if (known == 0) [[unlikely]]
            known = learn_lines(first % line_bytes);
        return lines_[known - 1];
    }
    // The granules that it touches. Only if `first` and the size of one lane's access are multiples of a granule.
    [[nodiscard]] const GranuleShape& granules(unsigned shift) {
        if (granules_.runs.empty()) [[unlikely]]
            granules_.learn(*this, bytes, shift);
        return granules_;
    }

  private:
    std::uint8_t learn_lines(std::uint64_t place);
    void find_windows();
    Wavefronts wavefronts_{0, 0};
    std::uint32_t local_sectors_ = 0, words_ = 0;
    std::uint8_t lines_by_place_[line_bytes] = {};    // index into lines_ plus 1; 0: not yet known
    std::vector<ShapeLines> lines_;                   // all different
    GranuleShape granules_;                           // no runs: not yet known
    alignas(32) std::uint32_t near_[warp_size] = {};  // the distances' low halves
};

// The shapes that one host thread has seen; instructions with equal shapes share them. The size is fixed: a new shape
// replaces an old one, and users of the old one notice by comparing.
class PatternPool {
  public:
    Pattern* find(const Access& access, unsigned bytes);
    [[nodiscard]] std::uint32_t replacements() const { return replacements_; }

  private:
    static constexpr std::size_t capacity = 64;
    std::unique_ptr<Pattern[]> patterns_;
    std::uint32_t replacements_ = 0;
};

// One memory instruction on one host thread.
struct alignas(64) MemorySite : MemoryStats {
    Allocation* allocation = nullptr;                  // that contained its lanes' bytes last time
    std::uint32_t shared_begin = 0, shared_bytes = 0;  // the same for shared memory: a variable or the dynamic part
    Pattern* pattern = nullptr;                        // of its last access, if known
    std::uint32_t misses = 0;  // in a row; after many, the instruction stops comparing for a while
    std::uint32_t seen = 0;    // PatternPool::replacements() at its last access

    // The pattern of these registers if it is the same as last time, else nullptr.
    template <class Register>
    Pattern* recall(const Register* registers, std::uint32_t mask, unsigned bytes) const {
        Pattern* p = pattern;
        return p && p->mask == mask && p->bytes == bytes && misses < patience && p->matches(registers) ? p : nullptr;
    }
    // The pattern of its last access if that is known and not replaced.
    [[nodiscard]] Pattern* last(const PatternPool& pool) const {
        return seen == pool.replacements() ? pattern : nullptr;
    }
    void recalled(Pattern* p, const PatternPool& pool) {
        misses = 0;
        pattern = p;
        seen = pool.replacements();
    }
    void missed(const Access& access, unsigned bytes, PatternPool& pool) {
        pattern = misses < patience ? pool.find(access, bytes) : nullptr;
        seen = pool.replacements();
        if (++misses == patience + pause) misses = 0;
    }

  private:
    static constexpr std::uint32_t patience = 8, pause = 64;
};

// The sectors of a local access. The hardware interleaves local memory by lane: word i of all lanes is in one row of
// 128 bytes.
std::uint32_t local_sectors(const Access& x, unsigned bytes);

}  // namespace warpgrade::vgpu
