// Half precision and bfloat16 by exact conversion to and from float. The integer arithmetic vectorises and gives the
// same bits on every machine.
//
// Operations are done in float or double such that the result, rounded once more to the narrow format, is correctly
// rounded. Either float has more than twice the format's digits (add, and mul of f16), or the wide result is *rounded
// to odd*, which keeps a sticky last bit and makes the second rounding harmless.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "vgpu/ops/float_math.hpp"

namespace warpgrade::vgpu {

inline constexpr std::uint16_t half_nan = 0x7fff;  // the canonical NaN of both formats

// The float next to `exact` with an odd last digit, unless a float is exact.
inline float round_to_odd(double exact) {
    const auto v = static_cast<float>(exact);
    auto bits = std::bit_cast<std::uint32_t>(v);
    const double wide = v;
    const bool inexact = wide != exact && exact == exact && (bits & 1) == 0;
    const bool away = std::fabs(exact) > std::fabs(wide);
    bits += inexact ? (away ? 1u : ~0u) : 0u;
    return std::bit_cast<float>(bits);
}

inline float fma_to_odd(float a, float b, float c) {  // the product is exact: at most 22 digits
    return round_to_odd(add_to_odd(static_cast<double>(a) * b, c));
}

// An integer as float, rounded to odd.
template <class T>
inline float integer_to_odd(T v) {
    const bool negative = v < 0;
    std::uint64_t u = negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    const int excess = 64 - std::countl_zero(u) - 24;
    int shift = 0;
    if (excess > 0) {
        const bool sticky = (u & ((std::uint64_t{1} << excess) - 1)) != 0;
        u = (u >> excess) | (sticky ? 1u : 0u);
        shift = excess;
    }
    const float r = std::ldexp(static_cast<float>(u), shift);
    return negative ? -r : r;
}

// A format with `Exponent` and `Mantissa` bits and a sign; infinities and NaNs as in IEEE 754.
template <unsigned Exponent, unsigned Mantissa>
struct SmallFloat {
    static constexpr unsigned exponent_bits = Exponent, mantissa_bits = Mantissa;
    static constexpr std::uint32_t sign = 1u << (Exponent + Mantissa), infinity = ((1u << Exponent) - 1) << Mantissa,
                                   largest = infinity - 1;
    static constexpr int bias = (1 << (Exponent - 1)) - 1;

    // The bits of |v| in any rounding mode; `negative` is v's sign. IEEE rounding on integers: the mantissa with its
    // hidden one is cut to the result's digits, and a carry runs into the exponent by itself.
    static std::uint32_t round_magnitude(std::uint32_t magnitude, bool negative, Rounding mode) {
        if (magnitude > 0x7f800000u) return (sign - 1);
        if (magnitude == 0x7f800000u) return infinity;
        if (magnitude == 0) return 0;
        const int e = std::max(static_cast<int>(magnitude >> 23), 1) - 127;
        const std::uint64_t m = (magnitude & 0x7fffffu) | (magnitude >> 23 ? 0x800000u : 0u);
        const int lowest = 1 - bias, target = std::max(e, lowest);
        const int drop = std::min(static_cast<int>(23 - Mantissa) + (target - e), 40);
        const std::uint64_t kept = m >> drop, rest = m & ((std::uint64_t{1} << drop) - 1);
        const std::uint64_t half = drop ? std::uint64_t{1} << (drop - 1) : 0;
        bool up = false;
        switch (mode) {
            case Rounding::Nearest:
                up = rest > half || (rest == half && rest != 0 && (kept & 1));
                break;
            case Rounding::Zero:
                break;
            case Rounding::Down:
                up = rest != 0 && negative;
                break;
            case Rounding::Up:
                up = rest != 0 && !negative;
                break;
        }
        const std::uint64_t biased = static_cast<std::uint64_t>(target - lowest)
                                     << Mantissa;  // kept's hidden one makes it target - lowest + 1
        const std::uint64_t bits = biased + kept + (up ? 1 : 0);
        if (bits < infinity) return static_cast<std::uint32_t>(bits);
        const bool to_infinity =
            mode == Rounding::Nearest || (mode == Rounding::Up && !negative) || (mode == Rounding::Down && negative);
        return to_infinity ? infinity : largest;
    }
    static std::uint32_t round(float v, Rounding mode) {
        const auto bits = std::bit_cast<std::uint32_t>(v);
        const bool negative = bits >> 31;
        const std::uint32_t r = round_magnitude(bits & 0x7fffffffu, negative, mode);
        return v == v && negative ? r | sign : r;
    }
    static float widen(std::uint32_t h) {
        const std::uint32_t magnitude = h & (sign - 1);
        float v = 0;
        if (magnitude >= infinity)
            v = std::bit_cast<float>(magnitude == infinity ? 0x7f800000u : canonical_nan_bits);
        else
            v = std::ldexp(static_cast<float>((magnitude & ((1u << Mantissa) - 1)) |
                                              (magnitude >> Mantissa ? 1u << Mantissa : 0u)),
                           std::max(static_cast<int>(magnitude >> Mantissa), 1) - bias - static_cast<int>(Mantissa));
        return (h & sign) && v == v ? -v : v;
    }
};

struct F16 : SmallFloat<5, 10> {
    static constexpr float flushed_below = 0x1p-14f * (1 - 0x1p-12f);
    static constexpr bool product_fits_float = true;  // a product of two is an exact float
    static float to_float(std::uint16_t h) {
        const std::uint32_t magnitude = h & 0x7fffu, negative = (h & 0x8000u) << 16;
        // Scaling by 2^112 adjusts the exponent's bias and normalises subnormals.
        const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
        std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);
        bits = magnitude == 0x7c00u ? 0x7f800000u : bits;
        return std::bit_cast<float>(magnitude > 0x7c00u ? canonical_nan_bits : bits | negative);
    }
    static std::uint16_t from_float(float v) {  // to nearest even
        const auto bits = std::bit_cast<std::uint32_t>(v);
        const std::uint32_t negative = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
        const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
        // Adding 0.5 leaves the subnormal's bits in the sum's last digits; the addition rounds them.
        const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
        std::uint32_t r = magnitude < 0x38800000u ? small : normal;
        r = magnitude >= 0x47800000u ? 0x7c00u : r;
        r |= negative;
        return static_cast<std::uint16_t>(magnitude > 0x7f800000u ? half_nan : r);
    }
};

struct BF16 : SmallFloat<8, 7> {
    static constexpr float flushed_below = 0x1p-126f;  // for bf16, .ftz exists only with ex2
    static constexpr bool product_fits_float = false;  // it may be subnormal
    static float to_float(std::uint16_t h) {
        return canonical(std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16));
    }
    static std::uint16_t from_float(float v) {
        const auto bits = std::bit_cast<std::uint32_t>(v);
        const std::uint32_t r = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
        return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? half_nan : r);
    }
};

template <class Format>
inline std::uint16_t flush_half(std::uint16_t h) {
    return (h & Format::infinity) == 0 ? static_cast<std::uint16_t>(h & Format::sign) : h;
}

template <class Format>
inline std::uint16_t add_halves(std::uint16_t a, std::uint16_t b) {
    return Format::from_float(Format::to_float(a) + Format::to_float(b));
}

// The 8-bit formats of deep learning; conversion clamps to the largest finite number. e5m2 is a truncated f16. e4m3 has
// no infinities and one NaN, so that its highest binade reaches 448.
struct E5M2 : SmallFloat<5, 2> {
    static std::uint32_t round_clamped(float v) {
        const std::uint32_t r = round(v, Rounding::Nearest);
        return v != v ? 0x7fu : (r & 0x7f) > 0x7b ? (r & 0x80) | 0x7b : r;
    }
};
struct E4M3 {
    using Wider = SmallFloat<5, 3>;  // the same codes for 2^-8 of the value
    static std::uint32_t round_clamped(float v) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(std::fabs(v) * 0x1p-8f);
        const std::uint32_t r = Wider::round_magnitude(magnitude, false, Rounding::Nearest);
        return v != v ? 0x7fu : std::min(r, 0x7eu) | (std::signbit(v) ? 0x80u : 0u);
    }
    static float widen(std::uint32_t code) {
        const float v =
            (code & 0x7f) == 0x7f ? std::bit_cast<float>(canonical_nan_bits) : Wider::widen(code & 0x7f) * 0x1p8f;
        return (code & 0x80) && v == v ? -v : v;
    }
};

}  // namespace warpgrade::vgpu
