// Lab vecadd: c = a + b, with four ways of getting the data to the device and back.
// The first one is complete; the others still call it, so that everything is copied, one step after the other.
// Grade it:  ./warpgrade check vecadd      (in this folder)
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstring>

// Threads of a block.
constexpr int BLOCK = 256;

// The sum of n elements, all of them in memory that the device can reach.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Starts the kernel in a stream; 0 is the default stream. The pointers are the device's.
static void launch_add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    const int blocks = (n + BLOCK - 1) / BLOCK;
    add<<<blocks, BLOCK, 0, stream>>>(a, b, c, n);
    CHECK(cudaGetLastError());
}

// Given: memory of the device, and copies that are spelled out.

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

// 1. Managed memory: one pointer for both sides.

void vecadd_managed(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // TODO(student): step 1. Allocate three arrays with cudaMallocManaged, fill two of them from a and b as you fill any
    // array, launch, wait, and read the third. No cudaMemcpy.
    vecadd_copies(a, b, c, n);
}

// 2. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // TODO(student): step 2. Allocate three arrays with cudaHostAlloc and cudaHostAllocMapped, fill two of them, and
    // ask cudaHostGetDevicePointer for the pointers that the kernel needs. Then as in step 1; free with cudaFreeHost.
    vecadd_copies(a, b, c, n);
}

// 3. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    // TODO(student): step 3. Once: page-locked arrays on the host (cudaMallocHost), arrays on the device, a stream for
    // each piece of the vectors. Each time: give each stream two copies with cudaMemcpyAsync, a launch, and a copy back.
    // Wait for all streams only when all of them have their work.
    for (int time = 0; time < times; ++time) vecadd_copies(a, b, c, n);
}

// 4. A __managed__ variable, and work for the host meanwhile.

// TODO(student): step 4. Declare a __managed__ int, and write a kernel that adds 1 to it with atomicAdd for each
// element that is greater than `limit`.

int count_above(const float* x, int n, float limit, int on_host) {
    if (n <= 0) return 0;
    // TODO(student): step 4. Set your variable to 0, copy the device's elements, launch; count the host's elements; wait,
    // and only then read the variable.
    return 0;
}
