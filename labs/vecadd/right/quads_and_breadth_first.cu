// RIGHT: float4 in the kernel, arrays of the caller registered for zero-copy and for streams, copies of all pieces first
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstring>

// Threads of a block.
constexpr int BLOCK = 256;

// The sum of n elements, all of them in memory that the device can reach.
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const bool aligned = ((reinterpret_cast<std::size_t>(a) | reinterpret_cast<std::size_t>(b) |
                           reinterpret_cast<std::size_t>(c)) & 15) == 0;
    if (aligned && first + 4 <= n) {
        const float4 x = *reinterpret_cast<const float4*>(a + first), y = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(c + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (aligned) {
        for (int i = first; i < n; ++i) c[i] = a[i] + b[i];
    } else {
        // Neighbouring threads, neighbouring elements.
        const int stride = gridDim.x * blockDim.x;
        for (int i = first / 4; i < n; i += stride) c[i] = a[i] + b[i];
    }
}

// Starts the kernel in a stream; 0 is the default stream. The pointers are the device's.
static void launch_add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    const int blocks = (n + 4 * BLOCK - 1) / (4 * BLOCK);
    add<<<blocks, BLOCK, 0, stream>>>(a, b, c, n);
    CHECK(cudaGetLastError());
}

// 1. Memory of the device, and copies that are spelled out.

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

// 3. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t bytes = n * sizeof(float);
    float *d_a, *d_b, *d_c;
    CHECK(cudaHostRegister(const_cast<float*>(a), bytes, cudaHostRegisterMapped));
    CHECK(cudaHostRegister(const_cast<float*>(b), bytes, cudaHostRegisterMapped));
    CHECK(cudaHostRegister(c, bytes, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&d_a, const_cast<float*>(a), 0));
    CHECK(cudaHostGetDevicePointer(&d_b, const_cast<float*>(b), 0));
    CHECK(cudaHostGetDevicePointer(&d_c, c, 0));
    launch_add(d_a, d_b, d_c, n, 0);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(const_cast<float*>(a)));
    CHECK(cudaHostUnregister(const_cast<float*>(b)));
    CHECK(cudaHostUnregister(c));
}

// 4. Several streams: while one piece is added, the next one is on its way.

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
    const auto first = [=](int s) { return s * piece; };
    const auto count = [=](int s) { return std::min(piece, n - s * piece); };
    for (int s = 0; s < streams; ++s) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        if (count(s) <= 0) continue;
        const std::size_t part = count(s) * sizeof(float);
        CHECK(cudaMemcpyAsync(d_a + first(s), h_a + first(s), part, cudaMemcpyHostToDevice, stream[s]));
        CHECK(cudaMemcpyAsync(d_b + first(s), h_b + first(s), part, cudaMemcpyHostToDevice, stream[s]));
    }
    for (int s = 0; s < streams; ++s)
        if (count(s) > 0) launch_add(d_a + first(s), d_b + first(s), d_c + first(s), count(s), stream[s]);
    for (int s = 0; s < streams; ++s) {
        if (count(s) <= 0) continue;
        CHECK(cudaMemcpyAsync(h_c + first(s), d_c + first(s), count(s) * sizeof(float), cudaMemcpyDeviceToHost,
                              stream[s]));
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

// 5. A __managed__ variable, and work for the host meanwhile. One addition for each warp.

__managed__ int total;

__global__ void count_kernel(const float* x, int n, float limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned votes = __ballot_sync(0xffffffff, i < n && x[i] > limit);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, __popc(votes));
}

int count_above(const float* x, int n, float limit, int on_host) {
    if (n <= 0) return 0;
    const int on_device = n - on_host;
    total = 0;
    float* d_x = nullptr;
    if (on_device > 0) {
        CHECK(cudaMalloc(&d_x, on_device * sizeof(float)));
        CHECK(cudaMemcpy(d_x, x, on_device * sizeof(float), cudaMemcpyHostToDevice));
        count_kernel<<<(on_device + BLOCK - 1) / BLOCK, BLOCK>>>(d_x, on_device, limit);
        CHECK(cudaGetLastError());
    }
    int counted = 0;
    for (int i = on_device; i < n; ++i)
        if (x[i] > limit) ++counted;
    if (on_device > 0) {
        CHECK(cudaDeviceSynchronize());
        counted += total;
        CHECK(cudaFree(d_x));
    }
    return counted;
}
