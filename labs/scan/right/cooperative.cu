// RIGHT: scan is one cooperative launch of 16 blocks, which add up their parts, wait for each other, and scan them
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "scan.h"

#include <cooperative_groups.h>
#define WHOLE_WARP 0xffffffffu  // all 32 lanes, as the mask of votes and shuffles

static bool is_width(int width) { return width >= 1 && width <= 32 && (width & (width - 1)) == 0; }

// Blocks of BLOCK_SIZE threads, one thread for each of n elements.
static int blocks_for(int n) { return (n - 1) / BLOCK_SIZE + 1; }

// Copies x to the device, calls launch(d_x, d_out), and copies the results back to out: n of them, or one for each
// `elements` elements.
template <class Launch>
static void on_device(const int* x, int* out, int n, Launch launch, int elements = 1) {
    if (n <= 0) return;
    const int results = (n - 1) / elements + 1;
    int *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, results * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice));
    launch(d_x, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, results * sizeof(int), cudaMemcpyDeviceToHost));  // waits for the kernels
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}

// 1. Votes. All 32 lanes take part: a thread beyond the end of the array votes in a way that changes nothing.

__global__ void vote_all_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool all = __all_sync(WHOLE_WARP, i >= n || x[i] != 0);
    if (i < n) out[i] = all;
}

void vote_all(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_all_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

__global__ void vote_any_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool any = __any_sync(WHOLE_WARP, i < n && x[i] != 0);
    if (i < n) out[i] = any;
}

void vote_any(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_any_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

__global__ void vote_rank_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned votes = __ballot_sync(WHOLE_WARP, i < n && x[i] != 0);
    const unsigned lanes_before = (1u << threadIdx.x % 32) - 1;
    if (i < n) out[i] = __popc(votes & lanes_before);
}

void vote_rank(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_rank_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

// 2. Shuffles. All 32 lanes take part here as well; a value that comes from beyond the end of the array is not used.

__global__ void shuffle_broadcast_kernel(const int* x, int* out, int n, int lane, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_sync(WHOLE_WARP, own, lane, width);
    const int source = i / width * width + lane;
    if (i < n) out[i] = source < n ? other : own;
}

void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if (!is_width(width) || lane < 0 || lane >= width) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_broadcast_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, lane, width);
    });
}

__global__ void shuffle_up_kernel(const int* x, int* out, int n, int delta, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_up_sync(WHOLE_WARP, own, delta, width);
    if (i < n) out[i] = other;
}

void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_up_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, delta, width);
    });
}

__global__ void shuffle_down_kernel(const int* x, int* out, int n, int delta, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_down_sync(WHOLE_WARP, own, delta, width);
    if (i < n) out[i] = i + delta < n ? other : own;
}

void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_down_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, delta, width);
    });
}

__global__ void shuffle_xor_kernel(const int* x, int* out, int n, int mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_xor_sync(WHOLE_WARP, own, mask);
    if (i < n) out[i] = (i ^ mask) < n ? other : own;
}

void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    on_device(x, out, n,
              [=](int* d_x, int* d_out) { shuffle_xor_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, mask); });
}

// 3. The scan of a warp: after the step with distance d, each lane holds the sum of the last 2 * d values up to its
// own.

__device__ int scan_of_warp(int value) {
    const int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int lower = __shfl_up_sync(WHOLE_WARP, value, distance);
        if (lane >= distance) value += lower;
    }
    return value;
}

__global__ void warp_scan_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = scan_of_warp(i < n ? x[i] : 0);
    if (i < n) out[i] = value;
}

void warp_scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { warp_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

// 4. A step on the way to a block: for each warp the sum of all warps before it in its block.

// Each thread brings its result of scan_of_warp, and gets the sum of the warps before its own.
__device__ int sum_of_warps_before(int scanned) {
    __shared__ int warp_sums[BLOCK_SIZE / 32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    if (lane == 31) warp_sums[warp] = scanned;
    __syncthreads();  // all sums are there
    if (warp == 0) {
        const int sum = scan_of_warp(lane < BLOCK_SIZE / 32 ? warp_sums[lane] : 0);
        if (lane < BLOCK_SIZE / 32) warp_sums[lane] = sum;
    }
    __syncthreads();  // all sums are scanned
    return warp > 0 ? warp_sums[warp - 1] : 0;
}

__global__ void warp_offsets_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int before = sum_of_warps_before(scan_of_warp(i < n ? x[i] : 0));
    if (i < n && i % 32 == 0) out[i / 32] = before;
}

void warp_offsets(const int* x, int* out, int n) {
    const auto launch = [=](int* d_x, int* d_out) {
        warp_offsets_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n);
    };
    on_device(x, out, n, launch, 32);
}

// 5. The scan of a block.

__device__ int scan_of_block(int value) {
    value = scan_of_warp(value);
    value += sum_of_warps_before(value);
    return value;
}

// Scans the blocks of x, and stores the sum of each block into sums[blockIdx.x] unless sums is a null pointer.
__global__ void block_scan_kernel(const int* x, int* out, int* sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = scan_of_block(i < n ? x[i] : 0);
    if (i < n) out[i] = value;
    if (sums != nullptr && threadIdx.x == BLOCK_SIZE - 1) sums[blockIdx.x] = value;
}

void block_scan(const int* x, int* out, int n) {
    on_device(x, out, n,
              [=](int* d_x, int* d_out) { block_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, nullptr, n); });
}

// 6. A step on the way to the whole array: to each block the sum of the blocks before it is added.

__global__ void add_sums_kernel(const int* x, const int* sums, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = blockIdx.x > 0 ? x[i] + sums[blockIdx.x - 1] : x[i];
}

void add_block_sums(const int* x, const int* sums, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        int* d_sums;
        CHECK(cudaMalloc(&d_sums, blocks_for(n) * sizeof(int)));
        CHECK(cudaMemcpy(d_sums, sums, blocks_for(n) * sizeof(int), cudaMemcpyHostToDevice));
        add_sums_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_sums, d_out, n);
        CHECK(cudaGetLastError());
        CHECK(cudaFree(d_sums));
    });
}

// 7. The scan of the whole array.

// The scan of d_x, both arrays in device memory. The sums of the blocks are scanned in the same way, and theirs again,
// until there is one block.

__global__ void whole_kernel(const int* x, int* out, int* sums, int n) {
    const auto grid = cooperative_groups::this_grid();
    const int tiles = (n + BLOCK_SIZE - 1) / BLOCK_SIZE;
    const int per = (tiles + gridDim.x - 1) / gridDim.x;
    const int first = blockIdx.x * per * BLOCK_SIZE, last = min(n, first + per * BLOCK_SIZE);
    __shared__ int total;
    int sum = 0;
    for (int i = first + threadIdx.x; i < last; i += BLOCK_SIZE) sum += x[i];
    sum = scan_of_block(sum);
    if (threadIdx.x == BLOCK_SIZE - 1) sums[blockIdx.x] = sum;
    grid.sync();
    if (threadIdx.x == 0) {
        int before = 0;
        for (int b = 0; b < blockIdx.x; ++b) before += sums[b];
        total = before;
    }
    __syncthreads();
    for (int at = first; at < last; at += BLOCK_SIZE) {
        const int i = at + threadIdx.x;
        const int before = total;
        const int value = scan_of_block(i < last ? x[i] : 0);
        __syncthreads();
        if (i < last) out[i] = before + value;
        if (threadIdx.x == BLOCK_SIZE - 1) total = before + value;
        __syncthreads();
    }
}
static void scan_on_device(const int* d_x, int* d_out, int n) {
    int blocks = 16;
    int* d_sums;
    CHECK(cudaMalloc(&d_sums, blocks * sizeof(int)));
    void* arguments[] = {(void*)&d_x, (void*)&d_out, (void*)&d_sums, (void*)&n};
    CHECK(cudaLaunchCooperativeKernel((const void*)whole_kernel, dim3(blocks), dim3(BLOCK_SIZE), arguments, 0, 0));
    CHECK(cudaFree(d_sums));
}

void scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { scan_on_device(d_x, d_out, n); });
}
