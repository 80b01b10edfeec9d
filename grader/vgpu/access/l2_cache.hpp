// The L2 of one launch, in parts that several host threads can look up at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "vgpu/access/caches.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

// Which set of L2 has a line, and which part of L2 has the set. Sets do not know of each other, so each part counts
// the same whenever the others are looked up.
class L2Sets {
  public:
    static constexpr unsigned ways = 16;
    // More parts take more time of blocks that ask L2 for little; L2 takes less than a third of what one thread does.
    static constexpr unsigned max_parts = 6;
    L2Sets(std::uint64_t l2_bytes, unsigned parts);
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] unsigned parts() const { return parts_; }
    // The number line % count(), without a division: the fraction of line / count() in 64 bits, times count(). Exact
    // while a line and count() have 64 bits together (Lemire et al. 2019).
    [[nodiscard]] std::uint64_t index_of(std::uint64_t line) const {
        using Wide = unsigned __int128;
        return static_cast<std::uint64_t>(Wide{line * reciprocal_} * count_ >> 64);
    }
    // A hash spreads the sets over the parts: rows that are a power of two apart would otherwise share one.
    [[nodiscard]] unsigned part_of(std::uint64_t line) const {
        return static_cast<unsigned>((hash_of_line(index_of(line)) >> 32) * parts_ >> 32);
    }

  private:
    std::uint64_t count_, reciprocal_;
    unsigned parts_;
};

// The L2 of one launch. Host threads may look up different parts at the same time.
class L2Cache {
  public:
    explicit L2Cache(std::uint64_t bytes, unsigned parts = 1);
    ~L2Cache();
    L2Cache(const L2Cache&) = delete;
    L2Cache& operator=(const L2Cache&) = delete;
    [[nodiscard]] const L2Sets& sets() const { return sets_; }
    // Requests of consecutive blocks for lines of this part, in order; `ends` says where each block's end. Statistics
    // are by slot.
    void request(std::span<const LineRequest> requests, std::span<const std::size_t> ends, std::span<CacheStats> stats,
                 unsigned part = 0);

  private:
    static constexpr unsigned ways = L2Sets::ways;
    struct Way {
        std::uint64_t tag;   // line << 8 | dirty sectors << 4 | valid sectors
        std::uint64_t used;  // when << 4 | sectors that the running block has asked for
    };
    // A request needs two lines of the host's caches: the first one tells where the other is. All zero: empty.
    struct alignas(64) Set {
        std::uint16_t sign[ways];  // sign_of() the ways' lines
        alignas(64) Way way[ways];
        // One bit for each way with this sign.
        [[nodiscard]] unsigned alike(std::uint16_t wanted) const;
    };
    [[nodiscard]] static std::uint16_t sign_of(std::uint64_t line) {
        return static_cast<std::uint16_t>(hash_of_line(line) >> 48);
    }
    [[nodiscard]] Set& set_of(std::uint64_t line) const {
        return reinterpret_cast<Set*>(storage_.data())[sets_.index_of(line)];
    }
    struct alignas(64) Clock {  // of one part
        std::uint64_t now = 0;
        std::uint64_t floor = 0;  // up to then, of earlier launches: the storage is used again without clearing
        std::uint64_t block_began = 0;
    };
    // The way that has the line, from now on if none had it.
    static Way& find(Set& set, std::uint64_t line, const Clock& clock, CacheStats& stats);
    static Way& replace(Set& set, std::uint64_t line, const Clock& clock, CacheStats& stats);
    void request(Set& set, const LineRequest& request, Clock& clock, CacheStats& stats);

    L2Sets sets_;
    std::vector<Clock> clocks_;  // by part
    HostPages storage_;          // zero-filled on demand: a small launch touches little of a large cache
};

inline unsigned L2Cache::Set::alike(std::uint16_t wanted) const {
#if defined(__SSE2__)
    const __m128i same = _mm_set1_epi16(static_cast<short>(wanted));
    const auto compare = [&](unsigned i) {
        return _mm_cmpeq_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(sign + i)), same);
    };
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(compare(0), compare(8))));
#else
    unsigned found = 0;
    for (unsigned i = 0; i < ways; ++i) found |= unsigned{sign[i] == wanted} << i;
    return found;
#endif
}

}  // namespace warpgrade::vgpu
