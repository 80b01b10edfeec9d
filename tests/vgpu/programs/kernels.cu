// Kernels that the interpreter's tests launch, compiled to PTX when the tests are built. One idea per kernel.
#include <cstdio>
#include <cassert>

#define KERNEL extern "C" __global__ void

__device__ int device_counter;
__device__ int initialised[4] = {10, 20, 30, 40};
__constant__ float weights[8];
__device__ volatile int flags[64];

// Memory patterns.
KERNEL copy(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
KERNEL load_strided(const float* in, float* out, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];
}
KERNEL load_reversed(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[n - 1 - i];
}
KERNEL load_misaligned(const float* in, float* out, int shift) {
    int i = threadIdx.x;
    out[i] = in[i + shift];
}
KERNEL load_vector(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL copy_bytes(const unsigned char* in, unsigned char* out) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL shared_strided(float* out, int stride) {
    __shared__ float s[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += 32) s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * stride];
}
KERNEL shared_strided64(double* out, int stride) {
    __shared__ double s[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += 32) s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * stride];
}
KERNEL shared_strided128(float4* out, int stride) {
    __shared__ float4 s[32 * 17];
    for (int i = threadIdx.x; i < 32 * 17; i += 32) s[i] = make_float4(i, i, i, i);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * stride % (32 * 17)];
}
KERNEL shared_broadcast(float* out) {
    __shared__ float s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[7];
}
KERNEL constant_sum(float* out) {
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += weights[i];
    out[threadIdx.x] = sum;
}
KERNEL read_initialised(int* out) { out[threadIdx.x] = initialised[threadIdx.x & 3]; }
KERNEL local_array(int* out, int n) {
    int values[32];
    for (int i = 0; i < n; ++i) values[i] = threadIdx.x * 100 + i;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += values[(i * 7 + threadIdx.x) % n];
    out[threadIdx.x] = sum;
}

// Control flow.
KERNEL diverge(int* out) {
    int t = threadIdx.x, v;
    if (t % 2) v = out[t] * 3;
    else v = out[t + 32] + 5;
    out[t] = v;
}
KERNEL loop_by_lane(int* out) {
    int n = 0;
    for (int i = 0; i <= (int)threadIdx.x; ++i) n += i ^ out[i & 3];
    out[32 + threadIdx.x] = n;
}
KERNEL choose(int* out, int which) {
    int v = 0;
    switch ((threadIdx.x + which) % 6) {
        case 0: v = 11; break;
        case 1: v = out[1] + 22; break;
        case 2: v = out[2] * 33; break;
        case 3: v = out[3] - 44; break;
        case 4: v = out[4] ^ 55; break;
        default: v = 66;
    }
    out[8 + threadIdx.x] = v;
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL recurse(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }
KERNEL recurse_for_ever(int* out) { out[0] = fibonacci(out[0] + 1000000); }

// Blocks, barriers, warps.
KERNEL reverse_dynamic(int* d, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = s[n - 1 - threadIdx.x];
}
KERNEL count_if(const int* in, int* out) {
    int count = __syncthreads_count(in[threadIdx.x] > 0);
    int all = __syncthreads_and(in[threadIdx.x] > -100), any = __syncthreads_or(in[threadIdx.x] > 1000);
    out[threadIdx.x] = count * 4 + all * 2 + any;
}
KERNEL warp_deadlock(int* out) {  // each half of the warp waits for the other, at different barriers
    if (threadIdx.x < 16) __syncwarp();
    else __syncthreads();
    out[threadIdx.x] = 1;
}
KERNEL warp_sum(const float* in, float* out) {
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}
KERNEL votes(const int* in, unsigned* out) {
    int v = in[threadIdx.x];
    unsigned b = __ballot_sync(0xffffffffu, v & 1);
    unsigned m = __match_any_sync(0xffffffffu, v);
    out[threadIdx.x] = b ^ m ^ (__any_sync(0xffffffffu, v > 90) ? 0x100u : 0u) ^ __shfl_xor_sync(0xffffffffu, v, 5);
}

// Blocks that access each other's data, on purpose or not.
KERNEL float_atomics(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, in[i]);
}
KERNEL histogram(const int* in, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] & 15], 1);
}
KERNEL last_writer_wins(int* out) { out[threadIdx.x % 7] = blockIdx.x * 1000 + threadIdx.x; }
KERNEL scale_in_place(float* d, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = d[i] * f;
}
KERNEL shift_in_place(int* d, int n) {  // a race: reads what the next block may have written already
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = d[(i + 300) % n] + 1;
}
KERNEL last_block_sums(const float* in, float* partial, float* out, int n) {
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v;
        __threadfence();
        last = atomicAdd(&device_counter, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float s = 0;
        for (int b = 0; b < gridDim.x; ++b) s += ((volatile float*)partial)[b];
        *out = s;
    }
}
KERNEL spin_lock(int* lock, int* value) {  // all lanes of a warp contend
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int*)value += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
KERNEL spin_lock_plain(int* lock, int* value) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *(volatile int*)value += 1;
    __threadfence();
    atomicExch(lock, 0);
}
KERNEL wait_for_later_block(int* out) {  // block 0 waits for the last block
    if (threadIdx.x) return;
    if (blockIdx.x == gridDim.x - 1) {
        out[1] = 42;
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 0) {
        while (flags[0] == 0) {}
        out[0] = ((volatile int*)out)[1];
    }
}
KERNEL spin_for_ever(int* out) {
    while (((volatile int*)out)[0] == 0) {}
}
KERNEL loop_for_ever(int* out) {
    int x = out[0];
    do x = x * 1664525 + 1013904223;
    while (x != 1 || out[1] == 0);
    out[0] = x;
}

// One function for addresses of every space.
__device__ __noinline__ int through(const int* p, int i) { return p[i]; }
KERNEL through_generic_addresses(int* out, const int* in, int n) {
    __shared__ int shared[32];
    int local[4];
    for (int i = 0; i < 4; ++i) local[i] = n * i;
    shared[threadIdx.x] = 100 + threadIdx.x;
    __syncthreads();
    const int* of[] = {in, shared, local};
    int* mine = out + 4 * threadIdx.x;
    // Lanes of one warp read through different spaces at once.
    mine[0] = through(of[threadIdx.x % 3], threadIdx.x % 4);
    mine[1] = __isGlobal(of[threadIdx.x % 3]);
    mine[2] = __isShared(of[threadIdx.x % 3]);
    mine[3] = __isLocal(of[threadIdx.x % 3]);
}

// Faults and output.
KERNEL store_at(int* out, long long i) { out[i] = 1; }
KERNEL store_unaligned(char* out) { *(int*)(out + 2) = 1; }
KERNEL shared_out_of_bounds(int* out, int i) {
    __shared__ int s[16];
    s[threadIdx.x & 15] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[i];
}
KERNEL say(int n) {
    if (threadIdx.x < 2) printf("block %d thread %u: %5.2f %s %c %lld %%\n", blockIdx.x, threadIdx.x, n * 1.5, "text", 'x', 1LL << 40);
}
KERNEL check_positive(const int* in) { assert(in[threadIdx.x] > 0); }
