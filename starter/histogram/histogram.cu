// Lab histogram: how often each value occurs, in six versions.
// All of them count right already, but with the single thread of version 0. Write the other kernels, and
// let each function launch its own.
// Grade it:  ./warpgrade check histogram      (in this folder)
#include "histogram.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>

#define WHOLE_WARP 0xffffffffu  // all lanes, as the mask of votes, matches and reductions

// A kernel that adds the values of data[0] … data[n - 1] to counts, in global memory; all counts are 0 before.
using Kernel = void (*)(const unsigned char* data, int* counts, int n, int bins);

// Counts with a kernel in `blocks` blocks of `threads` threads.
static void count_with(Kernel kernel, int blocks, int threads, const unsigned char* data, int* counts, int n, int bins) {
    if (bins < 1 || bins > MOST_BINS) return;
    std::fill(counts, counts + bins, 0);
    if (n <= 0) return;
    unsigned char* d_data;
    int* d_counts;
    CHECK(cudaMalloc(&d_data, n));
    CHECK(cudaMalloc(&d_counts, bins * sizeof(int)));
    CHECK(cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_counts, 0, bins * sizeof(int)));
    kernel<<<blocks, threads>>>(d_data, d_counts, n, bins);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(counts, d_counts, bins * sizeof(int), cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_counts));
}

// The blocks that n values take, at least one.
[[maybe_unused]] static int blocks_for(int n, int per_block = BLOCK_SIZE) {
    return n > 0 ? (n - 1) / per_block + 1 : 1;
}

// 0. Given: one thread goes through the array. Nobody else adds, so nothing needs to be atomic.

__global__ void serial_kernel(const unsigned char* data, int* counts, int n, int bins) {
    for (int i = 0; i < n; ++i) {
        if (data[i] < bins) counts[data[i]] += 1;
    }
}

void histogram_serial(const unsigned char* data, int* counts, int n, int bins) {
    count_with(serial_kernel, 1, 1, data, counts, n, bins);
}

// 1. A thread for each value. Many of them may add to the same count at the same time.

__global__ void global_kernel(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): which value is this thread's, is there one, and has it a bin? Let atomicAdd add 1 to its count.
}

void histogram_global(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): launch global_kernel instead, with a thread for each value.
    count_with(serial_kernel, 1, 1, data, counts, n, bins);
}

// 2. Each block has counts of its own, in shared memory, and adds them to those in global memory when it is done.

__global__ void shared_kernel(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): step 1. Let the threads of the block set an array of MOST_BINS counts in shared memory to 0.
    //
    // TODO(student): step 2. Count the block's BLOCK_VALUES values into that array: thread t takes number t of them,
    // then t + blockDim.x and so on. What must have happened before the first addition?
    //
    // TODO(student): step 3. Add the block's counts to `counts`, one thread a bin. What must have happened before?
}

void histogram_shared(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): launch shared_kernel instead. How many blocks are that?
    count_with(serial_kernel, 1, 1, data, counts, n, bins);
}

// 3. As many blocks as the device can hold, and no more: clearing and adding the block's counts is done once for many
// values. Sixteen of them come with one access.

__global__ void strided_kernel(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): step 1. As in shared_kernel, but with a loop: the array holds n / 16 uint4
    // (reinterpret_cast<const uint4*>(data)). Let the thread count those with the numbers i, i + threads,
    // i + 2 * threads and so on, where `threads` is the size of the whole grid and i the thread's place in it. A uint4
    // has four words (.x, .y, .z, .w) of four values each.
    //
    // TODO(student): step 2. The last n % 16 values belong to no uint4. Who counts them?
}

void histogram_strided(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): launch strided_kernel instead, with a thread for 16 values, or more values where there would be
    // too many blocks: cudaDeviceGetAttribute tells how many multiprocessors there are (cudaDevAttrMultiProcessorCount)
    // and how many threads each of them holds (cudaDevAttrMaxThreadsPerMultiProcessor).
    count_with(serial_kernel, 1, 1, data, counts, n, bins);
}

// How many lanes of a warp want the same?

__global__ void contention_kernel(const unsigned char* data, int* queues, int n) {
    // TODO(student): step 1. __match_any_sync(WHOLE_WARP, value) gives a lane one bit for each lane that has the same
    // value as itself. All lanes have to take part: what does one bring that has no value?
    //
    // TODO(student): step 2. How many bits are that? __reduce_max_sync(WHOLE_WARP, number) gives all lanes the largest.
    // One lane of the warp stores it.
}

void contention(const unsigned char* data, int* queues, int n) {
    if (n <= 0) return;
    // TODO(student): launch contention_kernel with a thread for each value, and fetch the queues of all warps.
}

// 4. Lanes with the same value let one of them add for all.

__global__ void match_kernel(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): as in shared_kernel, but before a lane adds: which lanes of the warp have its value, how many are
    // they, and is it the first of them? __ffs(bits) is the number of the lowest bit that is set, counted from 1.
}

void histogram_match(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): launch match_kernel instead.
    count_with(serial_kernel, 1, 1, data, counts, n, bins);
}

// 5. Few bins: each thread has a count for each of them in a register.

__global__ void few_kernel(const unsigned char* data, int* counts, int n, int bins) {
    // TODO(student): step 1. Let each thread count its values in an array of its own, int mine[FEW_BINS]. It stays in
    // registers only if all its indices are known to the compiler: in a loop over all bins with #pragma unroll, add
    // (value == b) to mine[b].
    //
    // TODO(student): step 2. For each bin, add up the counts of a warp's lanes (__reduce_add_sync), then those of the
    // block's warps, in shared memory, and add the block's counts to `counts`.
}

void histogram_few(const unsigned char* data, int* counts, int n, int bins) {
    if (bins > FEW_BINS) return;
    // TODO(student): launch few_kernel instead, with as many blocks as in version 3.
    count_with(serial_kernel, 1, 1, data, counts, n, bins);
}
