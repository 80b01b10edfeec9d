// Lab reverse: an array is reversed through shared memory, which is declared in four ways.
// It compiles and runs, but nothing is reversed yet: the kernels and three of the launches are yours.
// Grade it:  ./warpgrade check reverse      (in this folder)
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
    // TODO(student): declare an array of STATIC_CAPACITY ints in shared memory. Thread t copies d[t] into it, waits for
    // the other threads of the block, and stores into d[t] the element that belongs there.
}

void static_reverse(int* d, int n) {
    if (n <= 0 || n > STATIC_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    static_reverse_kernel<<<1, n>>>(d_d, n);
    copy_back(d, d_d, n);
}

// 2. The launch gives the size of the shared memory in bytes; the block has one thread for each element.

__global__ void dynamic_reverse_kernel(int* d) {
    // TODO(student): the same with an array of unknown size, declared `extern __shared__ int s[];`.
    // How many elements there are can be told from the size of the block.
}

void dynamic_reverse(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    // TODO(student): launch dynamic_reverse_kernel with one block of n threads and shared memory for n elements.
    copy_back(d, d_d, n);
}

// 3. The block is rounded up to whole warps, and the kernel is told the size by an argument.

inline int whole_warps(int n) { return (n + 31) / 32 * 32; }

__global__ void dynamic_reverse_n_kernel(int* d, int n) {
    // TODO(student): now some threads of the last warp have no element. They must not touch d or the shared array; but
    // where may they skip code, and which statement does every thread of the block have to reach?
}

void dynamic_reverse_n(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    // TODO(student): launch dynamic_reverse_n_kernel with one block of whole_warps(n) threads.
    // Shared memory is still needed for n elements only.
    copy_back(d, d_d, n);
}

// 4. As 3, but the size stands in a variable in device memory.

__device__ int d_size;

__global__ void dynamic_reverse_symbol_kernel(int* d) {
    // TODO(student): as in dynamic_reverse_n_kernel, with the size taken from d_size.
}

void dynamic_reverse_symbol(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    // TODO(student): set d_size with cudaMemcpyToSymbol, then launch dynamic_reverse_symbol_kernel as above.
    copy_back(d, d_d, n);
}
