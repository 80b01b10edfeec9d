// Lab reduction: the sum of an array, in six versions.
// All of them give the right sum already, but with the kernel of version 1. Write the other kernels,
// and let each function launch its own.
// Grade it:  ./warpgrade check reduction      (in this folder)
#include "reduction.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

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
    // TODO(student): as in divergent_kernel, with the same strides. Number the additions of a step: which elements does
    // addition number t take, and which threads have one? Thread t does addition number t.
}

float reduce_strided(const float* x, int n, int block_size) {
    // TODO(student): launch strided_kernel instead.
    return sum_with(divergent_kernel, x, n, block_size, block_size);
}

// 3. The other way round: the second half is added to the first, then the second quarter to the first. Neighbouring
// threads touch neighbouring elements in every step.

__global__ void sequential_kernel(const float* x, float* sums, int n) {
    // TODO(student): let the stride go down from blockDim.x / 2 to 1, and add the second half of what is left to the
    // first. Which threads add in a step, and which elements?
}

float reduce_sequential(const float* x, int n, int block_size) {
    // TODO(student): launch sequential_kernel instead.
    return sum_with(divergent_kernel, x, n, block_size, block_size);
}

// 4. In the first step of version 3 half of the threads are idle already. Let every thread add once while it loads.

__global__ void first_add_kernel(const float* x, float* sums, int n) {
    // TODO(student): a block takes 2 * blockDim.x elements now. Thread t loads two that lie blockDim.x apart, adds
    // them, and stores the sum into shared memory. Both of them may lie beyond n, or only the second.
}

float reduce_first_add(const float* x, int n, int block_size) {
    // TODO(student): launch first_add_kernel instead. How many elements does a block take?
    return sum_with(divergent_kernel, x, n, block_size, block_size);
}

// 5. The threads of a warp hand each other their sums directly. That needs no barrier, and no shared memory.

#define WHOLE_WARP 0xffffffffu  // all lanes, as the mask of shuffles and votes

// The sum of `value` over the threads of a block of whole warps, in thread 0.
__device__ float block_sum(float value) {
    // TODO(student): step 1. Add up the 32 values of a warp in five steps with __shfl_down_sync.
    //
    // TODO(student): step 2. Lane 0 of each warp puts the warp's sum into shared memory.
    //
    // TODO(student): step 3. After a barrier the first warp adds up these sums in the same way. There are
    // blockDim.x / 32 of them, which may be less than 32: what do the other lanes of that warp bring?
    return value;
}

__global__ void shuffle_kernel(const float* x, float* sums, int n) {
    // TODO(student): load and add two elements a thread as in version 4, then take the block's sum from block_sum.
}

float reduce_shuffle(const float* x, int n, int block_size) {
    // TODO(student): launch shuffle_kernel instead.
    return sum_with(divergent_kernel, x, n, block_size, block_size);
}

// 6. As many blocks as the device can hold, and no more: each thread adds up many elements before the block's sum is
// formed once. Four floats come with one access.

__global__ void grid_stride_kernel(const float* x, float* sums, int n) {
    // TODO(student): step 1. The array holds n / 4 float4 (reinterpret_cast<const float4*>(x)). Let the thread add up
    // those with the numbers i, i + threads, i + 2 * threads and so on, where `threads` is the size of the whole grid
    // and i the thread's place in it.
    //
    // TODO(student): step 2. The last n % 4 floats belong to no float4. Who adds them?
    //
    // TODO(student): step 3. Form the block's sum as in version 5.
}

float reduce_grid_stride(const float* x, int n, int block_size) {
    // TODO(student): launch grid_stride_kernel instead. A block takes four elements a thread, or more where there would
    // be too many blocks: cudaDeviceGetAttribute tells how many multiprocessors there are
    // (cudaDevAttrMultiProcessorCount) and how many threads each of them holds
    // (cudaDevAttrMaxThreadsPerMultiProcessor).
    return sum_with(divergent_kernel, x, n, block_size, block_size);
}

// The divergent warps of one step, counted by votes.

__global__ void divergent_warps_kernel(int version, int warp_size, int stride, int* count) {
    // TODO(student): step 1. Does this thread add in this step? Apply the rule of the version.
    //
    // TODO(student): step 2. __ballot_sync gives each thread one bit for each thread of the (real) warp. Cut out those
    // of the warp_size threads that this thread belongs to. Are they all the same?
    //
    // TODO(student): step 3. Count each divergent warp once; __syncthreads_count votes in the whole block.
}

int divergent_warps(int version, int block_size, int warp_size, int stride) {
    if (version < 1 || version > 3 || !is_power_of_two(block_size, 32, 1024) || !is_power_of_two(warp_size, 2, 32) ||
        !is_power_of_two(stride, 1, block_size / 2))
        return 0;
    int count = 0;
    // TODO(student): launch divergent_warps_kernel with one block, and fetch the count.
    return count;
}
