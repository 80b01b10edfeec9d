// SOLUTION BEGIN
// STARTER: // Lab convolution: weighted sums of neighbours, in one dimension and in two.
// STARTER: // conv1d_naive is complete. The kernel in two dimensions is naive and leaves the borders out; the rest is missing.
// STARTER: // Grade it:  ./warpgrade check convolution      (in this folder)
// Lab convolution, reference solution: the mask in constant memory, tiles with their halo in shared memory.
// Grade it:  ./warpgrade grade convolution reference/convolution
// SOLUTION END
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

// SOLUTION BEGIN
// TODO(student): declare `mask`, an array in constant memory that holds the largest mask of the lab (the one in 2D), and
// write a function that copies a mask of `count` elements from the host into it.
// STARTER:
__constant__ float mask[MAX_MASK_WIDTH * MAX_MASK_WIDTH];

static void set_mask(const float* M, int count) { CHECK(cudaMemcpyToSymbol(mask, M, count * sizeof(float))); }

// TODO(student): write constant_kernel: naive_kernel without the argument M, with `mask` in its place.
// STARTER:
__global__ void constant_kernel(const float* N, float* P, int n, int mask_width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    const int first = j - mask_width / 2;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) {
        if (first + i >= 0 && first + i < n) sum += N[first + i] * mask[i];
    }
    P[j] = sum;
}

// SOLUTION END
void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    // SOLUTION BEGIN
    // TODO(student): as conv1d_naive, but set the mask and launch constant_kernel.
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    float* d_N = copy_to_device(N, n);
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    constant_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
    // SOLUTION END
}

// 3. The block's elements of N, with the halo on both sides, in shared memory.

// SOLUTION BEGIN
// TODO(student): write tiled_kernel. The tile has one element for each thread and mask_width / 2 more on both sides.
// Fill it, wait for the block, then add up without looking at global memory again. Where a ghost element belongs into
// the tile, put what makes every check in the loop over the mask unnecessary.
// STARTER:
__global__ void tiled_kernel(const float* N, float* P, int n, int mask_width) {
    __shared__ float tile[BLOCK_SIZE + MAX_MASK_WIDTH - 1];
    const int radius = mask_width / 2;
    const int start = blockIdx.x * BLOCK_SIZE - radius;  // the element of N that tile[0] holds
    for (int i = threadIdx.x; i < BLOCK_SIZE + 2 * radius; i += BLOCK_SIZE) {
        const int source = start + i;
        tile[i] = source >= 0 && source < n ? N[source] : 0.0f;
    }
    __syncthreads();  // the whole tile is there before anyone reads the neighbours' elements

    const int j = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (j >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) sum += tile[threadIdx.x + i] * mask[i];
    P[j] = sum;
}

// SOLUTION END
void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    // SOLUTION BEGIN
    // TODO(student): as conv1d_constant, but launch tiled_kernel.
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    float* d_N = copy_to_device(N, n);
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    tiled_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
    // SOLUTION END
}

// 4. Two dimensions: a tile has a halo on four sides and in four corners.

// SOLUTION BEGIN
// TODO(student): first make it right: this kernel leaves an element at zero when the mask hangs over a border. Which
// terms of its sum are zero, and which are not?
//
// TODO(student): then make it share: mask in constant memory, and a tile with its halo in shared memory. The tile has
// more elements than the block has threads, for wide masks more than three times as many.
// STARTER: __global__ void kernel_2d(const float* N, const float* M, float* P, int height, int width, int mask_width) {
// STARTER:     const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
// STARTER:     const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
// STARTER:     if (x >= width || y >= height) return;
// STARTER:     const int radius = mask_width / 2;
// STARTER:     float sum = 0.0f;
// STARTER:     if (x >= radius && x < width - radius && y >= radius && y < height - radius) {
// STARTER:         for (int v = 0; v < mask_width; ++v) {
// STARTER:             for (int u = 0; u < mask_width; ++u) {
// STARTER:                 sum += N[(y - radius + v) * width + x - radius + u] * M[v * mask_width + u];
// STARTER:             }
// STARTER:         }
// STARTER:     }
// STARTER:     P[y * width + x] = sum;
// STARTER: }
// N(y, x), or zero for a ghost element.
__device__ float element(const float* N, int height, int width, int y, int x) {
    return y >= 0 && y < height && x >= 0 && x < width ? N[y * width + x] : 0.0f;
}

__global__ void tiled_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    __shared__ float tile[TILE_HEIGHT + MAX_MASK_WIDTH - 1][TILE_WIDTH + MAX_MASK_WIDTH - 1];
    const int radius = mask_width / 2;
    const int start_x = blockIdx.x * TILE_WIDTH - radius, start_y = blockIdx.y * TILE_HEIGHT - radius;
    // The block walks over the tile in steps of its own size.
    for (int v = threadIdx.y; v < TILE_HEIGHT + 2 * radius; v += TILE_HEIGHT) {
        for (int u = threadIdx.x; u < TILE_WIDTH + 2 * radius; u += TILE_WIDTH) {
            tile[v][u] = element(N, height, width, start_y + v, start_x + u);
        }
    }
    __syncthreads();

    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int v = 0; v < mask_width; ++v) {
        for (int u = 0; u < mask_width; ++u) {
            sum += tile[threadIdx.y + v][threadIdx.x + u] * mask[v * mask_width + u];
        }
    }
    P[y * width + x] = sum;
}
// SOLUTION END

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const int count = height * width;
    float* d_N = copy_to_device(N, count);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    const dim3 block(TILE_WIDTH, TILE_HEIGHT);
    const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, TILE_HEIGHT));
    // SOLUTION BEGIN
    // STARTER: float* d_M = copy_to_device(M, mask_width * mask_width);
    // STARTER: kernel_2d<<<grid, block>>>(d_N, d_M, d_P, height, width, mask_width);
    set_mask(M, mask_width * mask_width);
    tiled_kernel_2d<<<grid, block>>>(d_N, d_P, height, width, mask_width);
    // SOLUTION END
    finish(P, d_N, d_P, count);
    // SOLUTION BEGIN
    // STARTER: CHECK(cudaFree(d_M));
    // SOLUTION END
}

// 5. Several elements of P for each thread: what it loads serves all of them.

// SOLUTION BEGIN
// TODO(student): write registers_kernel_2d. A thread computes ROWS elements, one below the other, in as many sums. Each
// element that it takes from the tile, and each weight, is loaded once and used for all sums that need it.
// STARTER:
constexpr int ROWS = 8;  // elements of P for each thread

// The mask's width is known to the compiler, which unrolls the loops over it: a column's elements stay in registers.
template <int WIDTH>
__global__ void registers_kernel_2d(const float* N, float* P, int height, int width) {
    constexpr int BLOCK_ROWS = ROWS * TILE_HEIGHT, THREADS = TILE_WIDTH * TILE_HEIGHT;
    constexpr int TILE_ROWS = BLOCK_ROWS + WIDTH - 1, TILE_COLUMNS = TILE_WIDTH + WIDTH - 1;
    __shared__ float tile[TILE_ROWS][TILE_COLUMNS];
    const int start_x = blockIdx.x * TILE_WIDTH - WIDTH / 2, start_y = blockIdx.y * BLOCK_ROWS - WIDTH / 2;
    // One row after the other, so that no thread waits while others load the few columns of the halo.
    for (int i = threadIdx.y * TILE_WIDTH + threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += THREADS) {
        const int v = i / TILE_COLUMNS, u = i % TILE_COLUMNS;
        tile[v][u] = element(N, height, width, start_y + v, start_x + u);
    }
    __syncthreads();

    float sum[ROWS] = {};
    const int top = ROWS * threadIdx.y;  // the row of the tile that the mask's first row meets for sum[0]
    for (int u = 0; u < WIDTH; ++u) {
        float column[ROWS + WIDTH - 1];  // what a column of the mask meets, for all sums
        for (int v = 0; v < ROWS + WIDTH - 1; ++v) column[v] = tile[top + v][threadIdx.x + u];
        for (int v = 0; v < WIDTH; ++v) {
            const float weight = mask[v * WIDTH + u];
            for (int r = 0; r < ROWS; ++r) sum[r] += column[v + r] * weight;
        }
    }
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    for (int r = 0; r < ROWS; ++r) {
        const int y = blockIdx.y * BLOCK_ROWS + top + r;
        if (x < width && y < height) P[y * width + x] = sum[r];
    }
}

// Launches the kernel of this width, or of the next narrower one.
template <int WIDTH = MAX_MASK_WIDTH>
static void launch_registers_kernel(const float* d_N, float* d_P, int height, int width, int mask_width) {
    if (mask_width == WIDTH) {
        const dim3 block(TILE_WIDTH, TILE_HEIGHT);
        const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, ROWS * TILE_HEIGHT));
        registers_kernel_2d<WIDTH><<<grid, block>>>(d_N, d_P, height, width);
    } else if constexpr (WIDTH > 1) {
        launch_registers_kernel<WIDTH - 2>(d_N, d_P, height, width, mask_width);
    }
}

// SOLUTION END
void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    // SOLUTION BEGIN
    // TODO(student): as conv2d_tiled, but launch registers_kernel_2d, with fewer blocks.
    // STARTER: conv2d_tiled(N, M, P, height, width, mask_width);
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const int count = height * width;
    set_mask(M, mask_width * mask_width);
    float* d_N = copy_to_device(N, count);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    launch_registers_kernel(d_N, d_P, height, width, mask_width);
    finish(P, d_N, d_P, count);
    // SOLUTION END
}
