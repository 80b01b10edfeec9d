// Kernels of the tests of a real GPU.
#include <cooperative_groups.h>

#include <cstdio>

__constant__ float factor = 3;
__device__ int counter = 5;

extern "C" __global__ void scale(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}

struct Odd {
    char letter;
    double number;
};
extern "C" __global__ void mixed(char first, Odd second, short third, double* out) {
    out[0] = first, out[1] = second.letter, out[2] = second.number, out[3] = third;
}

extern "C" __global__ void count() { atomicAdd(&counter, 1); }
extern "C" __global__ void greet(int n) { printf("hello %d\n", n); }
extern "C" __global__ void fault(int* at) { *at = 1; }

// The number of blocks that have arrived when every block is waiting.
extern "C" __global__ void meet(int* arrived, int* seen) {
    if (threadIdx.x == 0) atomicAdd(arrived, 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *arrived;
}

extern "C" __global__ void reverse(int* data, int n) {
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = tile[n - 1 - i];
}

extern "C" __global__ void spin(long long cycles, int* done) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
    *done = 1;
}
