// RIGHT: three arrays in loops of 256 threads, reversed on the way in; an early return; a static array of rows, a warp
// for each
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "reverse.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

// A copy of the n elements of d in device memory.
template <class T>
static T* copy_to_device(const T* d, int n) {
    T* d_d;
    CHECK(cudaMalloc(&d_d, n * sizeof(T)));
    CHECK(cudaMemcpy(d_d, d, n * sizeof(T), cudaMemcpyHostToDevice));
    return d_d;
}

// Waits for the kernel, brings the elements back to d and gives the device memory back.
template <class T>
static void copy_back(T* d, T* d_d, int n) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(d, d_d, n * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_d));
}

// 1. The size of the array in shared memory is known when the kernel is compiled.

__global__ void static_reverse_kernel(int* d, int n) {
    __shared__ int s[STATIC_CAPACITY];
    const int t = threadIdx.x;
    assert(n <= STATIC_CAPACITY);
    if (t < n) s[n - 1 - t] = d[t];
    __syncthreads();
    if (t < n) d[t] = s[t];
}

void static_reverse(int* d, int n) {
    if (n <= 0 || n > STATIC_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    static_reverse_kernel<<<1, STATIC_CAPACITY>>>(d_d, n);
    copy_back(d, d_d, n);
}

// 2. The launch gives the size of the shared memory in bytes; the block has one thread for each element.

__global__ void dynamic_reverse_kernel(int* d) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    const int n = blockDim.x;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[n - 1 - t];
}

void dynamic_reverse(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    dynamic_reverse_kernel<<<1, n, n * sizeof(int)>>>(d_d);
    copy_back(d, d_d, n);
}

// 3. The block is rounded up to whole warps, and the kernel is told the size by an argument.

inline int whole_warps(int n) { return (n + 31) / 32 * 32; }

__global__ void dynamic_reverse_n_kernel(int* d, int n) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    if (t >= n) return;  // who has ended is not waited for
    if (t == 0) printf("%d elements\n", n);
    s[t] = d[t];
    __syncthreads();
    d[t] = s[n - 1 - t];
}

void dynamic_reverse_n(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    dynamic_reverse_n_kernel<<<1, whole_warps(n), n * sizeof(int)>>>(d_d, n);
    copy_back(d, d_d, n);
}

// 4. As 3, but the size stands in a variable in device memory.

__device__ int d_size;

__global__ void dynamic_reverse_symbol_kernel(int* d) {
    extern __shared__ int s[];
    const int t = threadIdx.x;
    const int n = d_size;
    if (t < n) s[t] = d[t];
    __syncthreads();
    if (t < n) d[t] = s[n - 1 - t];
}

void dynamic_reverse_symbol(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    void* size;
    CHECK(cudaGetSymbolAddress(&size, d_size));
    CHECK(cudaMemcpy(size, &n, sizeof n, cudaMemcpyHostToDevice));
    dynamic_reverse_symbol_kernel<<<1, whole_warps(n), n * sizeof(int)>>>(d_d);
    copy_back(d, d_d, n);
}

// 5. Three arrays of different types share the one dynamic allocation of the block.

__global__ void dynamic_reverse_three_kernel(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    extern __shared__ double three[];
    double* const c_s = three;  // the largest type first, then each array begins where its type may
    int* const b_s = reinterpret_cast<int*>(c_s + c_n);
    unsigned char* const a_s = reinterpret_cast<unsigned char*>(b_s + b_n);
    const int t = threadIdx.x;
    const int step = blockDim.x;
    for (int i = t; i < a_n; i += step) a_s[a_n - 1 - i] = a[i];
    for (int i = t; i < b_n; i += step) b_s[b_n - 1 - i] = b[i];
    for (int i = t; i < c_n; i += step) c_s[c_n - 1 - i] = c[i];
    __syncthreads();
    for (int i = t; i < a_n; i += step) a[i] = a_s[i];
    for (int i = t; i < b_n; i += step) b[i] = b_s[i];
    for (int i = t; i < c_n; i += step) c[i] = c_s[i];
}

void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    const int longest = std::max({a_n, b_n, c_n});
    if (std::min({a_n, b_n, c_n}) < 0 || longest == 0 || longest > BLOCK_CAPACITY) return;
    unsigned char* d_a = copy_to_device(a, a_n);
    int* d_b = copy_to_device(b, b_n);
    double* d_c = copy_to_device(c, c_n);
    const size_t bytes = a_n * sizeof(unsigned char) + b_n * sizeof(int) + c_n * sizeof(double);
    dynamic_reverse_three_kernel<<<1, 256, bytes>>>(d_a, a_n, d_b, b_n, d_c, c_n);
    copy_back(a, d_a, a_n);
    copy_back(b, d_b, b_n);
    copy_back(c, d_c, c_n);
}

// 6. Given: each thread reverses a row of ROW_WIDTH elements. The first elements of two rows lie ROW_WIDTH words apart.

__global__ void rows_strided_kernel(int* d, int rows) {
    extern __shared__ int s[];
    // Neighbouring threads copy neighbouring elements, whichever rows these belong to.
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) s[i] = d[i];
    __syncthreads();
    if (threadIdx.x < rows) {
        int* const row = s + threadIdx.x * ROW_WIDTH;
#pragma unroll 1  // else the compiler merges four accesses into one of four words, and the counts say less
        for (int left = 0; left < ROW_WIDTH / 2; ++left) {
            const int right = ROW_WIDTH - 1 - left;
            const int kept = row[left];
            row[left] = row[right];
            row[right] = kept;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) d[i] = s[i];
}

void rows_strided(int* d, int rows) {
    if (rows <= 0 || rows > ROWS_CAPACITY) return;
    int* d_d = copy_to_device(d, rows * ROW_WIDTH);
    rows_strided_kernel<<<1, whole_warps(rows), rows * ROW_WIDTH * sizeof(int)>>>(d_d, rows);
    copy_back(d, d_d, rows * ROW_WIDTH);
}

// 7. As 6, but the rows lie where no two threads of a warp meet in a bank.

__global__ void rows_padded_kernel(int* d, int rows) {
    __shared__ int s[ROWS_CAPACITY][ROW_WIDTH + 1];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int r = warp; r < rows; r += warps) s[r][lane] = d[r * ROW_WIDTH + lane];
    __syncthreads();
    if (threadIdx.x < rows) {
        int* const row = s[threadIdx.x];
        for (int *left = row, *right = row + ROW_WIDTH - 1; left < right; ++left, --right) {
            const int kept = *left;
            *left = *right;
            *right = kept;
        }
    }
    __syncthreads();
    for (int r = warp; r < rows; r += warps) d[r * ROW_WIDTH + lane] = s[r][lane];
}

void rows_padded(int* d, int rows) {
    if (rows <= 0 || rows > ROWS_CAPACITY) return;
    int* d_d = copy_to_device(d, rows * ROW_WIDTH);
    rows_padded_kernel<<<1, 512>>>(d_d, rows);
    copy_back(d, d_d, rows * ROW_WIDTH);
}
