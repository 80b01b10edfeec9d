// SOLUTION BEGIN
// STARTER: // Lab vecadd: c = a + b, with four ways of getting the data to the device and back.
// STARTER: // The first one is complete; the others still call it, so that everything is copied, one step after the other.
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
    // SOLUTION BEGIN
    // TODO(student): step 1. Allocate three arrays with cudaMallocManaged, fill two of them from a and b as you fill any
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

// 2. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // SOLUTION BEGIN
    // TODO(student): step 2. Allocate three arrays with cudaHostAlloc and cudaHostAllocMapped, fill two of them, and
    // ask cudaHostGetDevicePointer for the pointers that the kernel needs. Then as in step 1; free with cudaFreeHost.
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

// 3. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    // SOLUTION BEGIN
    // TODO(student): step 3. Once: page-locked arrays on the host (cudaMallocHost), arrays on the device, a stream for
    // each piece of the vectors. Each time: give each stream two copies with cudaMemcpyAsync, a launch, and a copy back.
    // Wait for all streams only when all of them have their work.
    // STARTER: for (int time = 0; time < times; ++time) vecadd_copies(a, b, c, n);
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
    for (int s = 0; s < streams; ++s) CHECK(cudaStreamCreate(&stream[s]));

    // All that costs time and serves again is there: from here on, only what each time needs.
    const int piece = (n + streams - 1) / streams;
    for (int time = 0; time < times; ++time) {
        for (int s = 0; s < streams; ++s) {
            const int first = s * piece, count = std::min(piece, n - first);
            if (count <= 0) continue;
            const std::size_t part = count * sizeof(float);
            CHECK(cudaMemcpyAsync(d_a + first, h_a + first, part, cudaMemcpyHostToDevice, stream[s]));
            CHECK(cudaMemcpyAsync(d_b + first, h_b + first, part, cudaMemcpyHostToDevice, stream[s]));
            launch_add(d_a + first, d_b + first, d_c + first, count, stream[s]);
            CHECK(cudaMemcpyAsync(h_c + first, d_c + first, part, cudaMemcpyDeviceToHost, stream[s]));
        }
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

// 4. A __managed__ variable, and work for the host meanwhile.

// SOLUTION BEGIN
// STARTER: // TODO(student): step 4. Declare a __managed__ int, and write a kernel that adds 1 to it with atomicAdd for each
// STARTER: // element that is greater than `limit`.

__managed__ int count;

__global__ void count_kernel(const float* x, int n, float limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) atomicAdd(&count, 1);
}
// SOLUTION END

int count_above(const float* x, int n, float limit, int on_host) {
    if (n <= 0) return 0;
    // SOLUTION BEGIN
    // TODO(student): step 4. Set your variable to 0, copy the device's elements, launch; count the host's elements; wait,
    // and only then read the variable.
    // STARTER: return 0;
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
    // SOLUTION END
}
