// The part of site.hpp that every memory instruction executes, inlined into its handler.
#pragma once

#include <array>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vgpu/access/site.hpp"

namespace warpgrade::vgpu {

#if defined(__AVX2__)
// For each mask of four bits, all ones in the 64-bit elements whose bit is set.
alignas(32) inline constexpr auto quad_masks = [] {
    std::array<std::array<std::uint64_t, 4>, 16> table{};
    for (unsigned bits = 0; bits < 16; ++bits)
        for (unsigned i = 0; i < 4; ++i) table[bits][i] = bits >> i & 1 ? ~0ULL : 0;
    return table;
}();

// The same for the low eight lanes of a mask, in 32-bit elements.
inline __m256i lanes_on(std::uint32_t mask) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bits), bits);
}

inline const __m256i* vector_at(const void* p) { return static_cast<const __m256i*>(p); }

// Loads the lanes of an operand, a register or an unaligned constant.
inline __m256i lanes_at(const void* p) { return _mm256_loadu_si256(vector_at(p)); }

inline bool Pattern::matches(const std::uint64_t* registers) const {
    const __m256i first = _mm256_set1_epi64x(static_cast<long long>(registers[leader]));
    __m256i astray = _mm256_setzero_si256();
    const auto compare = [&](unsigned l) {
        const __m256i expected = _mm256_add_epi64(first, _mm256_load_si256(vector_at(address + l)));
        return _mm256_xor_si256(expected, lanes_at(registers + l));
    };
    if (mask == full_mask) {
        for (unsigned l = 0; l < warp_size; l += 4) astray = _mm256_or_si256(astray, compare(l));
    } else {
        for (unsigned l = 0; l < warp_size; l += 4) {
            const __m256i on = _mm256_load_si256(vector_at(quad_masks[mask >> l & 15].data()));
            astray = _mm256_or_si256(astray, _mm256_and_si256(on, compare(l)));
        }
    }
    return _mm256_testz_si256(astray, astray);
}

inline bool Pattern::matches(const std::uint32_t* registers) const {
    const __m256i first = _mm256_set1_epi32(static_cast<int>(registers[leader]));
    __m256i astray = _mm256_setzero_si256();
    const auto compare = [&](unsigned l) {
        const __m256i expected = _mm256_add_epi32(first, _mm256_load_si256(vector_at(near_ + l)));
        return _mm256_xor_si256(expected, lanes_at(registers + l));
    };
    if (mask == full_mask) {
        for (unsigned l = 0; l < warp_size; l += 8) astray = _mm256_or_si256(astray, compare(l));
    } else {
        for (unsigned l = 0; l < warp_size; l += 8)
            astray = _mm256_or_si256(astray, _mm256_and_si256(lanes_on(mask >> l), compare(l)));
    }
    return _mm256_testz_si256(astray, astray);
}
#else
template <class Register>
inline bool same_distances(const Register* registers, const Register* distance, std::uint32_t mask, unsigned leader) {
    Register astray = 0;
    for (unsigned l = 0; l < warp_size; ++l)
        astray |= lane_on(mask, l) ? static_cast<Register>(registers[l] - registers[leader]) ^ distance[l] : 0;
    return astray == 0;
}

inline bool Pattern::matches(const std::uint64_t* registers) const {
    return same_distances(registers, address, mask, leader);
}
inline bool Pattern::matches(const std::uint32_t* registers) const {
    return same_distances(registers, near_, mask, leader);
}
#endif

// Loads one word per lane of a pattern whose words are not apart and whose first lane's bytes are at `first`. Reads
// whole windows.
template <bool Full>
inline void load_windows(std::uint32_t* d, std::byte* first, const Pattern& p) {
    for (unsigned g = 0; g < 4; ++g) {
        const std::byte* window = host_place(first, p.window[g]);
        std::uint32_t* to = d + 8 * std::size_t{g};
#if defined(__AVX2__)
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window));
        const __m256i which =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p.word + 8 * std::size_t{g})));
        __m256i v = _mm256_permutevar8x32_epi32(words, which);
        if constexpr (!Full) {
            const __m256i old = _mm256_load_si256(reinterpret_cast<const __m256i*>(to));
            v = _mm256_blendv_epi8(old, v, lanes_on(p.mask >> (8 * g)));
        }
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), v);
#else
        std::uint32_t words[8];
        std::memcpy(words, window, sizeof words);
        for (unsigned l = 0; l < 8; ++l)
            if (Full || lane_on(p.mask, 8 * g + l)) to[l] = words[p.word[8 * g + l]];
#endif
    }
}

// The same for words that are apart.
template <bool Full>
inline void load_apart(std::uint32_t* d, std::byte* first, const Pattern& p) {
#if defined(__AVX2__)
    if (p.extent < std::uint64_t{1} << 31) {
        for (unsigned g = 0; g < warp_size; g += 8) {
            const __m256i at = _mm256_load_si256(vector_at(p.distances() + g)),
                          on = Full ? _mm256_set1_epi32(-1) : lanes_on(p.mask >> g);
            const __m256i old = _mm256_load_si256(vector_at(d + g));
            _mm256_store_si256(
                reinterpret_cast<__m256i*>(d + g),
                _mm256_mask_i32gather_epi32(Full ? at : old, reinterpret_cast<const int*>(first), at, on, 1));
        }
        return;
    }
#endif
    for (unsigned l = 0; l < warp_size; ++l)
        if (Full || lane_on(p.mask, l)) std::memcpy(d + l, host_place(first, p.address[l]), sizeof *d);
}

inline void load_words(std::uint32_t* d, std::byte* first, const Pattern& p) {
    switch (p.words) {
        case Pattern::Words::Adjacent:
            std::memcpy(d, first, warp_size * sizeof *d);
            break;
        case Pattern::Words::One: {
            std::uint32_t word;
            std::memcpy(&word, first, sizeof word);
            for (unsigned l = 0; l < warp_size; ++l) d[l] = word;
            break;
        }
        case Pattern::Words::Windows:
            p.mask == full_mask ? load_windows<true>(d, first, p) : load_windows<false>(d, first, p);
            break;
        case Pattern::Words::Apart:
            p.mask == full_mask ? load_apart<true>(d, first, p) : load_apart<false>(d, first, p);
            break;
    }
}

}  // namespace warpgrade::vgpu
