// The L1 of one block as a plain model, and a memo in front of it that gives the same counts faster.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vgpu/access/lines.hpp"

namespace warpgrade::vgpu {

// Lines of 128 bytes in sectors of 32, four ways, LRU.
class L1Cache {
  public:
    using Place = std::uint32_t;  // where a line's key is, in bytes

    // Empties the cache and sets its size.
    void begin(std::uint64_t bytes) {
        const std::uint64_t sets = std::clamp<std::uint64_t>(bytes / line_bytes / ways, 1, max_sets);
        if (sets != sets_.size() || ++block_ == blocks || now_ >> 62 != 0) {
            sets_.assign(sets, Set{});
            last_ = 0;
            now_ = last_use_lost_ = 0;
            block_ = 1;
        }
        floor_ = now();
    }

    // Reads sectors of a line, one bit each. Returns those that were present; afterwards all are present.
    unsigned read(std::uint64_t line, unsigned sectors, Place& place) {
        const std::size_t index = index_of(line);
        Set& set = sets_[index];
        if (const unsigned known = set.ways_with(name_of(line))) {
            place = static_cast<Place>(index * sizeof(Set) +
                                       set.way_bytes * static_cast<unsigned>(std::countr_zero(known)));
            return read_at(place, sectors);
        }
        const std::uint64_t least = set.least_used();
        place = static_cast<Place>(index * sizeof(Set) + set.way_of(least));
        throws_out_ += least > floor_;
        last_use_lost_ = std::max(last_use_lost_, least);
        key(place) = std::uint64_t{sectors} << sectors_at | name_of(line);
        use(place);
        return 0;
    }
    // Reads the lines of a list of up to `most_lines`, and writes requests of this instruction for what was not
    // present. Returns their end, and adds the sectors that were present to `hits`. Does not say in last_use_lost()
    // what was evicted.
    static constexpr std::size_t most_lines = std::size_t{2} * warp_size;
    LineRequest* read_all(std::span<const LinePart> parts, LineRequest instruction, LineRequest* to,
                          std::uint64_t& hits);
    // The warps of a block often read the same line one after the other.
    unsigned read(std::uint64_t line, unsigned sectors) {
        return holds(last_, line) ? read_at(last_, sectors) : read(line, sectors, last_);
    }

    // Evicts sectors of a line if they are present.
    void forget(std::uint64_t line, unsigned sectors) {
        Set& set = sets_[index_of(line)];
        for (std::uint64_t& key : set.key)
            if (key << 4 == name_of(line) << 4) {
                key &= ~(std::uint64_t{sectors} << sectors_at);
                ++throws_out_;
            }
    }

    // For callers that remember where a line was found.
    [[nodiscard]] bool holds(Place place, std::uint64_t line) const {
        return (key(place) ^ name_of(line)) << (64 - sectors_at) == 0;
    }
    unsigned read_at(Place place, unsigned sectors) {  // reads sectors of a line that is present
        use(place);
        std::uint64_t& word = key(place);
        const auto there = static_cast<unsigned>(word >> sectors_at) & sectors;
        word |= std::uint64_t{sectors} << sectors_at;
        return there;
    }
    // Reads sectors that are all present.
    void use(Place place) { word_at(place + offsetof(Set, used)) = (now_ += tick) | place; }
    [[nodiscard]] std::uint64_t now() const { return now_ | (tick - 1); }         // no use until now is later
    [[nodiscard]] std::uint64_t throws_out() const { return throws_out_; }        // changes with each eviction
    [[nodiscard]] std::uint64_t last_use_lost() const { return last_use_lost_; }  // the latest use of an evicted line

  private:
    static constexpr unsigned ways = 4;
    static constexpr std::uint64_t max_sets = 1 << 14;
    static constexpr int line_bits = 41;                                       // addresses have 48 bits
    static constexpr int sectors_at = 60;                                      // as in LinePart
    static constexpr std::uint64_t blocks = 1ull << (sectors_at - line_bits);  // that can be told apart
    struct alignas(64) Set {                                                   // one line of the host's cache
        std::uint64_t key[ways] = {};                                          // sectors << sectors_at | name_of(line)
        // When, in steps of `tick`, and below it the end of the line's place. Up to floor_: in an earlier block, or
        // never.
        std::uint64_t used[ways] = {0, 8, 16, 24};
        static constexpr unsigned way_bytes = sizeof key[0];
        // Where the way is that was used then.
        static std::size_t way_of(std::uint64_t when) { return when & way_bytes * (ways - 1); }
        // One bit for each way that has the line of this name.
        [[nodiscard]] unsigned ways_with(std::uint64_t name) const;
        [[nodiscard]] std::uint64_t least_used() const;
    };
    static constexpr std::uint64_t tick = max_sets * sizeof(Set);
    [[nodiscard]] std::uint64_t& word_at(std::size_t bytes) {
        return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(sets_.data()) + bytes);
    }
    [[nodiscard]] std::uint64_t& key(Place place) { return word_at(place); }
    [[nodiscard]] std::uint64_t key(Place place) const { return const_cast<L1Cache*>(this)->word_at(place); }
    // Lines of earlier blocks have other names, so they need not be cleared.
    [[nodiscard]] std::uint64_t name_of(std::uint64_t line) const { return block_ << line_bits | line; }

    // A hash spreads the lines: arrays whose rows are a power of two apart would otherwise share a few sets.
    [[nodiscard]] std::size_t index_of(std::uint64_t line) const {
        return (hash_of_line(line) >> 32) * sets_.size() >> 32;
    }

    std::vector<Set> sets_;
    std::uint64_t now_ = 0, floor_ = 0, block_ = 0;
    std::uint64_t throws_out_ = 0, last_use_lost_ = 0;
    Place last_ = 0;  // of the last line that was read by itself
};

inline unsigned L1Cache::Set::ways_with(std::uint64_t name) const {
#if defined(__AVX2__)
    const __m256i other = _mm256_xor_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(key)),
                                           _mm256_set1_epi64x(static_cast<long long>(name)));
    const __m256i same = _mm256_cmpeq_epi64(_mm256_slli_epi64(other, 64 - sectors_at), _mm256_setzero_si256());
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(same)));
#else
    unsigned found = 0;
    for (unsigned i = 0; i < ways; ++i) found |= unsigned{key[i] << 4 == name << 4} << i;
    return found;
#endif
}

// Without branches, which a processor could not predict.
inline std::uint64_t L1Cache::Set::least_used() const {
    return std::min(std::min(used[0], used[1]), std::min(used[2], used[3]));
}

// A list of lines that instructions request. Lists with the same phase and number have the same parts.
struct LineList {
    std::uint64_t phase = 0;  // the list is identified by its number within a phase
    std::uint32_t number = 0;
    std::span<const LinePart> parts;  // relative to a line that each read gives
};

// Instructions often request the same list of lines, in a loop or from warp to warp. The memo remembers where its lines
// were found last time; if nothing has been evicted since, all of them are still there.
class L1Memo {
  public:
    // Like cache.read() for each line, in order. Returns the number of sectors that were present and calls miss(line,
    // sectors) for the others.
    template <class Miss>
    std::uint64_t read(L1Cache& cache, std::uint64_t line, const LineList& list, Miss&& miss) {
        Found& found = found_[hash_of_line(line + list.number) >> (64 - log_remembered)];
        const bool known = found.phase == list.phase && found.number == list.number && found.line == line;
        if (known && found.throws_out == cache.throws_out()) {
            for (std::size_t i = 0; i < list.parts.size(); ++i) cache.use(found.at[i]);
            return found.sectors;
        }
        const std::uint64_t before = cache.now();
        unsigned sectors = 0, hits = 0;
        for (std::size_t i = 0; i < list.parts.size(); ++i) {
            const std::uint64_t wanted = line + static_cast<std::uint64_t>(list.parts[i].line);
            const auto part = static_cast<unsigned>(list.parts[i].sectors);
            L1Cache::Place& place = found.at[i];
            const unsigned there =
                known && cache.holds(place, wanted) ? cache.read_at(place, part) : cache.read(wanted, part, place);
            hits += static_cast<unsigned>(std::popcount(there));
            sectors += static_cast<unsigned>(std::popcount(part));
            if (there != part) miss(wanted, part & ~there);
        }
        found.phase = list.phase;
        found.number = list.number;
        found.line = line;
        found.sectors = sectors;
        // A list whose own lines evicted each other is not completely present.
        found.throws_out = cache.last_use_lost() > before ? never : cache.throws_out();
        return hits;
    }

  private:
    static constexpr unsigned log_remembered = 6;
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    struct Found {
        std::uint64_t phase, line;  // no phase has the number 0
        std::uint64_t throws_out;
        std::uint32_t number, sectors;
        L1Cache::Place at[2 * warp_size];
    };
    std::vector<Found> found_ = std::vector<Found>(std::size_t{1} << log_remembered);
};

}  // namespace warpgrade::vgpu
