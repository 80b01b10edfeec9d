// SOLUTION BEGIN
// STARTER: // Lab scan: votes, shuffles, and the running sums of warps, of blocks and of a whole array.
// STARTER: // It compiles and runs. scan is right and very slow; the other functions store zeros.
// STARTER: // Grade it:  ./warpgrade check scan      (in this folder)
// Lab scan, reference solution: votes, shuffles, and the running sums of warps, of blocks and of a whole array.
// Grade it:  ./warpgrade grade scan reference/scan
// SOLUTION END
#include "scan.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

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
    // SOLUTION BEGIN
    // TODO(student): __all_sync tells whether a condition holds in all lanes. What does a thread with i >= n vote?
    // STARTER: if (i < n) out[i] = 0;
    const bool all = __all_sync(WHOLE_WARP, i >= n || x[i] != 0);
    if (i < n) out[i] = all;
    // SOLUTION END
}

void vote_all(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_all_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

__global__ void vote_any_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): the same with __any_sync.
    // STARTER: if (i < n) out[i] = 0;
    const bool any = __any_sync(WHOLE_WARP, i < n && x[i] != 0);
    if (i < n) out[i] = any;
    // SOLUTION END
}

void vote_any(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_any_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

__global__ void vote_rank_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): __ballot_sync gives every lane the votes of all lanes, one bit each. Keep the bits of the lanes
    // before this one, and count them with __popc.
    // STARTER: if (i < n) out[i] = 0;
    const unsigned votes = __ballot_sync(WHOLE_WARP, i < n && x[i] != 0);
    const unsigned lanes_before = (1u << threadIdx.x % 32) - 1;
    if (i < n) out[i] = __popc(votes & lanes_before);
    // SOLUTION END
}

void vote_rank(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { vote_rank_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

// 2. Shuffles. All 32 lanes take part here as well; a value that comes from beyond the end of the array is not used.

__global__ void shuffle_broadcast_kernel(const int* x, int* out, int n, int lane, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): __shfl_sync fetches the value of one lane of the group. Which element is that, and does it exist?
    // STARTER: if (i < n) out[i] = 0;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_sync(WHOLE_WARP, own, lane, width);
    const int source = i / width * width + lane;
    if (i < n) out[i] = source < n ? other : own;
    // SOLUTION END
}

void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if (!is_width(width) || lane < 0 || lane >= width) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_broadcast_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, lane, width);
    });
}

__global__ void shuffle_up_kernel(const int* x, int* out, int n, int delta, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): __shfl_up_sync fetches the value of the lane that is delta lower. What does it give to the first
    // lanes of a group?
    // STARTER: if (i < n) out[i] = 0;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_up_sync(WHOLE_WARP, own, delta, width);
    if (i < n) out[i] = other;
    // SOLUTION END
}

void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_up_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, delta, width);
    });
}

__global__ void shuffle_down_kernel(const int* x, int* out, int n, int delta, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): __shfl_down_sync fetches the value of the lane that is delta higher, which may be one beyond the
    // end of the array.
    // STARTER: if (i < n) out[i] = 0;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_down_sync(WHOLE_WARP, own, delta, width);
    if (i < n) out[i] = i + delta < n ? other : own;
    // SOLUTION END
}

void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_down_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, delta, width);
    });
}

__global__ void shuffle_xor_kernel(const int* x, int* out, int n, int mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): __shfl_xor_sync lets lanes exchange their values in pairs.
    // STARTER: if (i < n) out[i] = 0;
    const int own = i < n ? x[i] : 0;
    const int other = __shfl_xor_sync(WHOLE_WARP, own, mask);
    if (i < n) out[i] = (i ^ mask) < n ? other : own;
    // SOLUTION END
}

void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        shuffle_xor_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n, mask);
    });
}

// 3. The scan of a warp: after the step with distance d, each lane holds the sum of the last 2 * d values up to its own.

__device__ int scan_of_warp(int value) {
    // SOLUTION BEGIN
    // TODO(student): for the distances 1, 2, 4, 8 and 16, fetch the value of the lane that is so much lower, and add it
    // where there is such a lane. All lanes must reach the shuffle.
    const int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int lower = __shfl_up_sync(WHOLE_WARP, value, distance);
        if (lane >= distance) value += lower;
    }
    // SOLUTION END
    return value;
}

__global__ void warp_scan_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): load an element (zero beyond the end), scan the warp, store the result.
    // STARTER: if (i < n) out[i] = 0;
    const int value = scan_of_warp(i < n ? x[i] : 0);
    if (i < n) out[i] = value;
    // SOLUTION END
}

void warp_scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) { warp_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n); });
}

// 4. A step on the way to a block: for each warp the sum of all warps before it in its block.

// Each thread brings its result of scan_of_warp, and gets the sum of the warps before its own.
__device__ int sum_of_warps_before(int scanned) {
    // SOLUTION BEGIN
    // TODO(student): step 1. Which lane's result is the sum of its whole warp? It puts that sum into shared memory.
    //
    // TODO(student): step 2. After a barrier the first warp scans these sums, with scan_of_warp again.
    //
    // TODO(student): step 3. After another barrier every warp but the first finds the sum of the warps before it.
    // STARTER: return 0;
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
    // SOLUTION END
}

__global__ void warp_offsets_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): load an element and scan the warp as in warp_scan_kernel; all threads of the block call
    // sum_of_warps_before, and one lane of each warp stores the result.
    // STARTER: if (i < n && i % 32 == 0) out[i / 32] = 0;
    const int before = sum_of_warps_before(scan_of_warp(i < n ? x[i] : 0));
    if (i < n && i % 32 == 0) out[i / 32] = before;
    // SOLUTION END
}

void warp_offsets(const int* x, int* out, int n) {
    const auto launch = [=](int* d_x, int* d_out) {
        warp_offsets_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, n);
    };
    on_device(x, out, n, launch, 32);
}

// 5. The scan of a block.

__device__ int scan_of_block(int value) {
    // SOLUTION BEGIN
    // TODO(student): scan the warp, and add the sum of the warps before it.
    value = scan_of_warp(value);
    value += sum_of_warps_before(value);
    // SOLUTION END
    return value;
}

// Scans the blocks of x, and stores the sum of each block into sums[blockIdx.x] unless sums is a null pointer.
__global__ void block_scan_kernel(const int* x, int* out, int* sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): as in warp_scan_kernel, for the block. One thread also has the sum of the whole block.
    // STARTER: if (i < n) out[i] = 0;
    const int value = scan_of_block(i < n ? x[i] : 0);
    if (i < n) out[i] = value;
    if (sums != nullptr && threadIdx.x == BLOCK_SIZE - 1) sums[blockIdx.x] = value;
    // SOLUTION END
}

void block_scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        block_scan_kernel<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, nullptr, n);
    });
}

// 6. A step on the way to the whole array: to each block the sum of the blocks before it is added.

__global__ void add_sums_kernel(const int* x, const int* sums, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): out[i] is x[i] plus the element of sums of the block before this one. What about the first block?
    // STARTER: if (i < n) out[i] = 0;
    if (i < n) out[i] = blockIdx.x > 0 ? x[i] + sums[blockIdx.x - 1] : x[i];
    // SOLUTION END
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

// SOLUTION BEGIN
// STARTER: // One thread walks through the array: right for every n, and as slow as it gets.
// STARTER: __global__ void scan_kernel(const int* x, int* out, int n) {
// STARTER:     int sum = 0;
// STARTER:     for (int i = 0; i < n; ++i) {
// STARTER:         sum += x[i];
// STARTER:         out[i] = sum;
// STARTER:     }
// STARTER: }

// In one launch: a block scans its part of the array, and looks back at what the blocks before it have published until
// it knows the sum of all that lies before its part.

constexpr int EACH = 8;  // elements of a thread
constexpr int PART = EACH * BLOCK_SIZE;

// What a block publishes: the sum of its part or, as soon as it knows that, of everything up to the end of its part.
// Kind and sum are one word, so that nobody sees one without the other. 0: nothing yet.
constexpr unsigned long long SUM_OF_PART = 1ull << 32, SUM_OF_ALL = 2ull << 32;

// Publishes the sum of a part, and returns the sum of all before it. A whole warp calls it.
__device__ int look_back(unsigned long long* published, int part, int sum) {
    const int lane = threadIdx.x % 32;
    const unsigned long long own = static_cast<unsigned>(sum);
    if (lane == 0) atomicExch(&published[part], (part == 0 ? SUM_OF_ALL : SUM_OF_PART) | own);
    int before = 0;
    for (int last = part - 1; last >= 0; last -= 32) {
        unsigned long long found = SUM_OF_ALL;  // 0, of what lies before the array
        if (lane <= last) {
            do {
                found = atomicAdd(&published[last - lane], 0ull);
            } while (found == 0);
        }
        const unsigned lanes_with_all = __ballot_sync(WHOLE_WARP, found >= SUM_OF_ALL);
        const int nearest = lanes_with_all != 0 ? __ffs(lanes_with_all) - 1 : 31;
        before += __reduce_add_sync(WHOLE_WARP, lane <= nearest ? static_cast<int>(found) : 0);
        if (lanes_with_all != 0) break;
    }
    if (lane == 0 && part > 0) atomicExch(&published[part], SUM_OF_ALL | static_cast<unsigned>(before + sum));
    return before;
}

__global__ void scan_kernel(const int* x, int* out, unsigned long long* published, unsigned* begun, int n) {
    __shared__ int part, before;
    __shared__ __align__(16) int elements[PART];
    // Parts go to blocks in the order in which these begin: those that a block waits for are on their way.
    if (threadIdx.x == 0) part = atomicAdd(begun, 1u);
    __syncthreads();
    const int start = part * PART;
    for (int k = threadIdx.x; k < PART; k += BLOCK_SIZE) elements[k] = start + k < n ? x[start + k] : 0;
    __syncthreads();  // a thread adds up other elements than it loaded: EACH neighbours

    int* const own = &elements[EACH * threadIdx.x];
    int sum = 0;
    for (int k = 0; k < EACH; ++k) sum += own[k];
    const int scanned = scan_of_block(sum);
    if (threadIdx.x / 32 == BLOCK_SIZE / 32 - 1) {
        const int found = look_back(published, part, __shfl_sync(WHOLE_WARP, scanned, 31));
        if (threadIdx.x == BLOCK_SIZE - 1) before = found;
    }
    __syncthreads();

    sum = before + scanned - sum;
    for (int k = 0; k < EACH; ++k) own[k] = sum += own[k];
    __syncthreads();
    for (int k = threadIdx.x; k < PART && start + k < n; k += BLOCK_SIZE) out[start + k] = elements[k];
}

// The scan of d_x, both arrays in device memory.
static void scan_on_device(const int* d_x, int* d_out, int n) {
    const int blocks = (n - 1) / PART + 1;
    unsigned long long* d_published;  // by each block, and how many have begun
    CHECK(cudaMalloc(&d_published, (blocks + 1) * sizeof(*d_published)));
    CHECK(cudaMemset(d_published, 0, (blocks + 1) * sizeof(*d_published)));
    auto* const d_begun = reinterpret_cast<unsigned*>(d_published + blocks);
    scan_kernel<<<blocks, BLOCK_SIZE>>>(d_x, d_out, d_published, d_begun, n);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(d_published));
}
// SOLUTION END

void scan(const int* x, int* out, int n) {
    // SOLUTION BEGIN
    // TODO(student): scan the blocks and keep their sums (block_scan_kernel), scan the sums, add them (add_sums_kernel).
    // There may be more sums than one block takes: scan them in the same way, and theirs again, until there is one
    // block.
    // STARTER: on_device(x, out, n, [=](int* d_x, int* d_out) { scan_kernel<<<1, 1>>>(d_x, d_out, n); });
    on_device(x, out, n, [=](int* d_x, int* d_out) { scan_on_device(d_x, d_out, n); });
    // SOLUTION END
}
