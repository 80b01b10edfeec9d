// Lab first: a kernel, its launch and the copies around it, three times.
// It compiles and runs, but does nothing yet. Take one step at a time, and check after each:
//     ./warpgrade check first      (in this folder)
#include "first.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// --- 1. One thread for each element ---------------------------------------------------------------------------------

__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
    // TODO(student): step 1a. Compute i, the number of this thread in the whole grid, from blockIdx.x, blockDim.x and
    // threadIdx.x, and add element i. Not every thread of the last block has an element.
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // Arrays in device memory; here is the first one, the other two are yours.
    const std::size_t bytes = n * sizeof(float);
    float* d_a;
    CHECK(cudaMalloc(&d_a, bytes));
    // TODO(student): step 1b. Allocate d_b and d_c, and copy a and b to the device with cudaMemcpy: destination first,
    // and the size in bytes.

    // TODO(student): step 1c. Launch add_kernel with blocks of 256 threads, and as many of them as give every element a
    // thread. Ask with CHECK(cudaGetLastError()) whether the launch was possible.

    // TODO(student): step 1d. Copy the result to c, and free all three arrays.
    CHECK(cudaFree(d_a));
}

// --- 2. Any number of threads ---------------------------------------------------------------------------------------

__global__ void scale_kernel(float* x, int n, float factor) {
    // TODO(student): step 2a. A loop: begin with the element that has the thread's number, and go on by the number of
    // all threads of the grid, gridDim.x * blockDim.x, until there are no elements left.
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    // TODO(student): step 2b. Allocate, copy, launch with the caller's numbers, copy back and free, as in step 1.
    // step 2c. CHECK ends the program when a launch was not possible. Here, keep what cudaGetLastError() returns after
    // the launch, copy back only if that is cudaSuccess, free in either case, and return it.
    return 0;
}

// --- 3. Two dimensions ----------------------------------------------------------------------------------------------

__global__ void gray_kernel(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // TODO(student): step 3a. Compute this thread's column from the x parts of blockIdx, blockDim and threadIdx, and
    // its row from the y parts. Is there such a pixel? Where in rgb do its three values begin?
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    // TODO(student): step 3b. As in step 1, with const dim3 block(32, 8), and a grid that is rounded up in each
    // direction for itself.
}
