// RIGHT (99 points): pitched memory, the mask in a struct; four neighbours of a row a thread, with bank conflicts
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

struct Mask {
    int width, elements;
    float element[MAX_MASK_WIDTH * MAX_MASK_WIDTH];
};
__constant__ Mask mask;

static void set_mask(const float* M, int count) {
    Mask all{};
    all.width = count, all.elements = count;
    for (int i = 0; i < count; ++i) all.element[i] = M[i];
    CHECK(cudaMemcpyToSymbol(mask, &all, sizeof all));
}

__global__ void constant_kernel(const float* N, float* P, int n, int mask_width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    const int first = j - mask_width / 2;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) {
        if (first + i >= 0 && first + i < n) sum += N[first + i] * mask.element[i];
    }
    P[j] = sum;
}

void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    float* d_N = copy_to_device(N, n);
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    constant_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
}

// 3. The block's elements of N, with the halo on both sides, in shared memory.

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
    for (int i = 0; i < mask_width; ++i) sum += tile[threadIdx.x + i] * mask.element[i];
    P[j] = sum;
}

void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    float* d_N = copy_to_device(N, n);
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    tiled_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
}

// 4. Two dimensions: a tile has a halo on four sides and in four corners.

__global__ void tiled_kernel_2d(const float* N, float* P, int height, int width, int mask_width, size_t n_pitch,
                                size_t p_pitch) {
    __shared__ float tile[TILE_HEIGHT + MAX_MASK_WIDTH - 1][TILE_WIDTH + MAX_MASK_WIDTH - 1];
    const int radius = mask_width / 2;
    const int start_x = blockIdx.x * TILE_WIDTH - radius;
    const int start_y = blockIdx.y * TILE_HEIGHT - radius;
    // The block walks over the tile in steps of its own size.
    for (int v = threadIdx.y; v < TILE_HEIGHT + 2 * radius; v += TILE_HEIGHT) {
        for (int u = threadIdx.x; u < TILE_WIDTH + 2 * radius; u += TILE_WIDTH) {
            const int source_x = start_x + u, source_y = start_y + v;
            const bool inside = source_x >= 0 && source_x < width && source_y >= 0 && source_y < height;
            tile[v][u] = inside ? N[source_y * n_pitch + source_x] : 0.0f;
        }
    }
    __syncthreads();

    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int v = 0; v < mask_width; ++v) {
        for (int u = 0; u < mask_width; ++u) {
            sum += tile[threadIdx.y + v][threadIdx.x + u] * mask.element[v * mask_width + u];
        }
    }
    P[y * p_pitch + x] = sum;
}

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const size_t row = width * sizeof(float);
    float *d_N, *d_P;
    size_t n_pitch, p_pitch;
    CHECK(cudaMallocPitch(&d_N, &n_pitch, row, height));
    CHECK(cudaMallocPitch(&d_P, &p_pitch, row + 4, height));
    CHECK(cudaMemcpy2D(d_N, n_pitch, N, row, row, height, cudaMemcpyHostToDevice));
    const dim3 block(TILE_WIDTH, TILE_HEIGHT);
    const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, TILE_HEIGHT));
    set_mask(M, mask_width * mask_width);
    tiled_kernel_2d<<<grid, block>>>(d_N, d_P, height, width, mask_width, n_pitch / sizeof(float),
                                     p_pitch / sizeof(float));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(P, row, d_P, p_pitch, row, height, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_N));
    CHECK(cudaFree(d_P));
}

// 5. Several elements of P for each thread.

// A thread computes four neighbours of a row: the window moves along it, and the mask's rows are read in order.
__global__ void neighbours_kernel(const float* N, float* P, int height, int width, int mask_width, size_t n_pitch,
                                  size_t p_pitch) {
    constexpr int WIDE = 4 * TILE_WIDTH;
    __shared__ float tile[TILE_HEIGHT + MAX_MASK_WIDTH - 1][WIDE + MAX_MASK_WIDTH - 1];
    const int radius = mask_width / 2;
    for (int v = threadIdx.y; v < TILE_HEIGHT + 2 * radius; v += TILE_HEIGHT) {
        for (int u = threadIdx.x; u < WIDE + 2 * radius; u += TILE_WIDTH) {
            const int x = blockIdx.x * WIDE - radius + u, y = blockIdx.y * TILE_HEIGHT - radius + v;
            tile[v][u] = x >= 0 && x < width && y >= 0 && y < height ? N[y * n_pitch + x] : 0.0f;
        }
    }
    __syncthreads();

    float sum[4] = {};
    for (int v = 0; v < mask_width; ++v) {
        const float* const row = &tile[threadIdx.y + v][4 * threadIdx.x];
        float a = row[0], b = row[1], c = row[2];
        for (int u = 0; u < mask_width; ++u) {
            const float d = row[u + 3], weight = mask.element[v * mask_width + u];
            sum[0] += a * weight, sum[1] += b * weight, sum[2] += c * weight, sum[3] += d * weight;
            a = b, b = c, c = d;
        }
    }
    const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
    for (int i = 0; i < 4; ++i) {
        const int x = blockIdx.x * WIDE + 4 * threadIdx.x + i;
        if (x < width && y < height) P[y * p_pitch + x] = sum[i];
    }
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const size_t row = width * sizeof(float);
    float *d_N, *d_P;
    size_t n_pitch, p_pitch;
    CHECK(cudaMallocPitch(&d_N, &n_pitch, row, height));
    CHECK(cudaMallocPitch(&d_P, &p_pitch, row, height));
    CHECK(cudaMemcpy2D(d_N, n_pitch, N, row, row, height, cudaMemcpyHostToDevice));
    set_mask(M, mask_width * mask_width);
    const dim3 grid(blocks_for(width, 4 * TILE_WIDTH), blocks_for(height, TILE_HEIGHT));
    neighbours_kernel<<<grid, dim3(TILE_WIDTH, TILE_HEIGHT)>>>(d_N, d_P, height, width, mask_width,
                                                               n_pitch / sizeof(float), p_pitch / sizeof(float));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(P, row, d_P, p_pitch, row, height, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_N));
    CHECK(cudaFree(d_P));
}
