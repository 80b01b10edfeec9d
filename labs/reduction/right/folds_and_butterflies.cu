// RIGHT: versions 3 and 4 fold the block, the last element to the first; a thread of version 4 takes elements half an
// array apart; every warp of block_sum adds up the sums of all, by __shfl_xor_sync; divergent_warps asks __any_sync and
// __all_sync of a part of the warp
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "reduction.h"

#include <algorithm>
#include <climits>

static bool is_power_of_two(int value, int least, int most) {
    return value >= least && value <= most && (value & (value - 1)) == 0;
}

// A kernel that reduces the n elements of x to one sum a block, sums[blockIdx.x].
using Kernel = void (*)(const float* x, float* sums, int n);

// The sum of x: launches `kernel` on the array, then on the sums of its blocks, until one number is left. A block has
// block_size threads, as many floats of dynamic shared memory, and takes `per_block` elements; there are as many blocks
// as that needs, but no more than `most_blocks`.
static float sum_with(Kernel kernel, const float* x, int n, int block_size, int per_block, int most_blocks = INT_MAX) {
    if (n <= 0 || !is_power_of_two(block_size, 32, 1024)) return 0.0f;
    float *from, *to;
    CHECK(cudaMalloc(&from, n * sizeof(float)));
    CHECK(cudaMalloc(&to, n * sizeof(float)));
    CHECK(cudaMemcpy(from, x, n * sizeof(float), cudaMemcpyHostToDevice));
    do {
        const int blocks = std::min((n - 1) / per_block + 1, most_blocks);
        kernel<<<blocks, block_size, block_size * sizeof(float)>>>(from, to, n);
        CHECK(cudaGetLastError());
        std::swap(from, to);  // the sums are the next launch's input
        n = blocks;
    } while (n > 1);
    float sum;
    CHECK(cudaMemcpy(&sum, from, sizeof sum, cudaMemcpyDeviceToHost));  // waits for the kernels
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return sum;
}

// 1. Given: a tree in shared memory. Element 0 gets element 1, then elements 2 and 3, and so on. The threads that add
// are spread over the whole block, so that nearly every warp is divergent.

__global__ void divergent_kernel(const float* x, float* sums, int n) {
    extern __shared__ float s[];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;  // zero adds nothing
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();  // the elements of the step before are complete
        if (t % (2 * stride) == 0) s[t] += s[t + stride];
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

float reduce_divergent(const float* x, int n, int block_size) {
    return sum_with(divergent_kernel, x, n, block_size, block_size);
}

// 2. The same additions by the first threads of the block: whole warps add, or have nothing to do.

__global__ void strided_kernel(const float* x, float* sums, int n) {
    extern __shared__ float s[];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        const int e = 2 * stride * t;
        if (e < blockDim.x) s[e] += s[e + stride];
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

float reduce_strided(const float* x, int n, int block_size) {
    return sum_with(strided_kernel, x, n, block_size, block_size);
}

// 3. The other way round: the second half is added to the first, then the second quarter to the first. Neighbouring
// threads touch neighbouring elements in every step.

__global__ void sequential_kernel(const float* x, float* sums, int n) {
    extern __shared__ float s[];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) s[t] += s[2 * stride - 1 - t];
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

float reduce_sequential(const float* x, int n, int block_size) {
    return sum_with(sequential_kernel, x, n, block_size, block_size);
}

// 4. In the first step of version 3 half of the threads are idle already. Let every thread add once while it loads.

__global__ void first_add_kernel(const float* x, float* sums, int n) {
    extern __shared__ float s[];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    const int half = gridDim.x * blockDim.x;
    float sum = i < n ? x[i] : 0.0f;
    if (i + half < n) sum += x[i + half];
    s[t] = sum;
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) s[t] += s[2 * stride - 1 - t];
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

float reduce_first_add(const float* x, int n, int block_size) {
    return sum_with(first_add_kernel, x, n, block_size, 2 * block_size);
}

// 5. The threads of a warp hand each other their sums directly. That needs no barrier, and no shared memory.

#define WHOLE_WARP 0xffffffffu  // all lanes, as the mask of shuffles and votes

// The sum of `value` over the threads of a block of whole warps, in thread 0.

__device__ float block_sum(float value) {
    __shared__ float warp_sums[32];
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (int bit = 1; bit < 32; bit <<= 1) value += __shfl_xor_sync(WHOLE_WARP, value, bit);
    if (lane == 31) warp_sums[threadIdx.x >> 5] = value;
    __syncthreads();
    value = lane < warps ? warp_sums[lane] : 0.0f;
    for (int bit = 16; bit > 0; bit >>= 1) value += __shfl_xor_sync(WHOLE_WARP, value, bit);
    return value;
}

__global__ void shuffle_kernel(const float* x, float* sums, int n) {
    const int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    if (i + blockDim.x < n) sum += x[i + blockDim.x];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

float reduce_shuffle(const float* x, int n, int block_size) {
    return sum_with(shuffle_kernel, x, n, block_size, 2 * block_size);
}

// 6. As many blocks as the device can hold, and no more: each thread adds up many elements before the block's sum is
// formed once. Four floats come with one access.

__global__ void grid_stride_kernel(const float* x, float* sums, int n) {
    const int threads = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float sum = 0.0f;
    for (int i = first; i < n / 4; i += threads) {
        const float4 v = x4[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    const int tail = n / 4 * 4 + first;
    if (tail < n) sum += x[tail];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

float reduce_grid_stride(const float* x, int n, int block_size) {
    int multiprocessors, threads;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    const int most_blocks = std::max(multiprocessors * (threads / std::max(block_size, 1)), 1);
    return sum_with(grid_stride_kernel, x, n, block_size, 4 * block_size, most_blocks);
}

// The divergent warps of one step, counted by votes.

__global__ void divergent_warps_kernel(int version, int warp_size, int stride, int* count) {
    const unsigned t = threadIdx.x;
    bool adds;
    switch (version) {
        case 1:
            adds = (t & (2 * stride - 1)) == 0;
            break;
        case 2:
            adds = t < blockDim.x / (2 * stride);
            break;
        default:
            adds = t < stride;
    }
    const unsigned base = t & 31 & ~(warp_size - 1);
    const unsigned mask = (unsigned)((1ull << warp_size) - 1) << base;
    const bool any = __any_sync(mask, adds), all = __all_sync(mask, adds);
    const unsigned divergent = __reduce_add_sync(WHOLE_WARP, any && !all && (t & 31) == base ? 1u : 0u);
    if ((t & 31) == 0) atomicAdd(count, (int)divergent);
}

int divergent_warps(int version, int block_size, int warp_size, int stride) {
    if (version < 1 || version > 3 || !is_power_of_two(block_size, 32, 1024) || !is_power_of_two(warp_size, 2, 32) ||
        !is_power_of_two(stride, 1, block_size / 2))
        return 0;
    int count = 0;
    int* d_count;
    CHECK(cudaMalloc(&d_count, sizeof count));
    CHECK(cudaMemset(d_count, 0, sizeof count));
    divergent_warps_kernel<<<1, block_size>>>(version, warp_size, stride, d_count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_count));
    return count;
}
