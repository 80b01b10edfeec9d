// WRONG: loses "dynamic_reverse_symbol reverses up to 1024 elements", "dynamic_reverse_symbol has whole warps and loads the size", "the dynamic versions reverse sizes around whole warps", "each call sets its own size" - dynamic_reverse_symbol stores the number of threads in the variable instead of the number of elements
#include "reverse.h"

#include <cstdio>
#include <cstdlib>

// Ends the program with the place and CUDA's own words when a CUDA call fails.
#define CHECK(call) check((call), #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char* call, const char* file, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, cudaGetErrorString(error), cudaGetErrorName(error));
    std::exit(EXIT_FAILURE);
}

// A copy of the n elements of d in device memory.
static int* copy_to_device(const int* d, int n) {
    int* d_d;
    CHECK(cudaMalloc(&d_d, n * sizeof(int)));
    CHECK(cudaMemcpy(d_d, d, n * sizeof(int), cudaMemcpyHostToDevice));
    return d_d;
}

// Waits for the kernel, brings the elements back to d and gives the device memory back.
static void copy_back(int* d, int* d_d, int n) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(d, d_d, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_d));
}

// 1. The size of the array in shared memory is known when the kernel is compiled.

__global__ void static_reverse_kernel(int* d, int n) {
    __shared__ int s[STATIC_CAPACITY];
    const int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();  // another warp may have loaded the element that this thread needs
    d[t] = s[n - 1 - t];
}

void static_reverse(int* d, int n) {
    if (n <= 0 || n > STATIC_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    static_reverse_kernel<<<1, n>>>(d_d, n);
    copy_back(d, d_d, n);
}

// 2. The launch gives the size of the shared memory in bytes; the block has one thread for each element.

__global__ void dynamic_reverse_kernel(int* d) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    const int n = blockDim.x;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[n - 1 - t];
}

void dynamic_reverse(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    dynamic_reverse_kernel<<<1, n, n * sizeof(int)>>>(d_d);
    copy_back(d, d_d, n);
}

// 3. The block is rounded up to whole warps, and the kernel is told the size by an argument.

inline int whole_warps(int n) { return (n + 31) / 32 * 32; }

__global__ void dynamic_reverse_n_kernel(int* d, int n) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    if (t < n) s[t] = d[t];
    __syncthreads();  // outside of the condition: all threads of the block arrive
    if (t < n) d[t] = s[n - 1 - t];
}

void dynamic_reverse_n(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    dynamic_reverse_n_kernel<<<1, whole_warps(n), n * sizeof(int)>>>(d_d, n);
    copy_back(d, d_d, n);
}

// 4. As 3, but the size stands in a variable in device memory.

__device__ int d_size;

__global__ void dynamic_reverse_symbol_kernel(int* d) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    const int n = d_size;
    if (t < n) s[t] = d[t];
    __syncthreads();
    if (t < n) d[t] = s[n - 1 - t];
}

void dynamic_reverse_symbol(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    const int threads = whole_warps(n);
    CHECK(cudaMemcpyToSymbol(d_size, &threads, sizeof threads));
    dynamic_reverse_symbol_kernel<<<1, whole_warps(n), n * sizeof(int)>>>(d_d);
    copy_back(d, d_d, n);
}
