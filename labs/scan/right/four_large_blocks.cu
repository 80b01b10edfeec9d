// RIGHT: scan has blocks of 1024 threads with 16 elements each, loaded as int4, and forms the sums of blocks first
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "scan.h"

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

// Blocks of 1024 threads with 16 elements each: 16,384 elements a block, in int4s. A thread scans its elements one
// after the other, the block scans the threads' sums.
constexpr int THREADS = 1024, EACH = 16;

// What the threads of the block before this one bring, added up, and in *all what all of them bring.
__device__ int sum_of_threads_before(int value, int* all) {
    __shared__ int warp_sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int scanned = scan_of_warp(value);
    if (lane == 31) warp_sums[warp] = scanned;
    __syncthreads();
    if (warp == 0) warp_sums[lane] = scan_of_warp(warp_sums[lane]);
    __syncthreads();
    *all = warp_sums[31];
    return scanned - value + (warp > 0 ? warp_sums[warp - 1] : 0);
}

// First pass: the sum of each block. Neighbouring threads load neighbouring int4s.
__global__ void sums_kernel(const int4* x, int* sums, int quads) {
    const int first = blockIdx.x * THREADS * EACH / 4 + threadIdx.x;
    int sum = 0, all;
    for (int k = 0; k < EACH / 4; ++k) {
        const int q = first + k * THREADS;
        const int4 v = q < quads ? x[q] : make_int4(0, 0, 0, 0);
        sum += v.x + v.y + v.z + v.w;
    }
    sum_of_threads_before(sum, &all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// Second pass: one block scans the sums, each thread a row of them.
__global__ void scan_sums_kernel(int* sums, int blocks) {
    const int each = (blocks - 1) / THREADS + 1;
    int sum = 0, all;
    for (int b = threadIdx.x * each; b < min((threadIdx.x + 1) * each, (unsigned)blocks); ++b) sum += sums[b];
    int before = sum_of_threads_before(sum, &all);
    for (int b = threadIdx.x * each; b < min((threadIdx.x + 1) * each, (unsigned)blocks); ++b) {
        const int own = sums[b];
        sums[b] = before;
        before += own;
    }
}

// Third pass: loads the elements once more, scans them, and begins with the sum of the blocks before.
__global__ void scan_kernel(const int4* x, const int* sums, int4* out, int quads) {
    const int first = blockIdx.x * THREADS * EACH / 4 + threadIdx.x;
    int before = sums[blockIdx.x];
    for (int k = 0; k < EACH / 4; ++k) {
        const int q = first + k * THREADS;
        int4 v = q < quads ? x[q] : make_int4(0, 0, 0, 0);
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        int all;
        const int offset = before + sum_of_threads_before(v.w, &all);
        __syncthreads();  // shared memory is written again in the next turn
        if (q < quads) out[q] = make_int4(v.x + offset, v.y + offset, v.z + offset, v.w + offset);
        before += all;
    }
}

void scan(const int* x, int* out, int n) {
    if (n <= 0) return;
    const int quads = (n - 1) / 4 + 1, blocks = (n - 1) / (THREADS * EACH) + 1;
    int4 *d_x, *d_out;
    int* d_sums;
    CHECK(cudaMalloc(&d_x, quads * sizeof(int4)));
    CHECK(cudaMalloc(&d_out, quads * sizeof(int4)));
    CHECK(cudaMalloc(&d_sums, blocks * sizeof(int)));
    CHECK(cudaMemset(d_x + (quads - 1), 0, sizeof(int4)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice));
    sums_kernel<<<blocks, THREADS>>>(d_x, d_sums, quads);
    scan_sums_kernel<<<1, THREADS>>>(d_sums, blocks);
    scan_kernel<<<blocks, THREADS>>>(d_x, d_sums, d_out, quads);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_sums));
}
