#include "vgpu/access/access.hpp"

#include <algorithm>
#include <limits>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpgrade::vgpu {

void Access::collect(const std::uint64_t* registers, std::int64_t offset, std::uint32_t active, unsigned bytes) {
    mask = active;
    for (unsigned l = 0; l < warp_size; ++l) address[l] = registers[l] + static_cast<std::uint64_t>(offset);
    recognise(bytes);
}

void Access::collect(const std::uint32_t* registers, std::int64_t offset, std::uint32_t active, unsigned bytes) {
    mask = active;
    for (unsigned l = 0; l < warp_size; ++l) address[l] = registers[l] + static_cast<std::uint32_t>(offset);
    recognise(bytes);
}

void Access::recognise(unsigned bytes) {
    if (mask != full_mask) fill_inactive();
    const std::uint64_t first = address[0];
#if defined(__AVX2__)
    const __m256i base = _mm256_set1_epi64x(static_cast<long long>(first));
    const auto step = static_cast<long long>(bytes);
    const __m256i four_lanes = _mm256_set1_epi64x(4 * step);
    __m256i expected = _mm256_add_epi64(base, _mm256_setr_epi64x(0, step, 2 * step, 3 * step));
    __m256i apart = _mm256_setzero_si256(), astray = apart;
    for (unsigned l = 0; l < warp_size; l += 4) {
        const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(address + l));
        apart = _mm256_or_si256(apart, _mm256_xor_si256(a, base));
        astray = _mm256_or_si256(astray, _mm256_xor_si256(a, expected));
        expected = _mm256_add_epi64(expected, four_lanes);
    }
    const bool uniform = _mm256_testz_si256(apart, apart), contiguous = _mm256_testz_si256(astray, astray);
#else
    std::uint64_t apart = 0, astray = 0;
    for (unsigned l = 0; l < warp_size; ++l) {
        apart |= address[l] ^ first;
        astray |= address[l] ^ (first + std::uint64_t{l} * bytes);
    }
    const bool uniform = apart == 0, contiguous = astray == 0;
#endif
    if (contiguous) return set(Kind::Contiguous, first, address[warp_size - 1], bytes);
    if (uniform) return set(Kind::Uniform, first, first, bytes);
    classify_groups(bytes);
}

void Access::fill_inactive() {
    std::uint64_t last = address[std::countr_zero(mask)];
    for (unsigned l = 0; l < warp_size; ++l) {
        if (lane_on(mask, l)) last = address[l];
        address[l] = last;
    }
}

namespace {

// The shape of the addresses of eight lanes.
#if defined(__AVX2__)
Access::Kind group_kind(const std::uint64_t* a, unsigned bytes) {
    const auto step = static_cast<long long>(bytes);
    const __m256i base = _mm256_set1_epi64x(static_cast<long long>(a[0]));
    const __m256i low = _mm256_sub_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(a)), base);
    const __m256i high = _mm256_sub_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(a + 4)), base);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any)) return Access::Kind::Uniform;
    const __m256i wrong =
        _mm256_or_si256(_mm256_xor_si256(low, _mm256_setr_epi64x(0, step, 2 * step, 3 * step)),
                        _mm256_xor_si256(high, _mm256_setr_epi64x(4 * step, 5 * step, 6 * step, 7 * step)));
    return _mm256_testz_si256(wrong, wrong) ? Access::Kind::Contiguous : Access::Kind::Other;
}
#else
Access::Kind group_kind(const std::uint64_t* a, unsigned bytes) {
    std::uint64_t not_uniform = 0, not_contiguous = 0;
    for (unsigned l = 0; l < 8; ++l) {
        const std::uint64_t distance = a[l] - a[0];
        not_uniform |= distance;
        not_contiguous |= distance ^ (std::uint64_t{l} * bytes);
    }
    return not_uniform == 0 ? Access::Kind::Uniform
           : not_contiguous == 0 ? Access::Kind::Contiguous
                                 : Access::Kind::Other;
}
#endif

struct Bounds {
    std::uint64_t low, high, any;  // any: the bits that are set in any address
    void include(std::uint64_t a) {
        low = std::min(low, a);
        high = std::max(high, a);
        any |= a;
    }
};

// Of 32 addresses.
Bounds bounds_of(const std::uint64_t* address) {
    Bounds bounds{address[0], address[0], 0};
#if defined(__AVX2__)
    const __m256i sign =
        _mm256_set1_epi64x(std::numeric_limits<long long>::min());  // comparisons are of signed numbers
    const auto four = [&](unsigned l) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(address + l)); };
    __m256i low = _mm256_xor_si256(four(0), sign), high = low, any = four(0);
    for (unsigned l = 4; l < warp_size; l += 4) {
        const __m256i a = four(l), compared = _mm256_xor_si256(a, sign);
        any = _mm256_or_si256(any, a);
        low = _mm256_blendv_epi8(low, compared, _mm256_cmpgt_epi64(low, compared));
        high = _mm256_blendv_epi8(high, compared, _mm256_cmpgt_epi64(compared, high));
    }
    alignas(32) std::uint64_t ends[8], bits[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(ends), _mm256_xor_si256(low, sign));
    _mm256_store_si256(reinterpret_cast<__m256i*>(ends + 4), _mm256_xor_si256(high, sign));
    _mm256_store_si256(reinterpret_cast<__m256i*>(bits), any);
    for (const std::uint64_t a : ends) bounds.include(a);
    bounds.any = bits[0] | bits[1] | bits[2] | bits[3];
#else
    for (unsigned l = 0; l < warp_size; ++l) bounds.include(address[l]);
#endif
    return bounds;
}

}  // namespace

void Access::classify_groups(unsigned bytes) {
    kind = Kind::Other;
    bool shaped = true;
    for (unsigned g = 0; g < 4; ++g) {
        const std::uint64_t* a = address + std::size_t{8} * g;
        const std::uint64_t step = a[1] - a[0];  // tells of most groups that they have no shape
        group[g] = step == 0 || step == bytes ? group_kind(a, bytes) : Kind::Other;
        shaped &= group[g] != Kind::Other;
    }
    Bounds bounds{address[0], address[0], 0};
    if (shaped) {  // the ends of each group give its bounds
        for (unsigned g = 0; g < 4; ++g) {
            bounds.include(address[8 * g]);
            bounds.include(address[8 * g + 7]);
        }
    } else {
        bounds = bounds_of(address);
    }
    low = bounds.low;
    high = bounds.high;
    misaligned = bounds.any & (bytes - 1);
}

std::uint32_t Access::sectors_of_groups() const {
    std::uint64_t first[4], last[4];
    std::uint32_t total = 0;
    for (unsigned g = 0; g < 4; ++g) {
        first[g] = address[8 * g] / sector_bytes;
        last[g] = address[8 * g + 7] / sector_bytes;
        for (std::uint64_t s = first[g]; s <= last[g]; ++s) {
            bool seen = false;
            for (unsigned h = 0; h < g; ++h) seen |= s >= first[h] && s <= last[h];
            total += !seen;
        }
    }
    return total;
}

std::uint32_t Access::distinct(std::uint64_t unit_bytes) const {
    std::uint64_t s[warp_size];
    for (unsigned l = 0; l < warp_size; ++l) s[l] = address[l] / unit_bytes;
    std::sort(s, s + warp_size);
    return static_cast<std::uint32_t>(std::unique(s, s + warp_size) - s);
}

namespace {

// True if all active lanes in [first, last) that are `apart` lanes from each other ask for the same address.
bool lanes_agree(const Access& x, unsigned first, unsigned last, unsigned apart) {
    for (unsigned l = first; l < last; ++l)
        if (lane_on(x.mask, l) && lane_on(x.mask, l ^ apart) && x.address[l] != x.address[l ^ apart]) return false;
    return true;
}

// The largest number of distinct words that one bank has to deliver to the active lanes in [first, last).
std::uint32_t worst_bank(const Access& x, unsigned first, unsigned last, unsigned words_per_lane) {
    constexpr std::uint8_t none = 255;
    std::uint8_t head[bank_count], next[128];
    std::uint64_t word_of[128];
    std::uint32_t length[bank_count] = {};
    std::fill(std::begin(head), std::end(head), none);
    unsigned used = 0;
    std::uint32_t worst = 0;
    for (unsigned l = first; l < last; ++l) {
        if (!lane_on(x.mask, l)) continue;
        for (unsigned i = 0; i < words_per_lane; ++i) {
            const std::uint64_t word = x.address[l] / bank_bytes + i;
            const unsigned bank = word % bank_count;
            std::uint8_t at = head[bank];
            while (at != none && word_of[at] != word) at = next[at];
            if (at != none) continue;
            word_of[used] = word;
            next[used] = head[bank];
            head[bank] = static_cast<std::uint8_t>(used++);
            worst = std::max(worst, ++length[bank]);
        }
    }
    return worst;
}

// Recognises common conflict-free shapes without a loop over lanes: every group of eight lanes accesses one word or
// eight adjacent words, and two groups share a bank only if they are equal.
bool conflict_free_by_groups(const Access& x) {
    std::uint32_t banks = 0, shape[4];
    for (unsigned g = 0; g < 4; ++g) {
        if (x.group[g] == Access::Kind::Other) return false;
        const std::uint64_t word = x.address[8 * g] / bank_bytes;
        const auto lanes = x.group[g] == Access::Kind::Uniform ? 1u : 0xffu;
        shape[g] = std::rotl(lanes, static_cast<int>(word % bank_count));
        if (banks & shape[g]) {
            bool same = false;
            for (unsigned h = 0; h < g; ++h) same |= shape[h] == shape[g] && x.address[8 * h] / bank_bytes == word;
            if (!same) return false;
        }
        banks |= shape[g];
    }
    return true;
}

// True if one bank has more than `most` lanes, whether or not they want the same word.
bool more_lanes_in_a_bank(const Access& x, unsigned most) {
#if defined(__AVX2__)
    // Four bits for each bank, of 16 banks in one element, and of the lanes at this place of their vectors.
    __m256i low = _mm256_setzero_si256(), high = low;
    const __m256i one = _mm256_set1_epi64x(1), banks = _mm256_set1_epi64x((bank_count - 1) * bank_bytes);
    for (unsigned l = 0; l < warp_size; l += 4) {
        const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(x.address + l));
        const __m256i by = _mm256_and_si256(a, banks);
        low = _mm256_add_epi64(low, _mm256_sllv_epi64(one, by));  // by 64 and more, also by less than 0, gives 0
        high = _mm256_add_epi64(high, _mm256_sllv_epi64(one, _mm256_sub_epi64(by, _mm256_set1_epi64x(64))));
    }
    const __m256i nibbles = _mm256_set1_epi8(15);
    const auto even = [&](__m256i v) { return _mm256_and_si256(v, nibbles); };
    const auto odd = [&](__m256i v) { return _mm256_and_si256(_mm256_srli_epi64(v, 4), nibbles); };
    const auto halves = [](__m256i v, __m256i w) {  // the sums of both halves of each
        return _mm256_add_epi8(_mm256_permute2x128_si256(v, w, 0x20), _mm256_permute2x128_si256(v, w, 0x31));
    };
    const __m256i evens = halves(even(low), even(high)), odds = halves(odd(low), odd(high));
    const __m256i lanes = _mm256_add_epi8(_mm256_unpacklo_epi64(evens, odds), _mm256_unpackhi_epi64(evens, odds));
    return _mm256_movemask_epi8(_mm256_cmpgt_epi8(lanes, _mm256_set1_epi8(static_cast<char>(most)))) != 0;
#else
    std::uint8_t lanes[bank_count] = {};
    for (const std::uint64_t a : x.address) ++lanes[a / bank_bytes % bank_count];
    return *std::max_element(std::begin(lanes), std::end(lanes)) > most;
#endif
}

}  // namespace

bool Access::fills_sectors(unsigned bytes) const {
    if (kind == Kind::Contiguous) return mask == full_mask;
    constexpr unsigned lanes = warp_size / 4;
    if (lanes * bytes < sector_bytes) return false;
    bool fills = mask != 0;
    for (unsigned g = 0; g < 4; ++g) {
        const std::uint32_t active = mask >> g * lanes & 0xffu;
        fills &= active == 0 || (active == 0xff && group[g] == Kind::Contiguous);
    }
    return fills;
}

Access::Wavefronts Access::wavefronts(unsigned bytes) const {
    if (bytes <= bank_bytes) {
        if (kind != Kind::Other || (bytes == bank_bytes && conflict_free_by_groups(*this))) return {1, 1};
        return {worst_bank(*this, 0, warp_size, 1), 1};
    }
    // As Nsight Compute counts on sm_90: 64-bit accesses are done for half a warp at a time, 128-bit ones for a
    // quarter, and for twice as many lanes where these ask for the same in pairs.
    const unsigned words = bytes / bank_bytes, most_lanes = words > 2 ? warp_size / 2 : warp_size;
    const auto active = static_cast<std::uint32_t>(std::popcount(mask));
    Wavefronts result{0, (active * words + bank_count - 1) / bank_count};
    for (unsigned first = 0; first < warp_size; first += most_lanes) {
        const unsigned last = first + most_lanes, middle = first + most_lanes / 2;
        if (lanes_agree(*this, first, last, 1) || lanes_agree(*this, first, last, 2))
            result.total += worst_bank(*this, first, last, words);
        else
            result.total += worst_bank(*this, first, middle, words) + worst_bank(*this, middle, last, words);
    }
    result.ideal = std::min(result.ideal, result.total);
    return result;
}

std::uint32_t Access::l1_cycles(unsigned bytes, std::size_t lines) const {
    const std::uint32_t parts = std::max(bytes / bank_bytes, 1u);  // of the warp, one after the other
    const std::uint32_t looked_up = std::max(static_cast<std::uint32_t>(3 * lines + 5) / 10, parts);
    if (kind != Kind::Other) return looked_up;
    if (parts == 1) {
        // Lanes that share a word are rare where banks decide nothing.
        if (!more_lanes_in_a_bank(*this, looked_up)) return looked_up;
    }
    return std::max(looked_up, wavefronts(bytes).total);
}

}  // namespace warpgrade::vgpu
