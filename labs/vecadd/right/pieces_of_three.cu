// RIGHT: four elements a thread, a block apart; each piece of a, b and c in one part of one array; counts by warps, set by a copy
#include "check.cuh"
#include "vecadd.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <vector>

namespace cg = cooperative_groups;

constexpr int BLOCK = 128;

template <int per_thread>
__global__ void __launch_bounds__(BLOCK)
    add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    const int first = blockIdx.x * per_thread * BLOCK + threadIdx.x;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const int i = first + k * BLOCK;
        if (i < n) c[i] = __ldg(a + i) + __ldg(b + i);
    }
}

static void launch(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
    constexpr int per_block = ELEMENTS_PER_THREAD * BLOCK;
    add<ELEMENTS_PER_THREAD><<<(n + per_block - 1) / per_block, BLOCK, 0, stream>>>(a, b, c, n);
    CHECK(cudaGetLastError());
}

class Stream {
  public:
    Stream() { CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, 0)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { CHECK(cudaStreamDestroy(stream_)); }
    operator cudaStream_t() const { return stream_; }
    void wait() const { CHECK(cudaStreamSynchronize(stream_)); }

  private:
    cudaStream_t stream_;
};

// The distance between a, b and c in one allocation: whole sectors.
static std::size_t padded(int n) { return (static_cast<std::size_t>(n) + 63) / 64 * 64; }

void vecadd_copies(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t pad = padded(n), bytes = n * sizeof(float);
    const Stream stream;
    float* d;
    CHECK(cudaMallocAsync(&d, 3 * pad * sizeof(float), stream));
    CHECK(cudaMemcpyAsync(d, a, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(d + pad, b, bytes, cudaMemcpyHostToDevice, stream));
    launch(d, d + pad, d + 2 * pad, n, stream);
    CHECK(cudaMemcpyAsync(c, d + 2 * pad, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(d, stream));
    stream.wait();
}

void vecadd_managed(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t pad = padded(n);
    float* m;
    CHECK(cudaMallocManaged(&m, 3 * pad * sizeof(float)));
    std::copy_n(a, n, m);
    std::copy_n(b, n, m + pad);
    const Stream stream;
    launch(m, m + pad, m + 2 * pad, n, stream);
    stream.wait();
    std::copy_n(m + 2 * pad, n, c);
    CHECK(cudaFree(m));
}

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t pad = padded(n);
    float *h, *d;
    CHECK(cudaHostAlloc(&h, 3 * pad * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetDevicePointer(&d, h, 0));
    std::copy_n(a, n, h);
    std::copy_n(b, n, h + pad);
    launch(d, d + pad, d + 2 * pad, n, cudaStreamPerThread);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    std::copy_n(h + 2 * pad, n, c);
    CHECK(cudaFreeHost(h));
}

// Piece by piece, on both sides: its part of a, then of b, then of c. So one copy takes up both inputs.
void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    const int piece = (n + streams - 1) / streams, pieces = (n + piece - 1) / piece;
    const std::vector<Stream> own(pieces);
    const std::size_t bytes = 3 * sizeof(float) * n;
    float *h, *d;
    CHECK(cudaMallocHost(&h, bytes));
    CHECK(cudaMalloc(&d, bytes));
    for (int time = 0; time < times; ++time)
        for (int p = 0; p < pieces; ++p) {
            const int first = p * piece, count = std::min(piece, n - first);
            float *const there = d + 3ULL * first, *const here = h + 3ULL * first;
            if (time == 0) {
                std::copy_n(a + first, count, here);
                std::copy_n(b + first, count, here + count);
            }
            CHECK(cudaMemcpyAsync(there, here, 2ULL * count * sizeof(float), cudaMemcpyHostToDevice, own[p]));
            launch(there, there + count, there + 2ULL * count, count, own[p]);
            CHECK(cudaMemcpyAsync(here + 2ULL * count, there + 2ULL * count, count * sizeof(float),
                                  cudaMemcpyDeviceToHost, own[p]));
        }
    for (int p = 0; p < pieces; ++p) {
        const int first = p * piece, count = std::min(piece, n - first);
        own[p].wait();
        std::copy_n(h + 3ULL * first + 2ULL * count, count, c + first);
    }
    CHECK(cudaFreeHost(h));
    CHECK(cudaFree(d));
}

__managed__ unsigned long long above;

__global__ void count_kernel(const float* x, int n, float limit) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i] > limit;
    const unsigned long long of_warp = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(&above, of_warp);
}

int count_above(const float* x, int n, float limit, int on_host) {
    if (n <= 0) return 0;
    const int on_device = n - on_host;
    const unsigned long long zero = 0;
    CHECK(cudaMemcpyToSymbol(above, &zero, sizeof zero));
    float* d_x = nullptr;
    if (on_device > 0) {
        CHECK(cudaMalloc(&d_x, on_device * sizeof(float)));
        CHECK(cudaMemcpy(d_x, x, on_device * sizeof(float), cudaMemcpyHostToDevice));
        count_kernel<<<std::min(64, (on_device + 255) / 256), 256>>>(d_x, on_device, limit);
        CHECK(cudaGetLastError());
    }
    const auto here = std::count_if(x + on_device, x + n, [=](float value) { return value > limit; });
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_x));
    return static_cast<int>(here) + static_cast<int>(above);
}
