// Vector types, cache operators, complex numbers, constant and local memory, structures by value, warp functions.
#include <cuComplex.h>
#include <assert.h>
#include <stdio.h>

template <class T>
__device__ void cached(const T* in, T* out) {
    *out++ = __ldg(in++);
    *out++ = __ldca(in++);
    *out++ = __ldcg(in++);
    *out++ = __ldcs(in++);
    *out++ = __ldlu(in++);
    *out++ = __ldcv(in++);
    __stwb(out++, *in);
    __stcg(out++, *in);
    __stcs(out++, *in);
    __stwt(out++, *in);
}
#define CACHED(name, T) __global__ void cached_##name(const T* in, T* out) { cached(in, out); }
CACHED(char, char) CACHED(uchar, unsigned char) CACHED(short, short) CACHED(int, int) CACHED(uint2, uint2)
CACHED(long, long long) CACHED(float, float) CACHED(double, double) CACHED(float2, float2) CACHED(float4, float4)
CACHED(int4, int4) CACHED(char4, char4) CACHED(uchar4, uchar4) CACHED(short2, short2) CACHED(ushort4, ushort4)
CACHED(double2, double2) CACHED(longlong2, longlong2) CACHED(char2, char2)

template <class T>
__global__ void copy(const T* in, T* out) { out[threadIdx.x] = in[threadIdx.x]; }
template __global__ void copy(const float3*, float3*);
template __global__ void copy(const char3*, char3*);
template __global__ void copy(const float4*, float4*);
template __global__ void copy(const uchar4*, uchar4*);
template __global__ void copy(const double4_16a*, double4_16a*);
template __global__ void copy(const double4_32a*, double4_32a*);
template __global__ void copy(const ulonglong4_32a*, ulonglong4_32a*);
template __global__ void copy(const short4*, short4*);
template __global__ void copy(const __int128*, __int128*);
template __global__ void copy(const bool*, bool*);

__global__ void complex_numbers(const cuFloatComplex* a, cuFloatComplex* out, const cuDoubleComplex* b,
                                cuDoubleComplex* out2) {
    out[0] = cuCmulf(a[0], a[1]);
    out[1] = cuCdivf(a[0], a[1]);
    out[2] = cuCfmaf(a[0], a[1], cuConjf(a[2]));
    out[3].x = cuCabsf(a[0]);
    out2[0] = cuCmul(b[0], b[1]);
    out2[1] = cuCdiv(b[0], b[1]);
    out2[2].x = cuCabs(b[0]);
}

struct Large { float values[40]; int n; char tag; };
__constant__ float weights[64];
__constant__ Large settings;
__device__ int counter;
__device__ double table[16] = {1, 2, 3};
__device__ __noinline__ Large modify(Large l, int i) {
    l.values[i] += weights[i];
    return l;
}
__global__ void structures(const __grid_constant__ Large l, float* out, int i, char c, short s, bool b, double d) {
    const Large m = modify(l, i);
    out[0] = m.values[i] + settings.values[i] + float(table[i]) + c + s + b + float(d);
    out[1] = l.values[i];
    atomicAdd(&counter, 1);
}
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
using Function = float (*)(float);
__device__ float square(float x) { return x * x; }
__device__ float twice(float x) { return 2 * x; }
__device__ Function functions[] = {square, twice};
struct Shape { __device__ virtual float area() const { return 0; } };
struct Square : Shape { float side; __device__ explicit Square(float s) : side(s) {} __device__ float area() const override { return side * side; } };
__global__ void calls(float* out, int i) {
    int local[32];
    for (int k = 0; k < 32; ++k) local[k] = k * i;
    out[0] = functions[i & 1](out[1]) + fibonacci(i) + local[i & 31];
    Shape* shape = i & 1 ? new Shape : new Square(2);
    out[2] = shape->area();
    delete shape;
    void* p = malloc(16);
    free(p);
    memset(local, 0, i);
    memcpy(local, out, i);
    out[3] = float(local[0]);
    printf("%d %f %s\n", i, out[0], "text");
    assert(i < 100);
    switch (i) {
        case 0: out[4] = 1; break;
        case 1: out[5] = 7; break;
        case 2: out[6] = 9; break;
        case 3: out[7] = 2; break;
        case 4: out[8] = 3; break;
        case 5: out[9] = 3; break;
    }
    if (i == 77) __trap();
    if (i == 78) __brkpt();
    __nanosleep(100);
}
__global__ void warps(int* out, float* f, double* d, unsigned long long* l) {
    const unsigned all = 0xffffffffu;
    int v = out[threadIdx.x];
    v += __shfl_sync(all, v, 3) + __shfl_up_sync(all, v, 1, 16) + __shfl_down_sync(all, v, 2, 8) + __shfl_xor_sync(all, v, 4);
    v += __all_sync(all, v) + __any_sync(all, v) + __uni_sync(all, v) + int(__ballot_sync(all, v));
    int same;
    v += int(__match_any_sync(all, v)) + int(__match_all_sync(all, v, &same)) + same + int(__match_any_sync(all, l[0]));
    v += int(__activemask()) + __syncthreads_count(v) + __syncthreads_and(v) + __syncthreads_or(v);
#if __CUDA_ARCH__ >= 800
    v += __reduce_add_sync(all, v) + __reduce_max_sync(all, v) + int(__reduce_min_sync(all, unsigned(v)));
    v += int(__reduce_and_sync(all, unsigned(v)) + __reduce_or_sync(all, unsigned(v)) + __reduce_xor_sync(all, unsigned(v)));
#endif
    __syncwarp();
    f[0] = __shfl_sync(all, f[1], 2);
    d[0] = __shfl_xor_sync(all, d[1], 2);
    l[0] = __shfl_down_sync(all, l[1], 2);
    out[threadIdx.x] = v + int(clock()) + int(clock64()) + int(__isGlobal(out)) + __isShared(out) + __isConstant(out) +
                       __isLocal(out) + int(__cvta_generic_to_global(out)) + warpSize;
    __shared__ volatile int flag;
    flag = v;
    *const_cast<volatile int*>(out) = flag;
    __builtin_assume(v > 0);
    asm volatile("bar.sync 1, 64;");
    asm volatile("bar.arrive 2, 64;");
}
