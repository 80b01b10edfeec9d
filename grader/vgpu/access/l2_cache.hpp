// The L2 of one launch, in parts that several host threads can look up at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/access/caches.hpp"
#include "vgpu/access/line_words.hpp"

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
        using Product = unsigned __int128;
        return static_cast<std::uint64_t>(Product{line * reciprocal_} * count_ >> 64);
    }
    // A hash spreads the sets over the parts: rows that are a power of two apart would otherwise share one. Many
    // neighbours stay together, since eight lines have their words in one line of the host's caches, and where count()
    // is no multiple of eight, these can be of two groups.
    [[nodiscard]] unsigned part_of(std::uint64_t line) const {
        return static_cast<unsigned>((hash_of_line(index_of(line) / neighbours) >> 32) * parts_ >> 32);
    }

  private:
    static constexpr std::uint64_t neighbours = 32;
    std::uint64_t count_, reciprocal_;
    unsigned parts_;
};

// The L2 of one launch. Host threads may look up different parts at the same time.
//
// Most requests are for lines that L2 has, so what it knows of a line is found by the line's number, and is as compact
// as what the launch accesses. Only a line that it does not have looks at its set.
class L2Cache {
  public:
    explicit L2Cache(std::uint64_t bytes, unsigned parts = 1);
    ~L2Cache();
    L2Cache(const L2Cache&) = delete;
    L2Cache& operator=(const L2Cache&) = delete;
    [[nodiscard]] const L2Sets& sets() const { return sets_; }
    // Requests for lines of this part, in order. Statistics are by slot. Throws a DeviceError if the host has no memory
    // left.
    void request(std::span<const LineRequest> requests, std::span<CacheStats> stats, unsigned part = 0);

  private:
    static constexpr unsigned ways = L2Sets::ways;
    // The word of a line: when it was used, in steps of `tick`, and below it the sectors that are dirty and those that
    // L2 has, four bits each. Up to Part::floor: of an earlier launch, or not in L2.
    using Word = std::uint64_t;
    static constexpr Word tick = 1 << 12, way_bits = 15 << 8;
    struct alignas(64) Set {
        // The lines' words as they were when the set was last looked at, with the number of the way in `way_bits`.
        // Uses since then have made them larger: if the least one is still the same, its line was used least recently.
        Word seen[ways];
        Word* line[ways];
        [[nodiscard]] Word least_seen() const;
    };
    struct Storage;
    struct alignas(64) Part {
        LineWords words;
        Word now, floor;
    };

    static void fetch(const Set& set);
    void bring(std::uint64_t line, Word* place, Word word, CacheStats& stats) const;
    template <bool Reads>
    const LineRequest* request(const LineRequest* next, const LineRequest* end, Part& part, CacheStats& stats) const;

    L2Sets sets_;
    std::unique_ptr<Storage> storage_;  // the last launch's, if it fits
    std::vector<Part> parts_;
};

}  // namespace warpgrade::vgpu
