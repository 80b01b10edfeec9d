// Lab step: r = d ∘ d, the min-plus product, in five versions, each faster than the one before.
// All five are right, but so far all of them are version 0.
// Grade it:  ./warpgrade check step      (in this folder)
#include "step.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <cmath>

inline int divide_up(int a, int b) { return (a + b - 1) / b; }

// Versions 0 and 1: one thread for each element of r.

constexpr int BLOCK = 16;  // a block has BLOCK × BLOCK threads

using Kernel = void (*)(float* r, const float* d, int n);

// Copies d to the device, launches the kernel, and brings r back.
static void run(Kernel kernel, float* r, const float* d, int n) {
    if (n <= 0) return;
    const size_t bytes = sizeof(float) * n * n;
    float *d_r, *d_d;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    const dim3 block(BLOCK, BLOCK);
    const dim3 grid(divide_up(n, BLOCK), divide_up(n, BLOCK));
    kernel<<<grid, block>>>(d_r, d_d, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
}

__global__ void step_v0_kernel(float* r, const float* d, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int j = blockIdx.y * BLOCK + threadIdx.y;
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) {
        shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    }
    r[n * i + j] = shortest;
}

void step_v0(float* r, const float* d, int n) { run(step_v0_kernel, r, d, n); }

__global__ void step_v1_kernel(float* r, const float* d, int n) {
    // TODO(student): this is version 0. Which elements of d do the threads of a warp load for one k, and in how many
    // sectors do those lie? Let a warp load neighbours.
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int j = blockIdx.y * BLOCK + threadIdx.y;
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) {
        shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    }
    r[n * i + j] = shortest;
}

void step_v1(float* r, const float* d, int n) { run(step_v1_kernel, r, d, n); }

// The copies, and what loads from them. In versions 2 and 3, a block of THREADS × THREADS threads computes PART × PART
// elements of r, each thread EACH × EACH of them.

constexpr int THREADS = 8;
constexpr int EACH = 8;
constexpr int PART = THREADS * EACH;

// d, padded to nn × nn elements, in padded[0 … nn²), and its transpose behind it, in padded[nn² … 2·nn²). What was not
// there is +infinity, the length of an edge that does not exist. A block of PART threads copies PART elements of a row.
__global__ void pad_and_transpose_kernel(float* padded, const float* d, int n, int nn) {
    // TODO(student): the launch is in run_padded. This thread has one element (i, j) of the nn × nn: load it, if d has
    // it, and store it twice.
}

// Brings both copies back, so that they can be looked at.
void pad_and_transpose(float* copies, const float* d, int n) {
    if (n <= 0) return;
    const int nn = divide_up(n, PART) * PART;
    const size_t copied = sizeof(float) * 2 * nn * nn;
    float *d_from, *d_copies;
    CHECK(cudaMalloc(&d_from, sizeof(float) * n * n));
    CHECK(cudaMalloc(&d_copies, copied));
    CHECK(cudaMemcpy(d_from, d, sizeof(float) * n * n, cudaMemcpyHostToDevice));
    pad_and_transpose_kernel<<<dim3(nn / PART, nn), PART>>>(d_copies, d_from, n, nn);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(copies, d_copies, copied, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_from));
    CHECK(cudaFree(d_copies));
}

using PaddedKernel = void (*)(float* r, const float* padded, int n, int nn);

// Copies d to the device, pads and transposes it there, launches the kernel, and brings r back. A block computes `rows`
// rows of r, PART elements of each.
inline void run_padded(PaddedKernel kernel, float* r, const float* d, int n, int rows = PART) {
    if (n <= 0) return;
    const int nn = divide_up(n, PART) * PART;
    const size_t bytes = sizeof(float) * n * n;
    const size_t padded_bytes = sizeof(float) * 2 * nn * nn;
    float *d_r, *d_d, *d_padded;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMalloc(&d_padded, padded_bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    pad_and_transpose_kernel<<<dim3(nn / PART, nn), PART>>>(d_padded, d_d, n, nn);
    CHECK(cudaGetLastError());
    kernel<<<dim3(nn / PART, nn / rows), dim3(THREADS, THREADS)>>>(d_r, d_padded, n, nn);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));  // waits for the kernels
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
    CHECK(cudaFree(d_padded));
}

// One idea before the next: 1 × EACH elements of r for each thread.
__global__ void step_1x8_kernel(float* r, const float* padded, int n, int nn) {
    // TODO(student): thread (x, y) has row y of the block and columns x, x + 8, x + 16, … of its part. Keep EACH
    // results in an array. For each k load one element of this thread's row, and EACH of row k; combine it with each.
}

void step_1x8(float* r, const float* d, int n) {
    // TODO(student): run_padded(step_1x8_kernel, r, d, n, THREADS), when both kernels are written.
    run(step_v0_kernel, r, d, n);
}

__global__ void step_v2_kernel(float* r, const float* padded, int n, int nn) {
    // TODO(student): keep EACH × EACH results in an array of this thread. Thread (x, y) has rows y, y + 8, y + 16, …
    // and columns x, x + 8, x + 16, … of the block's part of r. For each k load EACH elements of row k of the transposed
    // copy (they belong to the rows of r) and EACH of row k of the first copy (its columns), then combine each with each.
    // At the end store those results that lie within r.
}

void step_v2(float* r, const float* d, int n) {
    // TODO(student): run_padded(step_v2_kernel, r, d, n), when the kernel is written.
    run(step_v0_kernel, r, d, n);
}

__global__ void step_v3_kernel(float* r, const float* padded, int n, int nn) {
    // TODO(student): as version 2, but for each 4 values of k, or 8, the block first copies what all of its threads need
    // into shared memory: PART elements of either copy for each k, and it has PART threads. Where are the barriers?
}

void step_v3(float* r, const float* d, int n) {
    // TODO(student): run_padded(step_v3_kernel, r, d, n), when the kernel is written.
    run(step_v0_kernel, r, d, n);
}

// Version 4: whatever you like.
// TODO(student): where does version 3 still spend its time? Look at the time of both of its kernels, not only at the
// larger one.

void step_v4(float* r, const float* d, int n) { run(step_v0_kernel, r, d, n); }
