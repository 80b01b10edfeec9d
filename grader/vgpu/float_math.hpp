// Floating point as PTX defines it: canonical NaN for f32, flush-to-zero forms, rounding modes, and the approximate
// functions computed in double precision by our own series, so that every machine gives the same bits.
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
