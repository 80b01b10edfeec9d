// One instruction whose addresses have another shape in each round: see shapes_test.cpp.
struct alignas(16) Four {
    float x, y, z, w;
};
template <class T>
__device__ float value(const T& v) { return static_cast<float>(v); }
__device__ float value(const Four& v) { return v.x + 2 * v.y + 3 * v.z + 4 * v.w; }

template <class T>
__device__ void load_global(const T* in, const int* at, const unsigned* active, float* out, int rounds) {
    const int lane = threadIdx.x;
    for (int r = 0; r < rounds; ++r) {
        float v = -1;
        if (active[r] >> lane & 1) v = value(in[at[r * 32 + lane]]);
        out[r * 32 + lane] = v;
    }
}
template <class T>
__device__ void store_global(T* to, const int* at, const unsigned* active, int rounds) {
    const int lane = threadIdx.x;
    for (int r = 0; r < rounds; ++r)
        if (active[r] >> lane & 1) to[at[r * 32 + lane]] = static_cast<T>(r * 32 + lane);
}
template <class T>
__device__ void load_shared(const T* in, const int* at, const unsigned* active, float* out, int rounds) {
    __shared__ T s[512];
    const int lane = threadIdx.x;
    for (int i = lane; i < 512; i += 32) s[i] = in[i];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        float v = -1;
        if (active[r] >> lane & 1) v = value(s[at[r * 32 + lane]]);
        out[r * 32 + lane] = v;
    }
}
#define KERNELS(name, T)                                                                                        \
    extern "C" __global__ void load_global_##name(const T* in, const int* at, const unsigned* on, float* out, int n) { \
        load_global(in, at, on, out, n);                                                                        \
    }                                                                                                           \
    extern "C" __global__ void load_shared_##name(const T* in, const int* at, const unsigned* on, float* out, int n) { \
        load_shared(in, at, on, out, n);                                                                        \
    }
KERNELS(bytes, unsigned char)
KERNELS(shorts, short)
KERNELS(floats, float)
KERNELS(doubles, double)
KERNELS(vectors, Four)
extern "C" __global__ void store_global_floats(float* to, const int* at, const unsigned* on, int n) { store_global(to, at, on, n); }
extern "C" __global__ void store_global_bytes(unsigned char* to, const int* at, const unsigned* on, int n) {
    store_global(to, at, on, n);
}

// The same load, through several allocations.
extern "C" __global__ void load_from(const float* const* arrays, const int* which, const int* at, float* out, int rounds) {
    for (int r = 0; r < rounds; ++r) out[r * 32 + threadIdx.x] = arrays[which[r * 32 + threadIdx.x]][at[r * 32 + threadIdx.x]];
}
