#include "vgpu/access/lines.hpp"

#include <bit>
#include <iterator>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpgrade::vgpu {

inline void LineParts::merge(std::int64_t line, unsigned sectors) {
    if (count_ > 0 && parts_[count_ - 1].line == line) {
        parts_[count_ - 1].sectors |= sectors;
        return;
    }
    unsigned place = hash_of_line(static_cast<std::uint64_t>(line)) >> (64 - log_places);
    for (; places_[place] != nowhere; place = (place + 1) % std::size(places_))
        if (LinePart& known = parts_[places_[place]]; known.line == line) {
            known.sectors |= sectors;
            return;
        }
    places_[place] = static_cast<std::uint8_t>(count_);
    parts_[count_++] = {line, sectors};
}

template <bool Alone>
inline void LineParts::add(std::uint64_t first, std::uint64_t last) {
    for (std::int64_t line = line_of(first); line <= line_of(last); ++line) {
        const unsigned low = line == line_of(first) ? first % line_bytes / sector_bytes : 0;
        const unsigned high = line == line_of(last) ? last % line_bytes / sector_bytes : 3;
        const unsigned sectors = ((2u << high) - 1) & ~((1u << low) - 1) & 15u;
        if constexpr (Alone)
            parts_[count_++] = {line, sectors};
        else
            merge(line, sectors);
    }
}

void LineParts::add_groups(const Access& x, std::uint64_t base, unsigned bytes) {
    std::memset(places_, nowhere, std::size_t{1} << log_places);
    for (unsigned g = 0; g < warp_size; g += 8) {
        const std::uint64_t* a = x.address + g;
        if (x.group[g / 8] != Access::Kind::Other)
            add(base + a[0], base + a[7] + bytes - 1);
        else  // an aligned access of up to 16 bytes is in one sector
            for (unsigned l = 0; l < 8; ++l)
                merge(line_of(base + a[l]), 1u << (base + a[l]) % line_bytes / sector_bytes);
    }
}

// Lanes whose lines are probably all different. Each writes its number to its line's place, the first one last: a lane
// that then finds its own number there has a line that no lane before it has.
void LineParts::add_lanes(const Access& x, std::uint64_t base) {
    alignas(32) std::uint64_t place[warp_size];
    alignas(32) std::uint8_t first[warp_size];
    constexpr std::uint32_t factor = 0x9E3779B1u;
#if defined(__AVX2__)
    const __m256i to_base = _mm256_set1_epi64x(static_cast<long long>(base)), zero = _mm256_setzero_si256();
    for (unsigned l = 0; l < warp_size; l += 4) {
        const __m256i a = _mm256_add_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(x.address + l)), to_base);
        const __m256i line = _mm256_srli_epi64(a, 7), sector = _mm256_srli_epi64(_mm256_slli_epi64(a, 57), 62);
        const __m256i sign = _mm256_slli_epi64(_mm256_srli_epi64(_mm256_cmpgt_epi64(zero, a), 61), 57);
        const __m256i part =
            _mm256_or_si256(_mm256_sllv_epi64(_mm256_set1_epi64x(1LL << 60), sector), _mm256_or_si256(line, sign));
        _mm256_store_si256(reinterpret_cast<__m256i*>(parts_ + l), part);
        const __m256i hash = _mm256_mul_epu32(line, _mm256_set1_epi64x(factor));
        _mm256_store_si256(reinterpret_cast<__m256i*>(place + l),
                           _mm256_srli_epi64(_mm256_slli_epi64(hash, 32), 64 - log_places_of_lanes));
    }
#else
    for (unsigned l = 0; l < warp_size; ++l) {
        const std::uint64_t a = base + x.address[l];
        parts_[l] = {line_of(a), 1u << a % line_bytes / sector_bytes};
        place[l] = static_cast<std::uint32_t>(line_of(a)) * factor >> (32 - log_places_of_lanes);
    }
#endif
#pragma GCC unroll 32
    for (unsigned l = warp_size; l-- > 0;) places_[place[l]] = static_cast<std::uint8_t>(l);
#pragma GCC unroll 32
    for (unsigned l = 0; l < warp_size; ++l) first[l] = places_[place[l]];
    std::uint32_t again = 0;
#if defined(__AVX2__)
    const __m256i numbers = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                             21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    const __m256i own = _mm256_cmpeq_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(first)), numbers);
    again = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(own));
#else
    for (unsigned l = 0; l < warp_size; ++l) again |= std::uint32_t{first[l] != l} << l;
#endif
    count_ = warp_size;
    one_sector_each_ = again == 0;
    if (again != 0) merge_lanes(again, first);
}

// These lanes have the lines of lanes before them, or share no more than the place: then that of `first`.
void LineParts::merge_lanes(std::uint32_t lanes, const std::uint8_t* first) {
    std::uint32_t kept = full_mask;
    for_active(lanes, [&](unsigned l) {
        unsigned other = first[l];
        if (parts_[other].line != parts_[l].line) {
            std::uint32_t others = lanes & kept & ((1u << l) - 1);
            while (others != 0 && parts_[std::countr_zero(others)].line != parts_[l].line) others &= others - 1;
            if (others == 0) return;
            other = static_cast<unsigned>(std::countr_zero(others));
        }
        parts_[other].sectors |= parts_[l].sectors;
        kept &= ~(1u << l);
    });
    count_ = 0;
    for_active(kept, [&](unsigned l) { parts_[count_++] = parts_[l]; });
}

LineParts::LineParts(const Access& x, std::uint64_t base, unsigned bytes) {
    constexpr Access::Kind other = Access::Kind::Other;
    if (x.kind != other)
        add<true>(base + x.address[0], base + x.address[warp_size - 1] + bytes - 1);
    else if (x.group[0] == other && x.group[1] == other && x.group[2] == other && x.group[3] == other)
        add_lanes(x, base);
    else
        add_groups(x, base, bytes);
}

}  // namespace warpgrade::vgpu
