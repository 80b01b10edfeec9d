#include "vgpu/ops/float_math.hpp"

#include <cmath>

// Series in double precision, accurate to about 1e-15. Rounding the result to float stays within the error that PTX
// states for the .approx functions (2 ulp for ex2, 2^-22 for lg2, 2^-20.9 absolute for sin and cos).
namespace warpgrade::vgpu {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double ln2 = 0.693147180559945309417232121458;
constexpr double half_pi_high = 1.57079632679489655800, half_pi_low = 6.12323399573676603587e-17;

double sine_series(double x) {  // |x| <= pi/4
    const double s = x * x;
    double term = x, sum = x;
    for (int i = 1; i <= 8; ++i) {
        term *= -s / ((2.0 * i) * (2.0 * i + 1.0));
        sum += term;
    }
    return sum;
}

double cosine_series(double x) {
    const double s = x * x;
    double term = 1, sum = 1;
    for (int i = 1; i <= 8; ++i) {
        term *= -s / ((2.0 * i - 1.0) * (2.0 * i));
        sum += term;
    }
    return sum;
}

double sine_at(double x, int quadrants) {
    if (!(std::fabs(x) < infinity)) return std::numeric_limits<double>::quiet_NaN();
    const double q = std::nearbyint(x / half_pi_high);
    const double r = (x - q * half_pi_high) - q * half_pi_low;
    const int quadrant = static_cast<int>(std::fmod(q, 4.0)) + quadrants + 4;
    const double v = quadrant & 1 ? cosine_series(r) : sine_series(r);
    return quadrant & 2 ? -v : v;
}
}  // namespace

double approx_exp2(double x) {
    if (x != x) return x;
    if (x >= 1100) return infinity;
    if (x <= -1100) return 0;
    const double n = std::nearbyint(x), f = (x - n) * ln2;
    double term = 1, sum = 1;
    for (int i = 1; i <= 14; ++i) {
        term *= f / i;
        sum += term;
    }
    return std::ldexp(sum, static_cast<int>(n));
}

double approx_log2(double x) {
    if (x != x || x < 0) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return -infinity;
    if (x == infinity) return x;
    int exponent = 0;
    double m = std::frexp(x, &exponent);  // [0.5, 1)
    if (m < 0.70710678118654752) {
        m *= 2;
        --exponent;
    }
    const double t = (m - 1) / (m + 1), s = t * t;
    double power = t, sum = 0;
    for (int i = 0; i < 12; ++i) {
        sum += power / (2.0 * i + 1.0);
        power *= s;
    }
    return exponent + 2 * sum / ln2;
}

double approx_sin(double x) { return x == 0 ? x : sine_at(x, 0); }  // the series would lose the sign of -0
double approx_cos(double x) { return sine_at(x, 1); }

double approx_tanh(double x) {
    if (x != x) return x;
    const double e = approx_exp2(-2 * std::fabs(x) / ln2);
    const double v = std::fabs(x) < 1e-4 ? std::fabs(x) : (1 - e) / (1 + e);
    return std::copysign(v, x);
}

}  // namespace warpgrade::vgpu
