// What the programs families_*.cu share: kernels of one family solve one problem in several ways. The clock's model is
// judged by them (test_families.py), and nothing in it may be fitted to them.
#pragma once

#include <cmath>
#include <cstring>

#include "../hardware/timing.cuh"

inline const char* selected = "";  // Only kernels with this in their names run.
inline bool wrong = false;

constexpr int launches = REPEATS + 1;  // of each kernel: what atomics add to grows with each

inline unsigned hash(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Between 0 and 1.
inline float random_float(unsigned i) { return static_cast<float>(hash(i) >> 8) / (1 << 24); }

template <class T>
T* to_device(const std::vector<T>& host) {
    T* device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <class T, class Value>
std::vector<T> filled(std::size_t count, Value value) {
    std::vector<T> host(count);
    for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<T>(value(static_cast<unsigned>(i)));
    return host;
}

template <class T>
T* empty_array(std::size_t count) {
    T* device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    return device;
}

// Times what `launch` starts and compares some of the `count` results in `out`, which is `start` or zero at first.
template <class T, class Expected, class Launch>
void measure(const char* what, const char* size, T* out, std::size_t count, Expected expected, Launch launch,
             const T* start = nullptr) {
    if (std::strstr(what, selected) == nullptr) return;
    CHECK(cudaMemset(out, 0, count * sizeof(T)));
    if (start != nullptr) CHECK(cudaMemcpy(out, start, count * sizeof(T), cudaMemcpyDeviceToDevice));
    row(what, size, kernel_ms(launch));
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; i += count / 97 + 1) {
        const double want = static_cast<double>(expected(i)), got = static_cast<double>(host[i]);
        if (std::fabs(got - want) <= 2e-3 * std::fmax(1, std::fabs(want))) continue;
        std::printf("%s: result %zu is %g, not %g\n", what, i, got, want);
        wrong = true;
        return;
    }
}

// All that a thread sums in steps of the whole grid.
#define FOR_GRID(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__device__ inline float warp_sum(float value) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

__device__ inline float warp_max(float value) {
    for (int d = 16; d > 0; d /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, d));
    return value;
}

// The sum over a block of 256, in all of its threads.
__device__ inline float block_sum(float value) {
    __shared__ float sums[8];
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += sums[i];
    return sum;
}
