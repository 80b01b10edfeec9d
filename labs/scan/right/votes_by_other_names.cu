// RIGHT: votes by __reduce_and_sync, __reduce_or_sync of the threads that have an element and __match_any_sync; the
// scan of a warp takes the predicate of shfl.up in PTX
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
    const unsigned lanes = __ballot_sync(WHOLE_WARP, i < n);
    if (i < n) out[i] = __reduce_and_sync(lanes, x[i] != 0 ? 1u : 0u);
}

void vote_all(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_all_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

__global__ void vote_any_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __reduce_or_sync(__activemask(), x[i]) != 0;
}

void vote_any(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_any_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

__global__ void vote_rank_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
    const bool has = i < n && x[i];
    const unsigned same = __match_any_sync(WHOLE_WARP, has);
    if (i < n) out[i] = __popc((has ? same : ~same) & before);
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
#pragma unroll
    for (int d = 1; d <= 16; d <<= 1)
        asm volatile(
            "{ .reg .s32 r; .reg .pred p; shfl.sync.up.b32 r|p, %0, %1, 0x0, 0xffffffff; @p add.s32 %0, %0, r; }"
            : "+r"(value)
            : "r"(d));
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
static void scan_on_device(const int* d_x, int* d_out, int n) {
    const int blocks = blocks_for(n);
    int *d_sums, *d_scanned_sums;
    CHECK(cudaMalloc(&d_sums, blocks * sizeof(int)));
    block_scan_kernel<<<blocks, BLOCK_SIZE>>>(d_x, d_out, d_sums, n);
    CHECK(cudaGetLastError());
    if (blocks > 1) {
        CHECK(cudaMalloc(&d_scanned_sums, blocks * sizeof(int)));
        scan_on_device(d_sums, d_scanned_sums, blocks);
        add_sums_kernel<<<blocks, BLOCK_SIZE>>>(d_out, d_scanned_sums, d_out, n);  // in place
        CHECK(cudaGetLastError());
        CHECK(cudaFree(d_scanned_sums));
    }
    CHECK(cudaFree(d_sums));
}

void scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { scan_on_device(d_x, d_out, n); });
}
