// RIGHT: zeros around N from the host; four rows a thread from global memory
#include "convolution.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <vector>

// Threads of a block: in one dimension, and in two. A row of a two-dimensional block is one warp.
constexpr int BLOCK_SIZE = 256;
constexpr int TILE_WIDTH = 32, TILE_HEIGHT = 8;

static int blocks_for(int elements, int size) { return (elements + size - 1) / size; }

static bool is_mask_width(int w) { return w >= 1 && w <= MAX_MASK_WIDTH && w % 2 == 1; }

constexpr int RADIUS = MAX_MASK_WIDTH / 2;

// N with RADIUS zeros on all sides that it has (height 1: left and right), in device memory.
static float* copy_to_device(const float* N, int height, int width) {
    const int above = height == 1 ? 0 : RADIUS, wide = width + 2 * RADIUS, high = height + 2 * above;
    std::vector<float> padded(size_t(wide) * high, 0.0f);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) padded[size_t(y + above) * wide + RADIUS + x] = N[size_t(y) * width + x];
    float* copy;
    CHECK(cudaMalloc(&copy, padded.size() * sizeof(float)));
    CHECK(cudaMemcpy(copy, padded.data(), padded.size() * sizeof(float), cudaMemcpyHostToDevice));
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
        sum += N[RADIUS + first + i] * M[i];
    }
    P[j] = sum;
}

void conv1d_naive(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    float* d_N = copy_to_device(N, 1, n);
    float* d_M;
    CHECK(cudaMalloc(&d_M, mask_width * sizeof(float)));
    CHECK(cudaMemcpy(d_M, M, mask_width * sizeof(float), cudaMemcpyHostToDevice));
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    naive_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_M, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
    CHECK(cudaFree(d_M));
}

// 2. The mask in constant memory.

__constant__ float mask[MAX_MASK_WIDTH * MAX_MASK_WIDTH];

static void set_mask(const float* M, int count) { CHECK(cudaMemcpyToSymbol(mask, M, count * sizeof(float))); }

__global__ void constant_kernel(const float* N, float* P, int n, int mask_width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    const int first = j - mask_width / 2;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) {
        sum += N[RADIUS + first + i] * mask[i];
    }
    P[j] = sum;
}

void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    float* d_N = copy_to_device(N, 1, n);
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
        tile[i] = source < n + RADIUS ? N[RADIUS + source] : 0.0f;
    }
    __syncthreads();  // the whole tile is there before anyone reads the neighbours' elements

    const int j = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (j >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) sum += tile[threadIdx.x + i] * mask[i];
    P[j] = sum;
}

void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    float* d_N = copy_to_device(N, 1, n);
    float* d_P;
    CHECK(cudaMalloc(&d_P, n * sizeof(float)));
    tiled_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_P, n, mask_width);
    finish(P, d_N, d_P, n);
}

// 4. Two dimensions: a tile has a halo on four sides and in four corners.

__global__ void tiled_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    __shared__ float tile[TILE_HEIGHT + MAX_MASK_WIDTH - 1][TILE_WIDTH + MAX_MASK_WIDTH - 1];
    const int above = height == 1 ? 0 : RADIUS, pitch = width + 2 * RADIUS;
    const int radius = mask_width / 2;
    const int start_x = blockIdx.x * TILE_WIDTH - radius;
    const int start_y = blockIdx.y * TILE_HEIGHT - radius;
    // The block walks over the tile in steps of its own size.
    for (int v = threadIdx.y; v < TILE_HEIGHT + 2 * radius; v += TILE_HEIGHT) {
        for (int u = threadIdx.x; u < TILE_WIDTH + 2 * radius; u += TILE_WIDTH) {
            const int source_x = start_x + u, source_y = start_y + v;
            const bool inside = source_x < width + RADIUS && source_y < height + above;
            tile[v][u] = inside && source_y >= -above ? N[(above + source_y) * pitch + RADIUS + source_x] : 0.0f;
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

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    const int count = height * width;
    float* d_N = copy_to_device(N, height, width);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    const dim3 block(TILE_WIDTH, TILE_HEIGHT);
    const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, TILE_HEIGHT));
    set_mask(M, mask_width * mask_width);
    tiled_kernel_2d<<<grid, block>>>(d_N, d_P, height, width, mask_width);
    finish(P, d_N, d_P, count);
}

// 5. Several elements of P for each thread.

__global__ void rows_kernel(const float* N, float* P, int height, int width, int mask_width) {
    const int above = height == 1 ? 0 : RADIUS, pitch = width + 2 * RADIUS, high = height + 2 * above;
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int y = 4 * (blockIdx.y * TILE_HEIGHT + threadIdx.y);
    if (x >= width || y >= height) return;
    const int top = above + y - mask_width / 2, left = RADIUS + x - mask_width / 2;
    const auto element = [&](int v, int u) {
        return top + v >= 0 && top + v < high ? N[(top + v) * pitch + left + u] : 0.0f;
    };
    float sum[4] = {};
    for (int u = 0; u < mask_width; ++u) {
        float a = element(0, u), b = element(1, u), c = element(2, u);
        for (int v = 0; v < mask_width; ++v) {
            const float d = element(v + 3, u), weight = mask[v * mask_width + u];
            sum[0] += a * weight, sum[1] += b * weight, sum[2] += c * weight, sum[3] += d * weight;
            a = b, b = c, c = d;
        }
    }
    for (int r = 0; r < 4; ++r) {
        if (y + r < height) P[(y + r) * width + x] = sum[r];
    }
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    float* d_N = copy_to_device(N, height, width);
    float* d_P;
    CHECK(cudaMalloc(&d_P, height * width * sizeof(float)));
    const dim3 block(TILE_WIDTH, TILE_HEIGHT);
    const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, 4 * TILE_HEIGHT));
    set_mask(M, mask_width * mask_width);
    rows_kernel<<<grid, block>>>(d_N, d_P, height, width, mask_width);
    finish(P, d_N, d_P, height * width);
}
