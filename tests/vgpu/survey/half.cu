// Half-precision arithmetic as courses write it: operators, intrinsics and conversions of cuda_fp16.h and cuda_bf16.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#if __CUDA_ARCH__ >= 800
constexpr bool has_bfloat_fma = true;
#else
constexpr bool has_bfloat_fma = false;
#endif

template <class T, class T2>
__device__ void arithmetic(const T* in, T* out, const T2* in2, T2* out2) {
    constexpr bool is_half = std::is_same_v<T, __half>;  // some functions have no bfloat16 form
    const T a = in[0], b = in[1], c = in[2];
    T* o = out;
    *o++ = __hadd(a, b);
    *o++ = __hsub(a, b);
    *o++ = __hmul(a, b);
    *o++ = __hdiv(a, b);
    *o++ = __hadd_rn(a, b);
    *o++ = __hsub_rn(a, b);
    *o++ = __hmul_rn(a, b);
    *o++ = __hadd_sat(a, b);
    *o++ = __hsub_sat(a, b);
    *o++ = __hmul_sat(a, b);
    if constexpr (is_half || has_bfloat_fma) *o++ = __hfma(a, b, c);
    if constexpr (is_half) {
        *o++ = __hfma_sat(a, b, c);
    }
    *o++ = __hneg(a);
    *o++ = __habs(a);
    *o++ = hsqrt(a);
    *o++ = hrsqrt(a);
    *o++ = hrcp(a);
    *o++ = hexp(a);
    *o++ = hexp2(a);
    *o++ = hexp10(a);
    *o++ = hlog(a);
    *o++ = hlog2(a);
    *o++ = hlog10(a);
    *o++ = hsin(a);
    *o++ = hcos(a);
    *o++ = htanh(a);
    *o++ = hfloor(a);
    *o++ = hceil(a);
    *o++ = htrunc(a);
    *o++ = hrint(a);
    *o++ = __hmax(a, b);
    *o++ = __hmin(a, b);
#if __CUDA_ARCH__ >= 800
    *o++ = __hmax_nan(a, b);
    *o++ = __hmin_nan(a, b);
    *o++ = __hfma_relu(a, b, c);
#endif
    *o++ = a + b * c - a / b;
    *o++ = -a;
    *o++ = T(__heq(a, b) + __hne(a, b) + __hlt(a, b) + __hle(a, b) + __hgt(a, b) + __hge(a, b));
    *o++ = T(__hequ(a, b) + __hneu(a, b) + __hltu(a, b) + __hleu(a, b) + __hgtu(a, b) + __hgeu(a, b));
    *o++ = T(__hisnan(a) + __hisinf(b));

    const T2 x = in2[0], y = in2[1], z = in2[2];
    T2* p = out2;
    *p++ = __hadd2(x, y);
    *p++ = __hsub2(x, y);
    *p++ = __hmul2(x, y);
    *p++ = __h2div(x, y);
    *p++ = __hadd2_sat(x, y);
    *p++ = __hsub2_sat(x, y);
    *p++ = __hmul2_sat(x, y);
    if constexpr (is_half || has_bfloat_fma) *p++ = __hfma2(x, y, z);
    if constexpr (is_half) *p++ = __hfma2_sat(x, y, z);
    *p++ = __hneg2(x);
    *p++ = __habs2(x);
    *p++ = h2sqrt(x);
    *p++ = h2rsqrt(x);
    *p++ = h2rcp(x);
    *p++ = h2exp(x);
    *p++ = h2exp2(x);
    *p++ = h2exp10(x);
    *p++ = h2log(x);
    *p++ = h2log2(x);
    *p++ = h2sin(x);
    *p++ = h2cos(x);
    *p++ = h2tanh(x);
    *p++ = h2floor(x);
    *p++ = h2ceil(x);
    *p++ = h2trunc(x);
    *p++ = h2rint(x);
    *p++ = __hmax2(x, y);
    *p++ = __hmin2(x, y);
#if __CUDA_ARCH__ >= 800
    *p++ = __hmax2_nan(x, y);
    *p++ = __hmin2_nan(x, y);
    *p++ = __hfma2_relu(x, y, z);
#endif
    if constexpr (is_half) *p++ = __hcmadd(x, y, z);
    *p++ = __heq2(x, y);
    *p++ = __hlt2(x, y);
    *p++ = __hgeu2(x, y);
    *p++ = __hisnan2(x);
    unsigned masks = __heq2_mask(x, y) + __hneu2_mask(x, y) + __hlt2_mask(x, y);
    *p++ = __hbeq2(x, y) || __hbltu2(x, y) ? x : y;
    *reinterpret_cast<unsigned*>(p++) = masks;
}

__global__ void halves(const __half* in, __half* out, const __half2* in2, __half2* out2) {
    arithmetic(in, out, in2, out2);
}
__global__ void bfloats(const __nv_bfloat16* in, __nv_bfloat16* out, const __nv_bfloat162* in2, __nv_bfloat162* out2) {
    arithmetic(in, out, in2, out2);
}

__global__ void half_conversions(const __half* in, __half* out, float* f, double* d, int* i, long long* l,
                                 unsigned short* s) {
    const __half a = in[0];
    *f++ = __half2float(a);
    *d++ = double(__half2float(a));
    *i++ = __half2int_rn(a);
    *i++ = __half2int_rz(a);
    *i++ = __half2int_rd(a);
    *i++ = __half2int_ru(a);
    *i++ = int(__half2uint_rn(a));
    *i++ = int(__half2uint_rz(a));
    *l++ = __half2ll_rn(a);
    *l++ = __half2ll_rz(a);
    *l++ = (long long)__half2ull_rn(a);
    *s++ = (unsigned short)__half2short_rn(a);
    *s++ = __half2ushort_rz(a);
    *s++ = (unsigned short)__half_as_short(a);
    *i++ = int((signed char)(a)) + int((unsigned char)(a)) + bool(a);
    *out++ = __float2half(*f);
    *out++ = __float2half_rn(*f);
    *out++ = __float2half_rz(*f);
    *out++ = __float2half_rd(*f);
    *out++ = __float2half_ru(*f);
    *out++ = __double2half(*d);
    *out++ = __int2half_rn(*i);
    *out++ = __int2half_rz(*i);
    *out++ = __int2half_rd(*i);
    *out++ = __int2half_ru(*i);
    *out++ = __uint2half_rn(*i);
    *out++ = __ll2half_rn(*l);
    *out++ = __ull2half_rn(*l);
    *out++ = __short2half_rn(*s);
    *out++ = __ushort2half_rn(*s);
    const __half2 pair = __floats2half2_rn(f[0], f[1]);
    *out++ = __low2half(pair);
    *out++ = __high2half(pair);
    const float2 back = __half22float2(pair);
    *f++ = back.x + back.y;
    *out++ = __ldg(in);
    *out++ = __ldcg(in + 1);
    __stcs(out, a);
    *reinterpret_cast<__half2*>(out + 2) = __lowhigh2highlow(__halves2half2(a, in[3]));
}

__global__ void bfloat_conversions(const __nv_bfloat16* in, __nv_bfloat16* out, float* f, double* d, int* i,
                                   long long* l, unsigned short* s) {
    const __nv_bfloat16 a = in[0];
    *f++ = __bfloat162float(a);
    *i++ = __bfloat162int_rn(a);
    *i++ = __bfloat162int_rz(a);
    *i++ = int(__bfloat162uint_rz(a));
    *l++ = __bfloat162ll_rn(a);
    *l++ = (long long)__bfloat162ull_rz(a);
    *s++ = (unsigned short)__bfloat162short_rn(a);
    *s++ = __bfloat162ushort_rz(a);
    *out++ = __float2bfloat16(*f);
    *out++ = __float2bfloat16_rz(*f);
    *out++ = __float2bfloat16_rd(*f);
    *out++ = __float2bfloat16_ru(*f);
    *out++ = __double2bfloat16(*d);
    *out++ = __int2bfloat16_rn(*i);
    *out++ = __int2bfloat16_rz(*i);
    *out++ = __uint2bfloat16_rn(*i);
    *out++ = __ll2bfloat16_rn(*l);
    *out++ = __ull2bfloat16_rn(*l);
    *out++ = __short2bfloat16_rn(*s);
    *out++ = __ushort2bfloat16_rn(*s);
    const __nv_bfloat162 pair = __floats2bfloat162_rn(f[0], f[1]);
    const float2 back = __bfloat1622float2(pair);
    *f++ = back.x + back.y;
    *reinterpret_cast<__nv_bfloat162*>(out) = pair;
}

__global__ void half_atomics(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2, __half value) {
    __half old = atomicAdd(h, value);
    __half2 old2 = atomicAdd(h2, __half2half2(value));
    __nv_bfloat16 oldb = atomicAdd(b, __float2bfloat16(1.0f));
    __nv_bfloat162 oldb2 = atomicAdd(b2, __float2bfloat162_rn(1.0f));
    h[1] = old;
    h2[1] = old2;
    b[1] = oldb;
    b2[1] = oldb2;
    atomicAdd(h + 4, value);
    atomicAdd(h2 + 4, old2);
}

__global__ void half_shuffles(__half* h, __half2* h2) {
    h[threadIdx.x] = __hadd(h[threadIdx.x], __shfl_down_sync(0xffffffffu, h[threadIdx.x], 4));
    h2[threadIdx.x] = __hadd2(h2[threadIdx.x], __shfl_xor_sync(0xffffffffu, h2[threadIdx.x], 1));
}
