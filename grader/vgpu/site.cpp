#include "vgpu/site.hpp"

#include <algorithm>
#include <array>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpgrade::vgpu {

void Pattern::learn(const Access& access, unsigned bytes_of_lane) {
    static_cast<Access&>(*this) = access;
    bytes = bytes_of_lane;
    leader = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t first = access.address[leader];
    for (unsigned l = 0; l < warp_size; ++l) address[l] -= first;
    for (unsigned l = 0; l < warp_size; ++l) near_[l] = static_cast<std::uint32_t>(address[l]);
    low -= first;
    high -= first;
    std::fill(std::begin(sectors_by_phase_), std::end(sectors_by_phase_), std::uint8_t{0});
    wavefronts_ = {0, 0};
    local_sectors_ = 0;
    find_windows();
}

void Pattern::find_windows() {
    windowed = bytes == bank_bytes;
    reach = low;
    if (!windowed) return;
    for (unsigned g = 0; g < 4; ++g) {
        const std::uint64_t* a = address + 8 * std::size_t{g};
        const auto begin =
            *std::min_element(a, a + 8, [&](std::uint64_t x, std::uint64_t y) { return x - low < y - low; });
        window[g] = begin;
        reach = std::max(reach - low, begin - low + sector_bytes) + low;
        for (unsigned l = 0; l < 8; ++l) {
            const std::uint64_t distance = a[l] - begin;
            windowed &= distance < sector_bytes;  // whole words: the access is aligned
            word[8 * g + l] = static_cast<std::uint8_t>(distance / bank_bytes % 8);
        }
    }
}

bool Pattern::is(const Access& access, unsigned bytes_of_lane) const {
    if (mask != access.mask || bytes != bytes_of_lane) return false;
    const std::uint64_t first = access.address[leader];
    std::uint64_t wrong = 0;
    for (unsigned l = 0; l < warp_size; ++l) wrong |= (access.address[l] - first) ^ address[l];
    return wrong == 0;
}

Access Pattern::at(std::uint64_t first) const {
    Access moved = static_cast<const Access&>(*this);
    for (std::uint64_t& a : moved.address) a += first;
    moved.low += first;
    moved.high += first;
    return moved;
}

#if defined(__AVX2__)
namespace {

// All ones in the 64-bit elements whose bit is set.
alignas(32) constexpr auto quad_masks = [] {
    std::array<std::array<std::uint64_t, 4>, 16> table{};
    for (unsigned bits = 0; bits < 16; ++bits)
        for (unsigned i = 0; i < 4; ++i) table[bits][i] = bits >> i & 1 ? ~0ULL : 0;
    return table;
}();

// The same for the low eight lanes of a mask, in 32-bit elements.
__m256i lanes_on(std::uint32_t mask) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bits), bits);
}

const __m256i* vector_at(const void* p) { return static_cast<const __m256i*>(p); }

}  // namespace

bool Pattern::matches(const std::uint64_t* registers) const {
    const __m256i first = _mm256_set1_epi64x(static_cast<long long>(registers[leader]));
    __m256i astray = _mm256_setzero_si256();
    const auto compare = [&](unsigned l) {
        const __m256i expected = _mm256_add_epi64(first, _mm256_load_si256(vector_at(address + l)));
        return _mm256_xor_si256(expected, _mm256_load_si256(vector_at(registers + l)));
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

bool Pattern::matches(const std::uint32_t* registers) const {
    const __m256i first = _mm256_set1_epi32(static_cast<int>(registers[leader]));
    __m256i astray = _mm256_setzero_si256();
    const auto compare = [&](unsigned l) {
        const __m256i expected = _mm256_add_epi32(first, _mm256_load_si256(vector_at(near_ + l)));
        return _mm256_xor_si256(expected, _mm256_load_si256(vector_at(registers + l)));
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
namespace {

template <class Register>
bool same_distances(const Register* registers, const Register* distance, std::uint32_t mask, unsigned leader) {
    Register astray = 0;
    for (unsigned l = 0; l < warp_size; ++l)
        astray |= lane_on(mask, l) ? static_cast<Register>(registers[l] - registers[leader]) ^ distance[l] : 0;
    return astray == 0;
}

}  // namespace

bool Pattern::matches(const std::uint64_t* registers) const { return same_distances(registers, address, mask, leader); }
bool Pattern::matches(const std::uint32_t* registers) const { return same_distances(registers, near_, mask, leader); }
#endif

void load_words(std::uint32_t* d, std::byte* first, const Pattern& p) {
    for (unsigned g = 0; g < 4; ++g) {
        const std::byte* window = host_place(first, p.window[g]);
        std::uint32_t* to = d + 8 * std::size_t{g};
#if defined(__AVX2__)
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window));
        const __m256i which =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p.word + 8 * std::size_t{g})));
        __m256i v = _mm256_permutevar8x32_epi32(words, which);
        if (p.mask != full_mask) {
            const __m256i old = _mm256_load_si256(reinterpret_cast<const __m256i*>(to));
            v = _mm256_blendv_epi8(old, v, lanes_on(p.mask >> (8 * g)));
        }
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), v);
#else
        std::uint32_t words[8];
        std::memcpy(words, window, sizeof words);
        for (unsigned l = 0; l < 8; ++l)
            if (lane_on(p.mask, 8 * g + l)) to[l] = words[p.word[8 * g + l]];
#endif
    }
}

std::uint32_t Pattern::local_sectors_anywhere() {
    if (local_sectors_ == 0) local_sectors_ = local_sectors(*this, bytes);
    return local_sectors_;
}

Pattern* PatternPool::find(const Access& access, unsigned bytes) {
    if (!patterns_) patterns_ = std::make_unique<Pattern[]>(capacity);
    const std::uint64_t first = access.address[std::countr_zero(access.mask)];
    std::uint32_t hash = access.mask * 0x9E3779B1u + bytes;
    for (unsigned l = 0; l < warp_size; ++l)
        hash += static_cast<std::uint32_t>(access.address[l] - first) * (0x85EBCA77u * (2 * l + 1));
    Pattern& p = patterns_[(hash * 0xC2B2AE3Du >> 16) % capacity];
    if (!p.is(access, bytes)) p.learn(access, bytes);
    return &p;
}

std::uint32_t local_sectors(const Access& x, unsigned bytes) {
    std::uint32_t total = 0;
    for (unsigned i = 0; i < (bytes + 3) / 4; ++i) {
        Access rows_of_words;
        std::uint64_t physical[warp_size];
        for (unsigned l = 0; l < warp_size; ++l) physical[l] = ((x.address[l] / 4 + i) * warp_size + l) * 4;
        rows_of_words.collect(physical, 0, x.mask, 4);
        total += rows_of_words.sectors(4);
    }
    return total;
}

}  // namespace warpgrade::vgpu
