// RIGHT: a captured graph, memory advice, registered vectors instead of allocated ones
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

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

// 1. Memory of the device, and copies that are spelled out.

void vecadd_copies(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t bytes = n * sizeof(float);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(d_a, a, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(d_b, b, bytes, cudaMemcpyHostToDevice, stream));
    launch_add(d_a, d_b, d_c, n, stream);
    CHECK(cudaMemcpyAsync(c, d_c, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));

    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
}

// 2. Managed memory: one pointer for both sides.

void vecadd_managed(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // One allocation for all three; filled from the back.
    float* m;
    CHECK(cudaMallocManaged(&m, 3 * n * sizeof(float)));
    for (int i = n - 1; i >= 0; --i) m[i] = a[i], m[n + i] = b[i], m[2 * n + i] = 0;
    launch_add(m, m + n, m + 2 * n, n, 0);
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < n; ++i) c[i] = m[2 * n + i];
    CHECK(cudaFree(m));
}

// 3. Zero-copy: the kernel reaches into the host's memory.

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    std::vector<float> inputs(a, a + n);
    inputs.insert(inputs.end(), b, b + n);
    std::vector<float> sums(n);
    CHECK(cudaHostRegister(inputs.data(), inputs.size() * sizeof(float), cudaHostRegisterMapped));
    CHECK(cudaHostRegister(sums.data(), sums.size() * sizeof(float), cudaHostRegisterMapped));
    float *d_inputs, *d_sums;
    CHECK(cudaHostGetDevicePointer(&d_inputs, inputs.data(), 0));
    CHECK(cudaHostGetDevicePointer(&d_sums, sums.data(), 0));
    launch_add(d_inputs, d_inputs + n, d_sums, n, 0);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(inputs.data()));
    CHECK(cudaHostUnregister(sums.data()));
    std::copy(sums.begin(), sums.end(), c);
}

// 4. Several streams: while one piece is added, the next one is on its way.

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times) {
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
    for (int s = 0; s < streams; ++s) CHECK(cudaStreamCreate(&stream[s]));
    for (int turn = 0; turn < times * streams; ++turn) {
        const int s = turn % streams;
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

// 5. A __managed__ variable, and work for the host meanwhile.

__managed__ unsigned above;

__global__ void count_kernel(const float* x, int n, float limit) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] > limit) atomicInc(&above, 0xffffffff);
}

int count_above(const float* x, int n, float limit, int on_host) {
    if (n <= 0) return 0;
    if (n == on_host) return std::count_if(x, x + n, [=](float value) { return value > limit; });
    const int first = n - on_host;
    above = 0;
    float* d_x;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocAsync(&d_x, first * sizeof(float), stream));
    CHECK(cudaMemcpyAsync(d_x, x, first * sizeof(float), cudaMemcpyHostToDevice, stream));
    count_kernel<<<8, 128, 0, stream>>>(d_x, first, limit);
    CHECK(cudaGetLastError());
    CHECK(cudaFreeAsync(d_x, stream));
    const int here = std::count_if(x + first, x + n, [=](float value) { return value > limit; });
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    return here + above;
}
