// SOLUTION BEGIN
// STARTER: // Lab vecadd: c = a + b, with four ways of getting the data to the device and back.
// STARTER: // It adds, but with a single block of threads, and everything is copied, one step after the other.
// STARTER: // Grade it:  ./warpgrade check vecadd      (in this folder)
// Lab vecadd, reference solution: c = a + b, with four ways of getting the data to the device and back.
// Grade it:  ./warpgrade grade vecadd reference/vecadd
// SOLUTION END
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstring>

// Threads of a block.
constexpr int BLOCK = 256;

// The sum of n elements, all of them in memory that the device can reach.
__global__ void add(const float* a, const float* b, float* c, int n) {
    // SOLUTION BEGIN
    // TODO(student): task 1. One thread for one element: compute the number of the element from blockIdx, blockDim and
    // threadIdx. Not every thread of the last block has one.
    // STARTER: for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    // SOLUTION END
}

// Starts the kernel in a stream; 0 is the default stream. The pointers are the device's.
static void launch_add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    // SOLUTION BEGIN
    // TODO(student): task 1. As many blocks as it takes to have a thread for each of the n elements.
    // STARTER: const int blocks = 1;
    const int blocks = (n + BLOCK - 1) / BLOCK;
    // SOLUTION END
    add<<<blocks, BLOCK, 0, stream>>>(a, b, c, n);
    CHECK(cudaGetLastError());
}

// 1. Memory of the device, and copies that are spelled out.
// SOLUTION BEGIN
// STARTER: // Complete, but for the kernel and its launch.
// SOLUTION END

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
    // SOLUTION BEGIN
    // TODO(student): task 2. Allocate three arrays with cudaMallocManaged, fill two of them from a and b as you fill any
    // array, launch, wait, and read the third. No cudaMemcpy.
    // STARTER: vecadd_copies(a, b, c, n);
    const std::size_t bytes = n * sizeof(float);
    float *m_a, *m_b, *m_c;
    CHECK(cudaMallocManaged(&m_a, bytes));
    CHECK(cudaMallocManaged(&m_b, bytes));
    CHECK(cudaMallocManaged(&m_c, bytes));

    std::memcpy(m_a, a, bytes);
    std::memcpy(m_b, b, bytes);
    launch_add(m_a, m_b, m_c, n, 0);
    CHECK(cudaDeviceSynchronize());  // the launch returned at once: only now is the result there
    std::memcpy(c, m_c, bytes);

    CHECK(cudaFree(m_a));
    CHECK(cudaFree(m_b));
    CHECK(cudaFree(m_c));
    // SOLUTION END
}

// 3. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // SOLUTION BEGIN
    // TODO(student): task 3. Allocate three arrays with cudaHostAlloc and cudaHostAllocMapped, fill two of them, and
    // ask cudaHostGetDevicePointer for the pointers that the kernel needs. Then as in task 2; free with cudaFreeHost.
    // STARTER: vecadd_copies(a, b, c, n);
    const std::size_t bytes = n * sizeof(float);
    float *h_a, *h_b, *h_c;
    CHECK(cudaHostAlloc(&h_a, bytes, cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&h_b, bytes, cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&h_c, bytes, cudaHostAllocMapped));
    float *d_a, *d_b, *d_c;  // the same memory, as the device sees it
    CHECK(cudaHostGetDevicePointer(&d_a, h_a, 0));
    CHECK(cudaHostGetDevicePointer(&d_b, h_b, 0));
    CHECK(cudaHostGetDevicePointer(&d_c, h_c, 0));

    std::memcpy(h_a, a, bytes);
    std::memcpy(h_b, b, bytes);
    launch_add(d_a, d_b, d_c, n, 0);
    CHECK(cudaDeviceSynchronize());
    std::memcpy(c, h_c, bytes);

    CHECK(cudaFreeHost(h_a));
    CHECK(cudaFreeHost(h_b));
    CHECK(cudaFreeHost(h_c));
    // SOLUTION END
}

// 4. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    // SOLUTION BEGIN
    // TODO(student): task 4. Page-locked arrays on the host (cudaMallocHost) and arrays on the device. Cut the vectors
    // into pieces; for each piece create a stream and give it two copies with cudaMemcpyAsync, a launch, and a copy
    // back. Wait for all streams only when all of them have their work.
    // STARTER: vecadd_copies(a, b, c, n);
    const std::size_t bytes = n * sizeof(float);
    float *h_a, *h_b, *h_c;
    CHECK(cudaMallocHost(&h_a, bytes));
    CHECK(cudaMallocHost(&h_b, bytes));
    CHECK(cudaMallocHost(&h_c, bytes));
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    std::memcpy(h_a, a, bytes);
    std::memcpy(h_b, b, bytes);

    cudaStream_t stream[MAX_STREAMS];
    const int piece = (n + streams - 1) / streams;
    for (int s = 0; s < streams; ++s) {
        CHECK(cudaStreamCreate(&stream[s]));
        const int first = s * piece, count = std::min(piece, n - first);
        if (count <= 0) continue;
        const std::size_t part = count * sizeof(float);
        CHECK(cudaMemcpyAsync(d_a + first, h_a + first, part, cudaMemcpyHostToDevice, stream[s]));
        CHECK(cudaMemcpyAsync(d_b + first, h_b + first, part, cudaMemcpyHostToDevice, stream[s]));
        launch_add(d_a + first, d_b + first, d_c + first, count, stream[s]);
        CHECK(cudaMemcpyAsync(h_c + first, d_c + first, part, cudaMemcpyDeviceToHost, stream[s]));
    }
    for (int s = 0; s < streams; ++s) {
        CHECK(cudaStreamSynchronize(stream[s]));
        CHECK(cudaStreamDestroy(stream[s]));
    }
    std::memcpy(c, h_c, bytes);

    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    CHECK(cudaFreeHost(h_a));
    CHECK(cudaFreeHost(h_b));
    CHECK(cudaFreeHost(h_c));
    // SOLUTION END
}
