// SOLUTION BEGIN
// STARTER: // Lab first: a kernel, its launch and the copies around it, three times.
// STARTER: // It compiles and runs, but does nothing yet. Take one step at a time, and check after each:
// STARTER: //     ./warpgrade check first      (in this folder)
// Lab first, reference solution: a kernel, its launch and the copies around it, three times.
// Grade it:  ./warpgrade grade first reference/first
// SOLUTION END
#include "first.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// --- 1. One thread for each element ---------------------------------------------------------------------------------

__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
    // SOLUTION BEGIN
    // TODO(student): step 1a. Compute i, the number of this thread in the whole grid, from blockIdx.x, blockDim.x and
    // threadIdx.x, and add element i. Not every thread of the last block has an element.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    // SOLUTION END
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    // Arrays in device memory; here is the first one, the other two are yours.
    const std::size_t bytes = n * sizeof(float);
    float* d_a;
    CHECK(cudaMalloc(&d_a, bytes));
    // SOLUTION BEGIN
    // TODO(student): step 1b. Allocate d_b and d_c, and copy a and b to the device with cudaMemcpy: destination first,
    // and the size in bytes.

    float *d_b, *d_c;
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    CHECK(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice));
    // SOLUTION END

    // SOLUTION BEGIN
    // TODO(student): step 1c. Launch add_kernel with blocks of 256 threads, and as many of them as give every element a
    // thread. Ask with CHECK(cudaGetLastError()) whether the launch was possible.

    const int block = 256;
    const int blocks = (n + block - 1) / block;
    add_kernel<<<blocks, block>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    // SOLUTION END

    // SOLUTION BEGIN
    // TODO(student): step 1d. Copy the result to c, and free all three arrays.
    // STARTER: CHECK(cudaFree(d_a));
    CHECK(cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    // SOLUTION END
}

// --- 2. Any number of threads ---------------------------------------------------------------------------------------

__global__ void scale_kernel(float* x, int n, float factor) {
    // SOLUTION BEGIN
    // TODO(student): step 2a. A loop: begin with the element that has the thread's number, and go on by the number of
    // all threads of the grid, gridDim.x * blockDim.x, until there are no elements left.
    const int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) x[i] *= factor;
    // SOLUTION END
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    // SOLUTION BEGIN
    // TODO(student): step 2b. Allocate, copy, launch with the caller's numbers, copy back and free, as in step 1.
    // step 2c. CHECK ends the program when a launch was not possible. Here, keep what cudaGetLastError() returns after
    // the launch, copy back only if that is cudaSuccess, free in either case, and return it.
    // STARTER: return 0;
    const std::size_t bytes = n * sizeof(float);
    float* d_x;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice));
    scale_kernel<<<blocks, threads>>>(d_x, n, factor);
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) CHECK(cudaMemcpy(x, d_x, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    return error;
    // SOLUTION END
}

// --- 3. Two dimensions ----------------------------------------------------------------------------------------------

__global__ void gray_kernel(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // SOLUTION BEGIN
    // TODO(student): step 3a. Compute this thread's column from the x parts of blockIdx, blockDim and threadIdx, and
    // its row from the y parts. Is there such a pixel? Where in rgb do its three values begin?
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const int pixel = row * width + column;
    const unsigned char* values = rgb + 3 * pixel;
    gray[pixel] = (77 * values[0] + 150 * values[1] + 29 * values[2]) / 256;
    // SOLUTION END
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    // SOLUTION BEGIN
    // TODO(student): step 3b. As in step 1, with const dim3 block(32, 8), and a grid that is rounded up in each
    // direction for itself.
    const std::size_t pixels = static_cast<std::size_t>(width) * height;
    unsigned char *d_rgb, *d_gray;
    CHECK(cudaMalloc(&d_rgb, 3 * pixels));
    CHECK(cudaMalloc(&d_gray, pixels));
    CHECK(cudaMemcpy(d_rgb, rgb, 3 * pixels, cudaMemcpyHostToDevice));

    const dim3 block(32, 8);
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    gray_kernel<<<grid, block>>>(d_rgb, d_gray, width, height);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(gray, d_gray, pixels, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rgb));
    CHECK(cudaFree(d_gray));
    // SOLUTION END
}
