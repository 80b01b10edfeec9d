// Arithmetic of the matrix instructions, for one tile of eight columns.
//
// f16, bf16 and tf32 follow what is known of an H100 (Fasi et al. 2021; Khattak and Mikaitis 2025; Xie et al. 2025).
// The products of one instruction and the accumulator are added as if at once: products are exact; each term is cut
// (toward zero) to 25 binary places below the largest term's exponent; the remaining sum is exact, and is cut to f32 or
// rounded to nearest for f16. A term's exponent is that of its operands (the sum of both, for a product), not that of
// the product's normalised value. Subnormals have the exponent of the smallest normal number; zeros do not count.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vgpu/ops/float_math.hpp"

namespace warpgrade::vgpu {

inline constexpr unsigned tile_columns = 8;

// A number as the adder sees it.
struct Term {
    float value;
    std::int32_t exponent;
};

// Below the exponent of any nonzero product: a zero does not decide where the other terms are cut.
inline constexpr int zero_exponent = -400;

// `smallest` is the exponent of the format's smallest normal number.
inline Term term(float v, int smallest) {
    const auto magnitude = std::bit_cast<std::uint32_t>(v) & 0x7fffffffu;
    const int exponent = magnitude == 0 ? zero_exponent : std::max(static_cast<int>(magnitude >> 23) - 127, smallest);
    return {v, exponent};
}

inline double power_of_two(int exponent) {  // of a normal double
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Adds Σ a[k]·b[k][column] to c for eight columns. `stride` is the distance between two k in the `values` and
// `exponents` of b.
struct FusedSum {
    static constexpr int places = 25;

    static void run(const Term* a, const float* values, const std::int32_t* exponents, unsigned stride, unsigned k,
                    double* c, const std::int32_t* c_exponents) {
        std::int32_t top[tile_columns];
        double scale[tile_columns], sum[tile_columns];
        for (unsigned j = 0; j < tile_columns; ++j) top[j] = c_exponents[j];
        for (unsigned i = 0; i < k; ++i)
            for (unsigned j = 0; j < tile_columns; ++j)
                top[j] = std::max(top[j], a[i].exponent + exponents[i * stride + j]);
        for (unsigned j = 0; j < tile_columns; ++j) {
            scale[j] = power_of_two(places - top[j]);
            sum[j] = 0.0 + std::trunc(c[j] * scale[j]);
        }
        for (unsigned i = 0; i < k; ++i) {
            const double factor = a[i].value;
            for (unsigned j = 0; j < tile_columns; ++j)
                sum[j] += std::trunc(factor * values[i * stride + j] * scale[j]);
        }
        for (unsigned j = 0; j < tile_columns; ++j) c[j] = sum[j] * power_of_two(top[j] - places);
    }
};

// Converts to float, toward zero, but to infinity from 2^128 on.
inline float truncate_to_float(double v) {
    const auto f = static_cast<float>(v);
    const bool above = std::fabs(static_cast<double>(f)) > std::fabs(v) && std::fabs(v) < 0x1p128;
    return canonical(above ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) - 1) : f);
}

}  // namespace warpgrade::vgpu
