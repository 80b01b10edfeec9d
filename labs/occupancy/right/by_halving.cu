// RIGHT: attributes asked one by one, registers found by halving, rounding in double; blocks of one dimension, sums in double, int2 in constant memory
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>
#include "check.cuh"
#include "occupancy.h"
struct Sm {
    const int* d;
    int operator[](DeviceLimit i) const { return d[i]; }
    int warps() const { return d[THREADS_PER_SM] / WARP_SIZE; }
};
double thread_occupancy(const int* device, int t) {
    const Sm sm{device};
    if (t < 1 || t > sm[THREADS_PER_BLOCK]) return 0.0;
    int blocks = 0;
    while (blocks < sm[BLOCKS_PER_SM] && (blocks + 1) * t <= sm[THREADS_PER_SM]) ++blocks;
    return 1.0 * blocks * t / sm[THREADS_PER_SM];
}
double register_occupancy(const int* device, int t, int r) {
    const Sm sm{device};
    const long long per = 1LL * t * r;
    const int w = (t + 31) / 32;
    return double(std::min<long long>(sm.warps(), sm[REGISTERS_PER_SM] / per * w)) / sm.warps();
}
int resident_blocks(const int* device, int t, int r, int s) {
    const Sm sm{device};
    if (t < 1 || t > sm[THREADS_PER_BLOCK] || s < 0 || s > sm[SHARED_BYTES_PER_BLOCK]) return 0;
    const int w = int(std::ceil(t / 32.0)), unit = sm[REGISTER_UNIT], parts = sm[SUB_PARTITIONS];
    const int per_warp = int(std::ceil(32.0 * r / unit)) * unit;
    const int padded = int(std::ceil(double(w) / parts)) * parts;
    if (padded * per_warp > sm[REGISTERS_PER_BLOCK]) return 0;
    const int bytes = (s + sm[RESERVED_SHARED_BYTES] + sm[SHARED_UNIT_BYTES] - 1) & ~(sm[SHARED_UNIT_BYTES] - 1);
    const std::array<int, 4> limits{sm.warps() / w, sm[BLOCKS_PER_SM],
                                    sm[REGISTERS_PER_SM] / parts / per_warp * parts / w,
                                    bytes ? sm[SHARED_BYTES_PER_SM] / bytes : sm[BLOCKS_PER_SM]};
    return *std::min_element(limits.begin(), limits.end());
}
void query_limits(int* d) {
    const auto ask = [](cudaDeviceAttr a) {
        int v, dev;
        CHECK(cudaGetDevice(&dev));
        CHECK(cudaDeviceGetAttribute(&v, a, dev));
        return v;
    };
    const std::vector<int> all{
        ask(cudaDevAttrMaxThreadsPerBlock),
        ask(cudaDevAttrMaxThreadsPerMultiProcessor),
        ask(cudaDevAttrMaxBlocksPerMultiprocessor),
        ask(cudaDevAttrMaxRegistersPerBlock),
        ask(cudaDevAttrMaxRegistersPerMultiprocessor),
        ask(cudaDevAttrComputeCapabilityMajor) == 6 && ask(cudaDevAttrComputeCapabilityMinor) == 0 ? 2 : 4,
        256,
        ask(cudaDevAttrMaxSharedMemoryPerBlockOptin),
        ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
        ask(cudaDevAttrReservedSharedMemoryPerBlock),
        ask(cudaDevAttrComputeCapabilityMajor) >= 8 ? 128 : 256};
    std::copy(all.begin(), all.end(), d);
}
int best_block(const int* device, int r, int s) {
    int best = 0, warps = 0;
    for (int t = device[THREADS_PER_BLOCK] / 32 * 32; t >= 32; t -= 32)
        if (const int w = resident_blocks(device, t, r, s) * t / 32; w >= warps && w) best = t, warps = w;
    return best;
}
int most_registers(const int* device, int t, int blocks) {
    int low = 0, high = 255;  // by halving
    while (low < high) {
        const int mid = (low + high + 1) / 2;
        if (resident_blocks(device, t, mid, 0) >= blocks)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}
int power_of_four(int t) {
    int bits = 31 - __builtin_clz(t);
    return 1 << (bits & ~1);
}
int requiredSM(int t) { return t * 2 * sizeof(float); }
__constant__ int2 tile;  // width, and its square
extern __shared__ float2 pairs[];

__global__ void product(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int k, int n) {
    float* const a = reinterpret_cast<float*>(pairs);
    float* const b = a + tile.y;
    const int w = tile.x, x = threadIdx.x % w, y = threadIdx.x / w;
    const int column = blockIdx.x * w + x, row = blockIdx.y * w + y;
    double sum = 0;
    for (int f = 0; f < k; f += w) {
        a[threadIdx.x] = A[row * k + f + x];
        b[threadIdx.x] = B[(f + y) * n + column];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < w; ++i) sum += a[y * w + i] * b[i * w + x];
        __syncthreads();
    }
    C[row * n + column] = float(sum);
}
struct Free {
    void operator()(float* p) const { CHECK(cudaFree(p)); }
};
static std::unique_ptr<float, Free> array(size_t n) {
    float* p;
    CHECK(cudaMalloc(&p, n * sizeof(float)));
    return std::unique_ptr<float, Free>(p);
}
void matmul_dynamic(const float* A, const float* B, float* C, int m, int k, int n, int width) {
    if (m < 1 || k < 1 || n < 1 || width < 1 || width > MAX_WIDTH || __builtin_popcount(width) != 1) return;
    auto a = array(size_t(m) * k), b = array(size_t(k) * n), c = array(size_t(m) * n);
    CHECK(cudaMemcpy(a.get(), A, sizeof(float) * m * k, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b.get(), B, sizeof(float) * k * n, cudaMemcpyHostToDevice));
    const int2 t{width, width * width};
    CHECK(cudaMemcpyToSymbol(tile, &t, sizeof t));
    product<<<dim3(n / width, m / width), width * width, requiredSM(width * width)>>>(a.get(), b.get(), c.get(), k, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(C, c.get(), sizeof(float) * m * n, cudaMemcpyDeviceToHost));
}
int my_registers() { return 32; }
int my_blocks(int w) {
    int d[DEVICE_LIMITS];
    query_limits(d);
    return resident_blocks(d, w * w, my_registers(), requiredSM(w * w));
}
int api_blocks(int w) {
    int b;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, product, w * w, requiredSM(w * w)));
    return b;
}
int chosen_width(int most) {
    int grid, block;
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, product, [](int t) { return size_t(requiredSM(t)); }, most));
    return int(std::lround(std::sqrt(power_of_four(block))));
}
int matmul_best(const float* A, const float* B, float* C, int m, int k, int n) {
    const int w = chosen_width(1024);
    matmul_dynamic(A, B, C, m, k, n, w);
    return w;
}
