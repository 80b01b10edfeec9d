// Kernels whose results depend on the order of blocks, warps or lanes, and kernels whose results only seem to.
#define KERNEL extern "C" __global__ void

// Wrong ones, for which the ordinary order happens to be right.
KERNEL from_earlier_warp(int* out) {  // a barrier is missing
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = t;
    out[t] = t < 32 ? 0 : s[t - 32];
}
KERNEL from_earlier_block(int* sums) {  // takes it that the block before has finished
    if (threadIdx.x == 0) sums[blockIdx.x] = blockIdx.x + (blockIdx.x ? sums[blockIdx.x - 1] : 0);
}
KERNEL add_up_blocks(int* sum) {  // an atomic is missing
    if (threadIdx.x == 0) *sum += blockIdx.x;
}
KERNEL add_up_warps(int* out) {  // the same in shared memory
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) sum += threadIdx.x / 32;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
KERNEL without_syncwarp(const int* in, int* out) {  // takes it that the lanes of a warp run together
    __shared__ volatile int s[64];
    const int t = threadIdx.x;
    s[t] = t < 32 ? in[t] : 0;
    __syncthreads();
    if (t >= 32) return;
#pragma unroll 1
    for (int d = 16; d > 0; d /= 2) s[t] += s[t + d];
    if (t == 0) *out = s[0];
}

// Right ones.
KERNEL with_syncwarp(const int* in, int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = in[t];
    for (int d = 16; d > 0; d /= 2) {
        __syncwarp();
        const int v = t < d ? s[t + d] : 0;
        __syncwarp();
        s[t] += v;
    }
    if (t == 0) *out = s[0];
}
KERNEL exchange(const int* in, int* out, unsigned* votes) {  // collectives of all kinds, of which some lanes stay away
    const unsigned t = threadIdx.x, lane = t % 32;
    int v = in[t];
    for (int d = 1; d < 32; d *= 2) {
        const int up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += up;
    }
    votes[t] = __ballot_sync(0xffffffffu, v % 3 == 0);
    if (lane < 20) {
        v += __shfl_xor_sync(0x000fffffu, v, 1) + __any_sync(0x000fffffu, lane == 19);
        v += __reduce_add_sync(0x000fffffu, lane) + __popc(__match_any_sync(0x000fffffu, lane / 3));
    }
    const int holds = __syncthreads_count(v % 2);
    out[t] = v + 1000 * holds;
}
KERNEL active_lanes(int* out) {  // takes it that the lanes that go on are together: many programs do
    const unsigned i = threadIdx.x;
    if (i >= 41) return;
    out[i] = __reduce_or_sync(__activemask(), i == 40 || i == 3);
}
__device__ int depth_of(int v) { return v <= 1 ? 0 : 1 + depth_of(v % 2 ? 3 * v + 1 : v / 2); }
KERNEL calls_itself(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = depth_of(threadIdx.x + 1); }
__device__ unsigned arrivals;
KERNEL last_block_adds(const int* in, int* sums, int* out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        is_last = atomicAdd(&arrivals, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last || threadIdx.x) return;
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += sums[b];
    *out = sum;
    arrivals = 0;
}
__device__ unsigned passed;
KERNEL all_wait_for_all(int* values, int* out) {  // thread 0 of a block of several warps waits for the other blocks
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    values[i] = i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&passed, 1);
        while (*static_cast<volatile unsigned*>(&passed) < gridDim.x) {}
    }
    __syncthreads();
    out[i] = *static_cast<volatile int*>(values + n - 1 - i);
}
// Each block waits for the one before, as scans of many blocks do: right where blocks start in the order of their
// numbers.
KERNEL chain(volatile int* ready, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x)
        while (ready[blockIdx.x - 1] == 0) {}
    __threadfence();
    const int before = blockIdx.x ? *static_cast<volatile int*>(out + blockIdx.x - 1) : 0;
    *static_cast<volatile int*>(out + blockIdx.x) = before + blockIdx.x;
    __threadfence();
    ready[blockIdx.x] = 1;
}
KERNEL counted_barrier(int* out) {  // of a block whose second warp has ten threads
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[41 - threadIdx.x];
}
