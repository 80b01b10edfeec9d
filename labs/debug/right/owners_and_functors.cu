// RIGHT: a class that owns arrays on the device, kernels as templates of what each element becomes, a captured graph for each half, unsigned indices, blocks of 128 and rows in pieces
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "debug.h"

#define TRY(call)                                                                    \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {                  \
        std::printf("%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
        std::abort();                                                                \
    }

namespace {

template <typename T>
class Array {
  public:
    explicit Array(std::size_t size) : size_(size) { TRY(cudaMalloc(&data_, size * sizeof(T))); }
    Array(const T* from, std::size_t size) : Array(size) {
        TRY(cudaMemcpy(data_, from, size * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Array() { TRY(cudaFree(data_)); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    void down(T* to) const { TRY(cudaMemcpy(to, data_, size_ * sizeof(T), cudaMemcpyDeviceToHost)); }
    operator T*() const { return data_; }

  private:
    T* data_ = nullptr;
    std::size_t size_;
};

unsigned pieces(unsigned n, unsigned size) { return n / size + (n % size != 0); }

template <typename F>
__global__ void each(unsigned n, F f) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}

// In rows: x along a row, y by rows.
template <typename F>
__global__ void each_in_rows(unsigned columns, F f) {
    const unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < columns) f(blockIdx.y, c);
}

template <typename F>
void launch(unsigned n, F f, cudaStream_t stream = nullptr) {
    each<<<pieces(n, 128), 128, 0, stream>>>(n, f);
    TRY(cudaGetLastError());
}

template <typename F>
void launch_in_rows(unsigned rows, unsigned columns, F f) {
    each_in_rows<<<dim3(pieces(columns, 128), rows), 128>>>(columns, f);
    TRY(cudaGetLastError());
}

struct Brighten {
    unsigned char* pixels;
    int by;
    __device__ void operator()(unsigned i) const { pixels[i] = umin(pixels[i] + by, 255u); }
};

struct Axpy {
    float a;
    const float* x;
    float* y;
    __device__ void operator()(unsigned i) const { y[i] = fmaf(a, x[i], y[i]); }
};

struct AddRow {
    const int *x, *row;
    int* out;
    unsigned columns;
    __device__ void operator()(unsigned r, unsigned c) const { out[r * columns + c] = x[r * columns + c] + row[c]; }
};

struct Difference {
    const int* x;
    int* out;
    unsigned columns;
    __device__ void operator()(unsigned r, unsigned c) const {
        const unsigned i = r * columns + c;
        out[i] = c ? x[i] - x[i - 1] : 0;
    }
};

struct Power {
    const int *re, *im;
    int* out;
    __device__ void operator()(unsigned i) const {
        const int a = re[i], b = im[i];
        out[i] = a * a + b * b;
    }
};

// Four elements of the table at once; what is left, one at a time.
__global__ void find(const float* table, unsigned entries, const int* indices, float* out, unsigned n) {
    extern __shared__ float4 quads[];
    float* copy = reinterpret_cast<float*>(quads);
    const unsigned whole = entries / 4;
    for (unsigned e = threadIdx.x; e < whole; e += blockDim.x) quads[e] = reinterpret_cast<const float4*>(table)[e];
    for (unsigned e = 4 * whole + threadIdx.x; e < entries; e += blockDim.x) copy[e] = table[e];
    __syncthreads();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = copy[indices[i]];
}

__global__ void count(const unsigned char* x, unsigned n, int* counts) {
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd_block(own + x[i], 1);
    __syncthreads();
    if (const int found = own[threadIdx.x]; found > 0) atomicAdd(counts + threadIdx.x, found);
}

__global__ void largest(const float* x, int n, float* out) {
    __shared__ float s[BLOCK];
    const int t = threadIdx.x, there = min(BLOCK, n - static_cast<int>(blockIdx.x) * BLOCK);
    if (t < there) s[t] = x[blockIdx.x * BLOCK + t];
    __syncthreads();
    // There are `length` candidates left; the middle one of an odd number waits.
#pragma unroll
    for (int length = BLOCK, left = there; length > 1; length /= 2) {
        const int half = (left + 1) / 2;
        if (t + half < left) s[t] = fmaxf(s[t], s[t + half]);
        left = half;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = *s;
}

__global__ void nearest(const int* x, int n, const int* y, int m, int* out) {
    __shared__ int points[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int own = x[min(i, n - 1)];
    int best = 1 << 30;
    const int rounds = (m + BLOCK - 1) / BLOCK;
    for (int round = 0; round < rounds; ++round) {
        if (round > 0) __syncthreads();
        points[threadIdx.x] = y[min(round * BLOCK + static_cast<int>(threadIdx.x), m - 1)];  // the last one again
        __syncthreads();
        for (const int point : points) best = min(best, own > point ? own - point : point - own);
    }
    if (i < n) out[i] = best;
}

__global__ void sums(const int* x, int* out, int n) {
    __shared__ int s[2 * BLOCK];  // a block of zeros, so that nobody has to ask what lies before
    const int t = BLOCK + threadIdx.x, i = blockIdx.x * BLOCK + threadIdx.x;
    s[t - BLOCK] = 0;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < BLOCK; distance <<= 1) {
        const int sum = s[t] + s[t - distance];
        __syncthreads();
        s[t] = sum;
        __syncthreads();
    }
    if (i < n) out[i] = s[t];
}

}  // namespace

void brighten(unsigned char* pixels, int n, int by) {
    const Array<unsigned char> d_pixels(pixels, n);
    launch(n, Brighten{d_pixels, by});
    d_pixels.down(pixels);
}

void axpy(float a, const float* x, float* y, int n) {
    const Array<float> d_x(x, n), d_y(y, n);
    launch(n, Axpy{a, d_x, d_y});
    d_y.down(y);
}

void look_up(const float* table, int entries, const int* indices, float* out, int n) {
    const Array<float> d_table(table, entries), d_out(n);
    const Array<int> d_indices(indices, n);
    find<<<pieces(n, BLOCK), BLOCK, pieces(entries, 4) * sizeof(float4)>>>(d_table, entries, d_indices, d_out, n);
    TRY(cudaGetLastError());
    d_out.down(out);
}

void add_to_rows(const int* x, const int* row, int* out, int rows, int columns) {
    const Array<int> d_x(x, rows * columns), d_row(row, columns), d_out(rows * columns);
    launch_in_rows(rows, columns, AddRow{d_x, d_row, d_out, static_cast<unsigned>(columns)});
    d_out.down(out);
}

void differences(const int* x, int* out, int rows, int columns) {
    const Array<int> d_x(x, rows * columns), d_out(rows * columns);
    launch_in_rows(rows, columns, Difference{d_x, d_out, static_cast<unsigned>(columns)});
    d_out.down(out);
}

void histogram(const unsigned char* x, int n, int* counts) {
    const Array<unsigned char> d_x(x, n);
    const Array<int> d_counts(256);
    TRY(cudaMemset(d_counts, 0, 256 * sizeof(int)));
    count<<<pieces(n, 256), 256>>>(d_x, n, d_counts);
    TRY(cudaGetLastError());
    d_counts.down(counts);
}

void block_maxima(const float* x, int n, float* out) {
    const Array<float> d_x(x, n), d_out(pieces(n, BLOCK));
    largest<<<pieces(n, BLOCK), BLOCK>>>(d_x, n, d_out);
    TRY(cudaGetLastError());
    d_out.down(out);
}

void closest(const int* x, int n, const int* y, int m, int* out) {
    const Array<int> d_x(x, n), d_y(y, m), d_out(n);
    nearest<<<pieces(n, BLOCK), BLOCK>>>(d_x, n, d_y, m, d_out);
    TRY(cudaGetLastError());
    d_out.down(out);
}

void running_sums(const int* x, int* out, int n) {
    const Array<int> d_x(x, n), d_out(n);
    sums<<<pieces(n, BLOCK), BLOCK>>>(d_x, d_out, n);
    TRY(cudaGetLastError());
    d_out.down(out);
}

void powers(const int* re, const int* im, int* out, int n) {
    const Array<int> d_re(n), d_im(n), d_out(n);
    cudaStream_t streams[2];
    cudaGraphExec_t halves[2];
    TRY(cudaHostRegister(out, n * sizeof(int), cudaHostRegisterDefault));
    for (int k = 0; k < 2; ++k) {
        const int first = k * (n / 2), count = k ? n - n / 2 : n / 2;
        const auto bytes = count * sizeof(int);
        cudaGraph_t graph;
        TRY(cudaStreamCreate(&streams[k]));
        TRY(cudaStreamBeginCapture(streams[k], cudaStreamCaptureModeGlobal));
        TRY(cudaMemcpyAsync(d_re + first, re + first, bytes, cudaMemcpyHostToDevice, streams[k]));
        TRY(cudaMemcpyAsync(d_im + first, im + first, bytes, cudaMemcpyHostToDevice, streams[k]));
        launch(count, Power{d_re + first, d_im + first, d_out + first}, streams[k]);
        TRY(cudaMemcpyAsync(out + first, d_out + first, bytes, cudaMemcpyDeviceToHost, streams[k]));
        TRY(cudaStreamEndCapture(streams[k], &graph));
        TRY(cudaGraphInstantiate(&halves[k], graph, 0));
        TRY(cudaGraphDestroy(graph));
    }
    for (int k = 0; k < 2; ++k) TRY(cudaGraphLaunch(halves[k], streams[k]));
    for (int k = 0; k < 2; ++k) {
        TRY(cudaStreamSynchronize(streams[k]));
        TRY(cudaGraphExecDestroy(halves[k]));
        TRY(cudaStreamDestroy(streams[k]));
    }
    TRY(cudaHostUnregister(out));
}
