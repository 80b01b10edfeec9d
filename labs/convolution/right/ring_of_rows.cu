// RIGHT: tiles that move down the image as a ring of rows; blocks that walk over tiles, a template for each mask, eight
// rows a thread
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "convolution.h"

constexpr int BLOCK_SIZE = 256;

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

__constant__ float mask[MAX_MASK_WIDTH * MAX_MASK_WIDTH];

static void set_mask(const float* M, int count) { CHECK(cudaMemcpyToSymbol(mask, M, count * sizeof(float))); }

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
    for (int i = 0; i < mask_width; ++i) sum += tile[threadIdx.x + i] * mask[i];
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

// 64 x 4 threads; each warp fills rows of the tile; the tile in steps down the image keeps the rows it has (a ring).
__global__ void tiled_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    __shared__ float tile[4 + MAX_MASK_WIDTH - 1][64 + MAX_MASK_WIDTH - 1];
    const int r = mask_width / 2, left = blockIdx.x * 64 - r, high = 4 + 2 * r;
    const int top = blockIdx.y * 32, thread = threadIdx.y * 64 + threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int x = blockIdx.x * 64 + threadIdx.x;
    int filled = top - r;  // the first row that is not in the ring yet
    for (int band = top; band < top + 32 && band < height; band += 4) {
        const int end = band + 4 + r;
        for (int y = filled + warp; y < end; y += 8)
            for (int u = lane; u < 64 + 2 * r; u += 32)
                tile[(y + high) % high][u] =
                    y >= 0 && y < height && left + u >= 0 && left + u < width ? N[y * width + left + u] : 0.0f;
        filled = end;
        __syncthreads();
        const int y = band + threadIdx.y;
        if (x < width && y < height) {
            float sum = 0.0f;
            for (int v = 0; v < mask_width; ++v) {
                const float* row = tile[(y - r + v + high) % high] + threadIdx.x;
                for (int u = 0; u < mask_width; ++u) sum += row[u] * mask[v * mask_width + u];
            }
            P[y * width + x] = sum;
        }
        __syncthreads();
    }
}

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width * mask_width);
    const int count = height * width;
    float* d_N = copy_to_device(N, count);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    tiled_kernel_2d<<<dim3((width + 63) / 64, (height + 31) / 32), dim3(64, 4)>>>(d_N, d_P, height, width, mask_width);
    finish(P, d_N, d_P, count);
}
// A template for each mask; eight rows a thread; blocks walk over tiles.
template <int W>
__global__ void registers_kernel_2d(const float* N, float* P, int height, int width) {
    constexpr int R = W / 2, ROWS = 8, HIGH = 4 * ROWS;
    __shared__ float tile[HIGH + W - 1][32 + W - 1];
    const int across = (width + 31) / 32, down = (height + HIGH - 1) / HIGH;
    for (int t = blockIdx.x; t < across * down; t += gridDim.x) {
        const int left = t % across * 32, top = t / across * HIGH;
        for (int v = threadIdx.y; v < HIGH + W - 1; v += 4)
            for (int u = threadIdx.x; u < 32 + W - 1; u += 32) {
                const int y = top - R + v, x = left - R + u;
                tile[v][u] = y >= 0 && y < height && x >= 0 && x < width ? N[y * width + x] : 0.0f;
            }
        __syncthreads();
        float sum[ROWS] = {};
        for (int u = 0; u < W; ++u) {
            float column[ROWS + W - 1];
#pragma unroll
            for (int v = 0; v < ROWS + W - 1; ++v) column[v] = tile[threadIdx.y * ROWS + v][threadIdx.x + u];
#pragma unroll
            for (int v = 0; v < W; ++v)
#pragma unroll
                for (int k = 0; k < ROWS; ++k) sum[k] += column[v + k] * mask[v * W + u];
        }
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            const int y = top + threadIdx.y * ROWS + k, x = left + threadIdx.x;
            if (x < width && y < height) P[y * width + x] = sum[k];
        }
        __syncthreads();
    }
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width * mask_width);
    const int count = height * width;
    float* d_N = copy_to_device(N, count);
    float* d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    const int tiles = (width + 31) / 32 * ((height + 31) / 32);
    const int blocks = tiles < 64 ? tiles : 64;
    const dim3 block(32, 4);
    switch (mask_width) {
        case 1:
            registers_kernel_2d<1><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        case 3:
            registers_kernel_2d<3><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        case 5:
            registers_kernel_2d<5><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        case 7:
            registers_kernel_2d<7><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        case 9:
            registers_kernel_2d<9><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        case 11:
            registers_kernel_2d<11><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        case 13:
            registers_kernel_2d<13><<<blocks, block>>>(d_N, d_P, height, width);
            break;
        default:
            registers_kernel_2d<15><<<blocks, block>>>(d_N, d_P, height, width);
    }
    finish(P, d_N, d_P, count);
}
