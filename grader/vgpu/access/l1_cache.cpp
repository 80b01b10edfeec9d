#include "vgpu/access/l1_cache.hpp"

namespace warpgrade::vgpu {
namespace {

// What a list's lines are compared with, and in which sets.
struct Wanted {
    std::uint64_t set[L1Cache::most_lines];
    std::uint64_t key[L1Cache::most_lines];
};

}  // namespace

LineRequest* L1Cache::read_all(std::span<const LinePart> parts, LineRequest instruction, LineRequest* to,
                               std::uint64_t& hits) {
    constexpr std::uint64_t name_bits = (std::uint64_t{1} << sectors_at) - 1;
    const std::uint64_t block = block_ << line_bits;
    const auto rest = std::bit_cast<std::uint64_t>(instruction);
    alignas(32) Wanted wanted;
    std::size_t i = 0;
#if defined(__AVX2__)
    const auto all = [](std::uint64_t word) { return _mm256_set1_epi64x(static_cast<long long>(word)); };
    const __m256i low = all(hash_of_line(1)), high = all(hash_of_line(1) >> 32), count = all(sets_.size());
    for (; i + 4 <= parts.size(); i += 4) {
        const __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(parts.data() + i));
        const __m256i line = _mm256_and_si256(part, all(name_bits));
        // index_of(), of which only the upper half of the hash counts.
        const __m256i upper =
            _mm256_add_epi64(_mm256_mul_epu32(line, high), _mm256_mul_epu32(_mm256_srli_epi64(line, 32), low));
        const __m256i hash = _mm256_add_epi64(_mm256_srli_epi64(_mm256_mul_epu32(line, low), 32), upper);
        const __m256i set = _mm256_srli_epi64(_mm256_mul_epu32(hash, count), 32);
        _mm256_store_si256(reinterpret_cast<__m256i*>(wanted.set + i), set);
        _mm256_store_si256(reinterpret_cast<__m256i*>(wanted.key + i), _mm256_or_si256(part, all(block)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_or_si256(part, all(rest)));
    }
#endif
    for (; i < parts.size(); ++i) {
        const auto part = std::bit_cast<std::uint64_t>(parts[i]);
        wanted.set[i] = index_of(part & name_bits);
        wanted.key[i] = part | block;
        to[i] = std::bit_cast<LineRequest>(part | rest);
    }

    std::uint64_t now = now_, kept = ~std::uint64_t{0};  // kept: the requests, one bit each
    Set* const sets = sets_.data();
    for (i = 0; i < parts.size(); ++i) {
        const std::uint64_t key = wanted.key[i];
        Set& set = sets[wanted.set[i]];
        now += tick;
        if (const unsigned known = set.ways_with(key)) {
            const auto way = static_cast<std::size_t>(std::countr_zero(known));
            const std::uint64_t there = set.key[way] & key & ~name_bits;
            set.key[way] |= key;
            set.used[way] = now | way * Set::way_bytes;
            hits += count_sectors(there);
            to[i] = std::bit_cast<LineRequest>(std::bit_cast<std::uint64_t>(to[i]) ^ there);
            kept ^= std::uint64_t{(key ^ there) >> sectors_at == 0} << i;
        } else {
            const std::size_t way = Set::way_of(set.least_used());
            set.key[way / Set::way_bytes] = key;
            set.used[way / Set::way_bytes] = now | way;
        }
    }
    now_ = now;
    ++throws_out_;  // it may have
    if (kept == ~std::uint64_t{0}) return to + parts.size();
    LineRequest* end = to + std::countr_one(kept);
    for (auto next = static_cast<std::size_t>(end - to) + 1; next < parts.size(); ++next) {
        *end = to[next];
        end += kept >> next & 1;
    }
    return end;
}

}  // namespace warpgrade::vgpu
