// Lab convolution: weighted sums of neighbours, in one dimension and in two.
// conv1d_naive is complete. The kernel in two dimensions is naive and leaves the borders out; the rest is missing.
// Grade it:  ./warpgrade check convolution      (in this folder)
#include "convolution.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// Threads of a block: in one dimension, and in two. A row of a two-dimensional block is one warp.
constexpr int BLOCK_SIZE = 256;
constexpr int TILE_WIDTH = 32, TILE_HEIGHT = 8;

static int blocks_for(int elements, int size) { return (elements + size - 1) / size; }

static bool is_mask_width(int w) { return w >= 1 && w <= MAX_MASK_WIDTH && w % 2 == 1; }

// A copy of `count` floats in device memory.
static float* copy_to_device(const float* source, int count) {
    float* copy;
    CHECK(cudaMalloc(&copy, count * sizeof(float)));
    CHECK(cudaMemcpy(copy, source, count * sizeof(float), cudaMemcpyHostToDevice));
    return copy;
}

// Waits for the kernel, brings P back and gives the device memory of N and P back.
static void finish(float* P, float* d_N, float* d_P, int count) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(P, d_P, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_N));
    CHECK(cudaFree(d_P));
}

// 1. Given: every operand from global memory.

__global__ void naive_kernel(const float* N, const float* M, float* P, int n, int mask_width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    const int first = j - mask_width / 2;  // the element of N under M[0]
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) {
        if (first + i >= 0 && first + i < n) sum += N[first + i] * M[i];  // ghost elements add nothing
    }
    P[j] = sum;
}

void conv1d_naive(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    float* d_N = copy_to_device(N, n);
    float* d_M = copy_to_device(M, mask_width);
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    naive_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_M, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
    CHECK(cudaFree(d_M));
}

// 2. The mask in constant memory.

// TODO(student): declare `mask`, an array in constant memory that holds the largest mask of the lab (the one in 2D), and
// write a function that copies a mask of `count` elements from the host into it.

// TODO(student): write constant_kernel: naive_kernel without the argument M, with `mask` in its place.

void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    // TODO(student): as conv1d_naive, but set the mask and launch constant_kernel.
}

// 3. The block's elements of N, with the halo on both sides, in shared memory.

// TODO(student): write tiled_kernel. The tile has one element for each thread and mask_width / 2 more on both sides.
// Fill it, wait for the block, then add up without looking at global memory again. Where a ghost element belongs into
// the tile, put what makes every check in the loop over the mask unnecessary.

void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    // TODO(student): as conv1d_constant, but launch tiled_kernel.
}

// 4. Two dimensions: a tile has a halo on four sides and in four corners.

// TODO(student): first make it right: this kernel leaves an element at zero when the mask hangs over a border. Which
// terms of its sum are zero, and which are not?
//
// TODO(student): then make it share: mask in constant memory, and a tile with its halo in shared memory. The tile has
// more elements than the block has threads, for wide masks more than three times as many.
__global__ void kernel_2d(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
    if (x >= width || y >= height) return;
    const int radius = mask_width / 2;
    float sum = 0.0f;
    if (x >= radius && x < width - radius && y >= radius && y < height - radius) {
        for (int v = 0; v < mask_width; ++v) {
            for (int u = 0; u < mask_width; ++u) {
                sum += N[(y - radius + v) * width + x - radius + u] * M[v * mask_width + u];
            }
        }
    }
    P[y * width + x] = sum;
}

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const int count = height * width;
    float* d_N = copy_to_device(N, count);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    const dim3 block(TILE_WIDTH, TILE_HEIGHT);
    const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, TILE_HEIGHT));
    float* d_M = copy_to_device(M, mask_width * mask_width);
    kernel_2d<<<grid, block>>>(d_N, d_M, d_P, height, width, mask_width);
    finish(P, d_N, d_P, count);
    CHECK(cudaFree(d_M));
}

// 5. Several elements of P for each thread: what it loads serves all of them.

// TODO(student): write registers_kernel_2d. A thread computes ROWS elements, one below the other, in as many sums. Each
// element that it takes from the tile, and each weight, is loaded once and used for all sums that need it.

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    // TODO(student): as conv2d_tiled, but launch registers_kernel_2d, with fewer blocks.
    conv2d_tiled(N, M, P, height, width, mask_width);
}
