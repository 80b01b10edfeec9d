// RIGHT: managed memory prefetched in both directions, write-combined mapped memory, events to wait
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

// 1. Managed memory: one pointer for both sides. Moved before it is needed; `device` 0 is the first GPU.

static void prefetch(const void* memory, std::size_t bytes, int device) {
#if CUDART_VERSION >= 13000
    const cudaMemLocation place = {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                   device == cudaCpuDeviceId ? 0 : device};
    CHECK(cudaMemPrefetchAsync(memory, bytes, place, 0, 0));
#else
    CHECK(cudaMemPrefetchAsync(memory, bytes, device, 0));
#endif
}

void vecadd_managed(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t bytes = n * sizeof(float);
    float *m_a, *m_b, *m_c;
    CHECK(cudaMallocManaged(&m_a, bytes));
    CHECK(cudaMallocManaged(&m_b, bytes));
    CHECK(cudaMallocManaged(&m_c, bytes));

    std::memcpy(m_a, a, bytes);
    std::memcpy(m_b, b, bytes);
    for (float* array : {m_a, m_b, m_c}) prefetch(array, bytes, 0);
    launch_add(m_a, m_b, m_c, n, 0);
    prefetch(m_c, bytes, cudaCpuDeviceId);
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
    CHECK(cudaHostAlloc(&h_a, bytes, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CHECK(cudaHostAlloc(&h_b, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostAlloc(&h_c, bytes, cudaHostAllocMapped));
    float *d_a, *d_b, *d_c;  // the same memory, as the device sees it
    CHECK(cudaHostGetDevicePointer(&d_a, h_a, 0));
    CHECK(cudaHostGetDevicePointer(&d_b, h_b, 0));
    CHECK(cudaHostGetDevicePointer(&d_c, h_c, 0));

    std::memcpy(h_a, a, bytes);
    std::memcpy(h_b, b, bytes);
    cudaEvent_t done;
    CHECK(cudaEventCreate(&done));
    launch_add(d_a, d_b, d_c, n, 0);
    CHECK(cudaEventRecord(done));
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaEventDestroy(done));
    std::memcpy(c, h_c, bytes);

    CHECK(cudaFreeHost(h_a));
    CHECK(cudaFreeHost(h_b));
    CHECK(cudaFreeHost(h_c));
}

// 3. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
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
    CHECK(cudaStreamSynchronize(0));
    counted += count;
    CHECK(cudaFree(d_x));
    return counted;
}
