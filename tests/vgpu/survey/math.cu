// The functions of math.h and their fast and correctly rounded relatives, in float and double.
#define ONE(name) *out++ = name(x);
#define TWO(name) *out++ = name(x, y);
#define BOTH(T, s)                                                                                                    \
    __device__ void functions(T x, T y, T z, T* out, int* whole) {                                                    \
        ONE(sin##s) ONE(cos##s) ONE(tan##s) ONE(asin##s) ONE(acos##s) ONE(atan##s) TWO(atan2##s)                     \
        ONE(sinh##s) ONE(cosh##s) ONE(tanh##s) ONE(asinh##s) ONE(acosh##s) ONE(atanh##s)                             \
        ONE(exp##s) ONE(exp2##s) ONE(exp10##s) ONE(expm1##s) ONE(log##s) ONE(log2##s) ONE(log10##s) ONE(log1p##s)    \
        ONE(logb##s) TWO(pow##s) ONE(sqrt##s) ONE(rsqrt##s) ONE(cbrt##s) ONE(rcbrt##s) TWO(hypot##s) TWO(rhypot##s)  \
        ONE(erf##s) ONE(erfc##s) ONE(erfinv##s) ONE(erfcinv##s) ONE(erfcx##s) ONE(normcdf##s) ONE(normcdfinv##s)     \
        ONE(tgamma##s) ONE(lgamma##s) ONE(j0##s) ONE(j1##s) ONE(y0##s) ONE(y1##s)                                    \
        ONE(cyl_bessel_i0##s) ONE(cyl_bessel_i1##s) *out++ = jn##s(3, x); *out++ = yn##s(2, x);                      \
        ONE(sinpi##s) ONE(cospi##s) ONE(floor##s) ONE(ceil##s) ONE(trunc##s) ONE(round##s) ONE(rint##s)              \
        ONE(nearbyint##s) ONE(fabs##s) TWO(fmod##s) TWO(remainder##s) TWO(fmin##s) TWO(fmax##s) TWO(fdim##s)         \
        TWO(copysign##s) TWO(nextafter##s) *out++ = fma##s(x, y, z); *out++ = norm3d##s(x, y, z);                    \
        *out++ = rnorm3d##s(x, y, z); *out++ = norm4d##s(x, y, z, x); *out++ = norm##s(3, out - 8);                  \
        *out++ = ldexp##s(x, 3); *out++ = scalbn##s(x, -3); *out++ = scalbln##s(x, 5l); *out++ = ilogb##s(x);        \
        T a, b; sincos##s(x, &a, &b); *out++ = a + b; sincospi##s(x, &a, &b); *out++ = a + b;                        \
        *out++ = modf##s(x, &a) + a; int e; *out++ = frexp##s(x, &e) + e; *out++ = remquo##s(x, y, &e) + e;          \
        *whole++ = lround##s(x); *whole++ = lrint##s(x); *whole++ = int(llround##s(x) + llrint##s(x));               \
        *whole++ = isnan(x) + isinf(x) + isfinite(x) + signbit(x);                                                   \
    }
BOTH(float, f)
BOTH(double, )

__global__ void math_float(const float* in, float* out, int* whole) { functions(in[0], in[1], in[2], out, whole); }
__global__ void math_double(const double* in, double* out, int* whole) { functions(in[0], in[1], in[2], out, whole); }

__global__ void fast(const float* in, float* out) {
    const float x = in[0], y = in[1];
    ONE(__sinf) ONE(__cosf) ONE(__tanf) ONE(__expf) ONE(__exp10f) ONE(__logf) ONE(__log2f) ONE(__log10f)
    TWO(__powf) TWO(__fdividef) ONE(__saturatef) ONE(__frsqrt_rn)
    float s, c;
    __sincosf(x, &s, &c);
    *out++ = s + c;
}

#define MODES(name, ...) *out++ = name##_rn(__VA_ARGS__); *out++ = name##_rz(__VA_ARGS__); \
    *out++ = name##_ru(__VA_ARGS__); *out++ = name##_rd(__VA_ARGS__);
__global__ void rounded(const float* in, float* out, const double* in2, double* out2) {
    {
        const float x = in[0], y = in[1], z = in[2];
        MODES(__fadd, x, y) MODES(__fsub, x, y) MODES(__fmul, x, y) MODES(__fdiv, x, y) MODES(__fmaf, x, y, z)
        MODES(__fsqrt, x) MODES(__frcp, x) MODES(__fmaf_ieee, x, y, z)
    }
    const double x = in2[0], y = in2[1], z = in2[2];
    auto*& o = out2;
    double* out_ = o;
    {
        double* out = out_;
        MODES(__dadd, x, y) MODES(__dsub, x, y) MODES(__dmul, x, y) MODES(__ddiv, x, y) MODES(__fma, x, y, z)
        MODES(__dsqrt, x) MODES(__drcp, x)
    }
}

__global__ void float_conversions(const float* in, const double* in2, float* f, double* d, int* out, long long* l,
                                  unsigned long long* u) {
    const float x = in[0];
    const double y = in2[0];
    MODES(__float2int, x) MODES(__double2int, y)
    MODES(__float2uint, x) MODES(__double2uint, y)
    { auto* out = l; MODES(__float2ll, x) MODES(__double2ll, y) l = out; }
    { auto* out = u; MODES(__float2ull, x) MODES(__double2ull, y) u = out; }
    const int i = out[0];
    const unsigned w = out[1];
    const long long ll = l[0];
    const unsigned long long ull = u[0];
    {
        auto* out = f;
        MODES(__int2float, i) MODES(__uint2float, w) MODES(__ll2float, ll) MODES(__ull2float, ull)
        MODES(__double2float, y)
        *out++ = __int_as_float(i);
        *out++ = __uint_as_float(w);
    }
    {
        auto* out = d;
        MODES(__ll2double, ll) MODES(__ull2double, ull)
        *out++ = __int2double_rn(i);
        *out++ = __uint2double_rn(w);
        *out++ = __hiloint2double(i, int(w));
        *out++ = __longlong_as_double(ll);
    }
    *out++ = __double2hiint(y) + __double2loint(y) + __float_as_int(x);
    l[9] = __double_as_longlong(y);
    // Narrow integers and booleans.
    reinterpret_cast<signed char*>(out)[64] = (signed char)x;
    reinterpret_cast<unsigned char*>(out)[65] = (unsigned char)y;
    reinterpret_cast<short*>(out)[40] = (short)x;
    reinterpret_cast<unsigned short*>(out)[41] = (unsigned short)y;
    f[60] = float(reinterpret_cast<signed char*>(out)[66]) + reinterpret_cast<unsigned char*>(out)[67];
    d[60] = double(reinterpret_cast<short*>(out)[42]) + reinterpret_cast<unsigned short*>(out)[43];
}
