// Lab vecadd: c = a + b, with four ways of getting the data to the device and back.
// It adds, but with a single block of threads, and everything is copied, one step after the other.
// Grade it:  ./warpgrade check vecadd      (in this folder)
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstring>

// Threads of a block.
constexpr int BLOCK = 256;

// The sum of n elements, all of them in memory that the device can reach.
__global__ void add(const float* a, const float* b, float* c, int n) {
    // TODO(student): task 1. One thread for one element: compute the number of the element from blockIdx, blockDim and
    // threadIdx. Not every thread of the last block has one.
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

// Starts the kernel in a stream; 0 is the default stream. The pointers are the device's.
static void launch_add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    // TODO(student): task 1. As many blocks as it takes to have a thread for each of the n elements.
    const int blocks = 1;
    add<<<blocks, BLOCK, 0, stream>>>(a, b, c, n);
    CHECK(cudaGetLastError());
}

// 1. Memory of the device, and copies that are spelled out.
// Complete, but for the kernel and its launch.

void vecadd_copies(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t bytes = n * sizeof(float);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));

    CHECK(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice));
    launch_add(d_a, d_b, d_c, n, 0);
    CHECK(cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel

    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
}

// 2. Managed memory: one pointer for both sides.

void vecadd_managed(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // TODO(student): task 2. Allocate three arrays with cudaMallocManaged, fill two of them from a and b as you fill any
    // array, launch, wait, and read the third. No cudaMemcpy.
    vecadd_copies(a, b, c, n);
}

// 3. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // TODO(student): task 3. Allocate three arrays with cudaHostAlloc and cudaHostAllocMapped, fill two of them, and
    // ask cudaHostGetDevicePointer for the pointers that the kernel needs. Then as in task 2; free with cudaFreeHost.
    vecadd_copies(a, b, c, n);
}

// 4. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    // TODO(student): task 4. Page-locked arrays on the host (cudaMallocHost) and arrays on the device. Cut the vectors
    // into pieces; for each piece create a stream and give it two copies with cudaMemcpyAsync, a launch, and a copy
    // back. Wait for all streams only when all of them have their work.
    vecadd_copies(a, b, c, n);
}
