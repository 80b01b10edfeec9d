// Floating point as PTX defines it: canonical NaN for f32, flush-to-zero forms, rounding modes, and approximate
// functions. Those are computed in double precision by our own series, so that every machine gives the same bits.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace warpgrade::vgpu {

inline constexpr std::uint32_t canonical_nan_bits = 0x7fffffff;

inline float canonical(float v) { return v == v ? v : std::bit_cast<float>(canonical_nan_bits); }
inline double canonical(double v) { return v == v ? v : std::bit_cast<double>(std::uint64_t{0x7fffffffffffffff}); }

// f64 keeps NaNs: the first operand that is one, in the given order, made quiet; the negative default if none is.
inline double quiet(double v) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) | (std::uint64_t{1} << 51));
}
inline double first_nan() { return std::bit_cast<double>(std::uint64_t{0xfff8000000000000}); }
template <class... T>
inline double first_nan(double v, T... others) {
    const double rest = first_nan(others...);
    return v == v ? rest : quiet(v);
}
template <class... T>
inline double first_nan_if(double result, T... operands) {
    const double nan = first_nan(operands...);
    return result == result ? result : nan;
}

// Subnormals become zero of the same sign.
inline float flush(float v) {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : v;
}
inline double flush(double v) { return v; }  // .ftz exists for f32 only

template <class T>
inline T saturate(T v) {  // to [0, 1]; NaN gives +0
    return v > T(0) ? (v < T(1) ? v : T(1)) : T(0);
}

// a + b in double, rounded to odd: for sums that are rounded again.
inline double add_to_odd(double a, double b) {
    const double sum = a + b, back = sum - a, error = (a - (sum - back)) + (b - back);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    const bool inexact = error != 0 && std::fabs(sum) < std::numeric_limits<double>::infinity() && (bits & 1) == 0;
    bits += inexact ? ((error > 0) == (sum > 0) ? std::uint64_t{1} : ~std::uint64_t{0}) : 0;
    return std::bit_cast<double>(bits);
}

enum class Rounding : std::uint8_t { Nearest, Zero, Down, Up };

class RoundingScope {
  public:
    explicit RoundingScope(Rounding mode) : saved_(std::fegetround()) {
        constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
        std::fesetround(modes[static_cast<int>(mode)]);
    }
    ~RoundingScope() { std::fesetround(saved_); }
    RoundingScope(const RoundingScope&) = delete;
    RoundingScope& operator=(const RoundingScope&) = delete;

  private:
    int saved_;
};

// Keeps the compiler from moving or folding a floating-point operation across a change of the rounding mode.
template <class T>
inline T opaque(T v) {
#if defined(__x86_64__)
    asm volatile("" : "+x"(v));
#else
    asm volatile("" : "+w"(v));
#endif
    return v;
}

double approx_exp2(double x);
double approx_log2(double x);
double approx_sin(double x);
double approx_cos(double x);
double approx_tanh(double x);

}  // namespace warpgrade::vgpu
