// RIGHT: one template reverses all arrays, in managed memory; what waits and who knows the size are its parameters
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "reverse.h"

#include <algorithm>

// Managed memory with the n elements of d, which its destructor brings back once the device is done.
template <class T>
class OnDevice {
  public:
    OnDevice(T* d, int n) : d_(d), n_(n) {
        if (n == 0) return;
        CHECK(cudaMallocManaged(&managed_, n * sizeof(T)));
        std::copy_n(d, n, managed_);
    }
    OnDevice(const OnDevice&) = delete;
    ~OnDevice() {
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        if (n_ > 0) std::copy_n(managed_, n_, d_);
        CHECK(cudaFree(managed_));
    }
    T* get() const { return managed_; }

  private:
    T* d_;
    int n_;
    T* managed_ = nullptr;
};

// The two halves of a reversal, before and after the barrier.
template <class T>
__device__ void put(T* s, const T* d, int n) {
    const int t = threadIdx.x;
    if (t < n) s[t] = d[t];
}
template <class T>
__device__ void fetch(T* d, const T* s, int n) {
    const int t = threadIdx.x;
    if (t < n) d[t] = s[n - 1 - t];
}

__device__ int d_size;
struct Argument {
    int n;
    __device__ int size() const { return n; }
};
struct Block {
    __device__ int size() const { return blockDim.x; }
};
struct Symbol {
    __device__ int size() const { return d_size; }
};

__global__ void static_kernel(int* d, int n) {
    __shared__ int s[STATIC_CAPACITY];
    put(s, d, n);
    __syncthreads();
    fetch(d, s, n);
}

template <class Source>
__global__ void dynamic_kernel(int* d, Source source) {
    extern __shared__ int s[];
    const int n = source.size();
    put(s, d, n);
    __syncthreads();
    fetch(d, s, n);
}

__global__ void three_kernel(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    extern __shared__ double three[];
    int* const ints = reinterpret_cast<int*>(three + c_n);
    unsigned char* const bytes = reinterpret_cast<unsigned char*>(ints + b_n);
    put(three, c, c_n);
    put(ints, b, b_n);
    put(bytes, a, a_n);
    __syncthreads();
    fetch(c, three, c_n);
    fetch(b, ints, b_n);
    fetch(a, bytes, a_n);
}

static int whole_warps(int n) { return (n + 31) / 32 * 32; }

void static_reverse(int* d, int n) {
    if (n <= 0 || n > STATIC_CAPACITY) return;
    const OnDevice<int> on_device(d, n);
    static_kernel<<<1, whole_warps(n)>>>(on_device.get(), n);
}

template <class Source>
static void reverse(int* d, int n, int threads, Source source) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    const OnDevice<int> on_device(d, n);
    dynamic_kernel<<<1, threads, n * sizeof(int)>>>(on_device.get(), source);
}

void dynamic_reverse(int* d, int n) { reverse(d, n, n, Block{}); }

void dynamic_reverse_n(int* d, int n) { reverse(d, n, whole_warps(n), Argument{n}); }

void dynamic_reverse_symbol(int* d, int n) {
    CHECK(cudaMemcpyToSymbol(d_size, &n, sizeof n));
    reverse(d, n, whole_warps(n), Symbol{});
}

void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    const int longest = std::max({a_n, b_n, c_n});
    if (std::min({a_n, b_n, c_n}) < 0 || longest == 0 || longest > BLOCK_CAPACITY) return;
    const OnDevice<unsigned char> on_a(a, a_n);
    const OnDevice<int> on_b(b, b_n);
    const OnDevice<double> on_c(c, c_n);
    three_kernel<<<1, whole_warps(longest), a_n + b_n * sizeof(int) + c_n * sizeof(double)>>>(
        on_a.get(), a_n, on_b.get(), b_n, on_c.get(), c_n);
}

template <int PITCH>
__global__ void rows_kernel(int* d, int rows) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) s[i / ROW_WIDTH * PITCH + i % ROW_WIDTH] = d[i];
    __syncthreads();
    if (threadIdx.x < rows) {
        int* const row = s + threadIdx.x * PITCH;
#pragma unroll 1
        for (int left = 0; left < ROW_WIDTH / 2; ++left) {
            const int right = ROW_WIDTH - 1 - left, kept = row[left];
            row[left] = row[right];
            row[right] = kept;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) d[i] = s[i / ROW_WIDTH * PITCH + i % ROW_WIDTH];
}

template <int PITCH>
static void reverse_rows(int* d, int rows) {
    if (rows <= 0 || rows > ROWS_CAPACITY) return;
    const OnDevice<int> on_device(d, rows * ROW_WIDTH);
    rows_kernel<PITCH><<<1, whole_warps(rows), rows * PITCH * sizeof(int)>>>(on_device.get(), rows);
}

void rows_strided(int* d, int rows) { reverse_rows<ROW_WIDTH>(d, rows); }

void rows_padded(int* d, int rows) { reverse_rows<ROW_WIDTH + 3>(d, rows); }
