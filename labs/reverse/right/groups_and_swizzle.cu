// RIGHT: waits by cooperative groups; three arrays in the order of the parameters, rounded up; rows without padding, swizzled
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "reverse.h"

#include <cooperative_groups.h>

#include <algorithm>

template <class T>
static T* copy_to_device(const T* d, int n) {
    T* d_d;
    CHECK(cudaMalloc(&d_d, n * sizeof(T)));
    CHECK(cudaMemcpy(d_d, d, n * sizeof(T), cudaMemcpyHostToDevice));
    return d_d;
}

template <class T>
static void copy_back(T* d, T* d_d, int n) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(d, d_d, n * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_d));
}

static int whole_warps(int n) { return (n + 31) / 32 * 32; }

namespace cg = cooperative_groups;

__global__ void static_reverse_kernel(int* d, int n) {
    __shared__ int s[STATIC_CAPACITY];
    const auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    if (t < n) s[n - 1 - t] = d[t];
    block.sync();
    if (t < n) d[t] = s[t];
}

__global__ void dynamic_reverse_kernel(int* d) {
    extern __shared__ int s[];
    const auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    s[block.size() - 1 - t] = d[t];
    block.sync();
    d[t] = s[t];
}

__global__ void dynamic_reverse_n_kernel(int* d, int n) {
    extern __shared__ int s[];
    const auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    if (t < n) s[n - 1 - t] = d[t];
    block.sync();
    if (t < n) d[t] = s[t];
}

__device__ int d_size;

__global__ void dynamic_reverse_symbol_kernel(int* d) {
    extern __shared__ int s[];
    const auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    if (t < d_size) s[d_size - 1 - t] = d[t];
    block.sync();
    if (t < d_size) d[t] = s[t];
}

void static_reverse(int* d, int n) {
    if (n <= 0 || n > STATIC_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    static_reverse_kernel<<<1, STATIC_CAPACITY>>>(d_d, n);
    copy_back(d, d_d, n);
}

void dynamic_reverse(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    dynamic_reverse_kernel<<<1, n, n * sizeof(int)>>>(d_d);
    copy_back(d, d_d, n);
}

void dynamic_reverse_n(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    dynamic_reverse_n_kernel<<<1, whole_warps(n), n * sizeof(int)>>>(d_d, n);
    copy_back(d, d_d, n);
}

void dynamic_reverse_symbol(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    CHECK(cudaMemcpyToSymbol(d_size, &n, sizeof n));
    dynamic_reverse_symbol_kernel<<<1, whole_warps(n), n * sizeof(int)>>>(d_d);
    copy_back(d, d_d, n);
}

// Where each of the three begins, in bytes, and where the last one ends.
struct Places {
    int a, b, c, end;
};
__host__ __device__ static Places places(int a_n, int b_n, int c_n) {
    Places at;
    at.a = 0;
    at.b = (at.a + a_n + 3) / 4 * 4;
    at.c = (at.b + 4 * b_n + 7) / 8 * 8;
    at.end = at.c + 8 * c_n;
    return at;
}

__global__ void dynamic_reverse_three_kernel(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    extern __shared__ __align__(8) unsigned char bytes[];
    const Places at = places(a_n, b_n, c_n);
    unsigned char* const a_s = bytes + at.a;
    int* const b_s = reinterpret_cast<int*>(bytes + at.b);
    double* const c_s = reinterpret_cast<double*>(bytes + at.c);
    const int t = threadIdx.x;
    if (t < a_n) a_s[t] = a[t];
    if (t < b_n) b_s[t] = b[t];
    if (t < c_n) c_s[t] = c[t];
    cg::this_thread_block().sync();
    if (t < a_n) a[t] = a_s[a_n - 1 - t];
    if (t < b_n) b[t] = b_s[b_n - 1 - t];
    if (t < c_n) c[t] = c_s[c_n - 1 - t];
}

void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    const int longest = std::max({a_n, b_n, c_n});
    if (std::min({a_n, b_n, c_n}) < 0 || longest == 0 || longest > BLOCK_CAPACITY) return;
    unsigned char* d_a = copy_to_device(a, a_n);
    int* d_b = copy_to_device(b, b_n);
    double* d_c = copy_to_device(c, c_n);
    const int bytes = places(a_n, b_n, c_n).end;
    dynamic_reverse_three_kernel<<<1, whole_warps(longest), bytes>>>(d_a, a_n, d_b, b_n, d_c, c_n);
    copy_back(a, d_a, a_n);
    copy_back(b, d_b, b_n);
    copy_back(c, d_c, c_n);
}

__global__ void rows_strided_kernel(int* d, int rows) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) s[i] = d[i];
    __syncthreads();
    if (threadIdx.x < rows) {
        int* const row = s + threadIdx.x * ROW_WIDTH;
#pragma unroll 1
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

// Element (r, c) lies in column c ^ (r % 32) of its row.
__device__ static int place(int r, int c) { return r * ROW_WIDTH + (c ^ r % 32); }

__global__ void rows_swizzled_kernel(int* d, int rows) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) s[place(i / ROW_WIDTH, i % ROW_WIDTH)] = d[i];
    __syncthreads();
    const int r = threadIdx.x;
    for (int left = 0; r < rows && left < ROW_WIDTH / 2; ++left) {
        const int right = ROW_WIDTH - 1 - left, kept = s[place(r, left)];
        s[place(r, left)] = s[place(r, right)];
        s[place(r, right)] = kept;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * ROW_WIDTH; i += blockDim.x) d[i] = s[place(i / ROW_WIDTH, i % ROW_WIDTH)];
}

static void reverse_rows(void (*kernel)(int*, int), int words, int* d, int rows) {
    if (rows <= 0 || rows > ROWS_CAPACITY) return;
    int* d_d = copy_to_device(d, rows * ROW_WIDTH);
    kernel<<<1, whole_warps(rows), words * sizeof(int)>>>(d_d, rows);
    copy_back(d, d_d, rows * ROW_WIDTH);
}

void rows_strided(int* d, int rows) { reverse_rows(rows_strided_kernel, rows * ROW_WIDTH, d, rows); }

void rows_padded(int* d, int rows) { reverse_rows(rows_swizzled_kernel, rows * ROW_WIDTH, d, rows); }
