// RIGHT: two elements a thread, pieces filled while others are on their way, one allocation each, one wait for all
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstring>
#include <vector>

// Threads of a block.
constexpr int BLOCK = 128;

// The sum of n elements, all of them in memory that the device can reach.
__global__ void add(const float* a, const float* b, float* c, int n) {
    // Two elements a thread, a block apart.
    for (int turn = 0; turn < 2; ++turn) {
        const int i = (2 * blockIdx.x + turn) * blockDim.x + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
    }
}

// Starts the kernel in a stream; 0 is the default stream. The pointers are the device's.
static void launch_add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    const int blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
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
}

// 2. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
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
}

// 3. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    // One page-locked and one device allocation; the host fills a piece while the one before is on its way.
    float *h, *d;
    CHECK(cudaMallocHost(&h, 3 * n * sizeof(float)));
    CHECK(cudaMalloc(&d, 3 * n * sizeof(float)));
    const int piece = (n + streams - 1) / streams;
    std::vector<cudaStream_t> all;
    for (int first = 0; first < n; first += piece) {
        const int count = std::min(piece, n - first);
        const std::size_t part = count * sizeof(float);
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0));
        all.push_back(stream);
        for (int vector = 0; vector < 2; ++vector) {
            std::memcpy(h + vector * n + first, (vector == 0 ? a : b) + first, part);
            CHECK(cudaMemcpyAsync(d + vector * n + first, h + vector * n + first, part, cudaMemcpyHostToDevice, stream));
        }
        launch_add(d + first, d + n + first, d + 2 * n + first, count, stream);
        CHECK(cudaMemcpyAsync(h + 2 * n + first, d + 2 * n + first, part, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaDeviceSynchronize());
    std::memcpy(c, h + 2 * n, n * sizeof(float));
    for (auto stream : all) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(h));
    CHECK(cudaFree(d));
}

// 4. A __managed__ variable, and work for the host meanwhile.


__managed__ int count;

__global__ void count_kernel(const float* x, int n, float limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) atomicAdd(&count, 1);
}

int count_above(const float* x, int n, float limit, int on_host) {
    if (n <= 0) return 0;
    const int on_device = n - on_host;
    float* d_x = nullptr;
    count = 0;
    if (on_device > 0) {
        CHECK(cudaMalloc(&d_x, on_device * sizeof(float)));
        CHECK(cudaMemcpy(d_x, x, on_device * sizeof(float), cudaMemcpyHostToDevice));
        count_kernel<<<(on_device + BLOCK - 1) / BLOCK, BLOCK>>>(d_x, on_device, limit);
        CHECK(cudaGetLastError());
    }
    int counted = 0;  // the launch returned at once: this runs beside the kernel
    for (int i = on_device; i < n; ++i) counted += x[i] > limit;
    CHECK(cudaDeviceSynchronize());
    counted += count;
    CHECK(cudaFree(d_x));
    return counted;
}
