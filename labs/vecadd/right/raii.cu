// RIGHT: classes that own memory and streams, parameters in a struct, an event to wait for each stream
#include "vecadd.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>
#include <cstring>

// Threads of a block.
constexpr int BLOCK = 256;

// Memory of whatever kind, given back at the end of its scope.
enum class Kind { device, managed, mapped, pinned };
template <Kind kind>
class Array {
  public:
    explicit Array(int n) : n_(n) {
        if (kind == Kind::device) CHECK(cudaMalloc(&data_, n * sizeof(float)));
        if (kind == Kind::managed) CHECK(cudaMallocManaged(&data_, n * sizeof(float)));
        if (kind == Kind::mapped) CHECK(cudaHostAlloc(&data_, n * sizeof(float), cudaHostAllocMapped));
        if (kind == Kind::pinned) CHECK(cudaMallocHost(&data_, n * sizeof(float)));
    }
    Array(int n, const float* source) : Array(n) {
        if (kind == Kind::device) CHECK(cudaMemcpy(data_, source, n * sizeof(float), cudaMemcpyDefault));
        else std::copy(source, source + n, data_);
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() {
        if (kind == Kind::device || kind == Kind::managed) CHECK(cudaFree(data_));
        else CHECK(cudaFreeHost(data_));
    }
    void to(float* target) const {
        if (kind == Kind::device) CHECK(cudaMemcpy(target, data_, n_ * sizeof(float), cudaMemcpyDefault));
        else std::copy(data_, data_ + n_, target);
    }
    float* data() const { return data_; }

  private:
    float* data_ = nullptr;
    int n_;
};

struct Work {
    const float *a, *b;
    float* c;
    int n;
};

__global__ void add(Work work) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < work.n) work.c[i] = work.a[i] + work.b[i];
}

static void launch(const Work& work, cudaStream_t stream = 0) {
    add<<<(work.n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(work);
    CHECK(cudaGetLastError());
}

template <Kind kind>
static void add_in(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const Array<kind> x(n, a), y(n, b), z(n);
    launch({x.data(), y.data(), z.data(), n});
    CHECK(cudaDeviceSynchronize());
    z.to(c);
}

void vecadd_copies(const float* a, const float* b, float* c, int n) { add_in<Kind::device>(a, b, c, n); }
void vecadd_managed(const float* a, const float* b, float* c, int n) { add_in<Kind::managed>(a, b, c, n); }
void vecadd_mapped(const float* a, const float* b, float* c, int n) { add_in<Kind::mapped>(a, b, c, n); }

class Stream {
  public:
    Stream() {
        CHECK(cudaStreamCreate(&stream_));
        CHECK(cudaEventCreate(&done_));
    }
    ~Stream() {
        CHECK(cudaEventRecord(done_, stream_));
        CHECK(cudaEventSynchronize(done_));
        CHECK(cudaEventDestroy(done_));
        CHECK(cudaStreamDestroy(stream_));
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }

  private:
    cudaStream_t stream_;
    cudaEvent_t done_;
};

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams, int times) {
    if (n <= 0 || streams < 1 || streams > MAX_STREAMS) return;
    const Array<Kind::pinned> h_a(n, a), h_b(n, b), h_c(n);
    const Array<Kind::device> d_a(n), d_b(n), d_c(n);
    {
        Stream stream[MAX_STREAMS];
        const int piece = (n + streams - 1) / streams;
        const int pieces = (n + piece - 1) / piece;
        for (int turn = 0; turn < times * pieces; ++turn) {
            const int s = turn % pieces;
            const int first = s * piece, count = std::min(piece, n - first);
            const std::size_t bytes = count * sizeof(float);
            CHECK(cudaMemcpyAsync(d_a.data() + first, h_a.data() + first, bytes, cudaMemcpyDefault, stream[s]));
            CHECK(cudaMemcpyAsync(d_b.data() + first, h_b.data() + first, bytes, cudaMemcpyDefault, stream[s]));
            launch({d_a.data() + first, d_b.data() + first, d_c.data() + first, count}, stream[s]);
            CHECK(cudaMemcpyAsync(h_c.data() + first, d_c.data() + first, bytes, cudaMemcpyDefault, stream[s]));
        }
    }
    h_c.to(c);
}

// 5. A __managed__ variable, and work for the host meanwhile. One addition for each block.

__device__ __managed__ int found = 0;

__global__ void count_kernel(const float* x, int n, float limit) {
    __shared__ int of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) atomicAdd(&of_block, 1);
    __syncthreads();
    if (threadIdx.x == 0 && of_block > 0) atomicAdd(&found, of_block);
}

int count_above(const float* x, int n, float limit, int on_host) {
    const int on_device = n > 0 ? n - on_host : 0;
    int here = 0;
    const auto count_here = [&] {
        for (int i = on_device; i < n; ++i) here += x[i] > limit;
    };
    if (on_device == 0) {
        count_here();
        return here;
    }
    const Array<Kind::device> d_x(on_device, x);
    count_kernel<<<(on_device + 63) / 64, 64>>>(d_x.data(), on_device, limit);
    CHECK(cudaGetLastError());
    count_here();
    CHECK(cudaDeviceSynchronize());
    here += found;
    found = 0;  // for the next call
    return here;
}
