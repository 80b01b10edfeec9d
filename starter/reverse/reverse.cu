// Lab reverse: arrays are reversed through shared memory, which is declared in several ways.
// It compiles and runs, but apart from rows_strided nothing is done yet: the other kernels and most of the
// launches are yours.
// Grade it:  ./warpgrade check reverse      (in this folder)
#include "reverse.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>

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
    // TODO(student): declare an array of STATIC_CAPACITY ints in shared memory. Thread t copies d[t] into it, waits for
    // the other threads of the block, and stores into d[t] the element that belongs there.
}

void static_reverse(int* d, int n) {
    if (n <= 0 || n > STATIC_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    static_reverse_kernel<<<1, n>>>(d_d, n);
    copy_back(d, d_d, n);
}

// 2. The launch gives the size of the shared memory in bytes; the block has one thread for each element.

__global__ void dynamic_reverse_kernel(int* d) {
    // TODO(student): the same with an array of unknown size, declared `extern __shared__ int s[];`.
    // How many elements there are can be told from the size of the block.
}

void dynamic_reverse(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    // TODO(student): launch dynamic_reverse_kernel with one block of n threads and shared memory for n elements.
    copy_back(d, d_d, n);
}

// 3. The block is rounded up to whole warps, and the kernel is told the size by an argument.

inline int whole_warps(int n) { return (n + 31) / 32 * 32; }

__global__ void dynamic_reverse_n_kernel(int* d, int n) {
    // TODO(student): now some threads of the last warp have no element. They must not touch d or the shared array; but
    // where may they skip code, and which statement does every thread of the block have to reach?
}

void dynamic_reverse_n(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    // TODO(student): launch dynamic_reverse_n_kernel with one block of whole_warps(n) threads.
    // Shared memory is still needed for n elements only.
    copy_back(d, d_d, n);
}

// 4. As 3, but the size stands in a variable in device memory.

__device__ int d_size;

__global__ void dynamic_reverse_symbol_kernel(int* d) {
    // TODO(student): as in dynamic_reverse_n_kernel, with the size taken from d_size.
}

void dynamic_reverse_symbol(int* d, int n) {
    if (n <= 0 || n > BLOCK_CAPACITY) return;
    int* d_d = copy_to_device(d, n);
    // TODO(student): set d_size with cudaMemcpyToSymbol, then launch dynamic_reverse_symbol_kernel as above.
    copy_back(d, d_d, n);
}

// 5. Three arrays of different types share the one dynamic allocation of the block.

__global__ void dynamic_reverse_three_kernel(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    // TODO(student): declare one `extern __shared__` array, under another name than the s of the kernels above, which is
    // an array of ints. Make three pointers into it, to where each of the three arrays begins: which order leaves every
    // int and every double aligned, whatever the lengths are? Then move all three as before, with one barrier.
}

void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    const int longest = std::max({a_n, b_n, c_n});
    if (std::min({a_n, b_n, c_n}) < 0 || longest == 0 || longest > BLOCK_CAPACITY) return;
    unsigned char* d_a = copy_to_device(a, a_n);
    int* d_b = copy_to_device(b, b_n);
    double* d_c = copy_to_device(c, c_n);
    // TODO(student): launch dynamic_reverse_three_kernel with one block, whole warps for the longest of the arrays.
    // How many bytes do the three need together?
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
    // TODO(student): as in rows_strided_kernel, with rows that begin further apart in shared memory, though not in d.
    // Three places use the distance between rows: the two copies and the reversal.
}

void rows_padded(int* d, int rows) {
    if (rows <= 0 || rows > ROWS_CAPACITY) return;
    int* d_d = copy_to_device(d, rows * ROW_WIDTH);
    // TODO(student): launch rows_padded_kernel instead. How much shared memory do the rows take now?
    rows_strided_kernel<<<1, whole_warps(rows), rows * ROW_WIDTH * sizeof(int)>>>(d_d, rows);
    copy_back(d, d_d, rows * ROW_WIDTH);
}
