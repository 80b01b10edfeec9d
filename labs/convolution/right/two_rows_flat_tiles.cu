// RIGHT: blocks of 100, 64 and 16 × 32 threads; loops that leave out the ghosts, a halo in three parts, flat tiles; two
// rows a thread
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "convolution.h"

constexpr int BLOCK_SIZE = 256;

static int blocks_for(int elements, int size) { return (elements + size - 1) / size; }

static bool is_mask_width(int w) { return w >= 1 && w <= MAX_MASK_WIDTH && w % 2 == 1; }

// Brings N to the device, launches, and brings P back.
template <class Launch>
static void convolve_on_device(const float* N, float* P, int count, Launch launch) {
    const size_t bytes = count * sizeof(float);
    float *d_N, *d_P;
    CHECK(cudaMalloc(&d_N, bytes));
    CHECK(cudaMemcpy(d_N, N, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&d_P, bytes));
    launch(d_N, d_P);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
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
    float* d_M;
    CHECK(cudaMalloc(&d_M, mask_width * sizeof(float)));
    CHECK(cudaMemcpy(d_M, M, mask_width * sizeof(float), cudaMemcpyHostToDevice));
    convolve_on_device(N, P, n, [=](const float* d_N, float* d_P) {
        naive_kernel<<<blocks_for(n, BLOCK_SIZE), BLOCK_SIZE>>>(d_N, d_M, d_P, n, mask_width);
    });
    CHECK(cudaFree(d_M));
}

__constant__ float mask[MAX_MASK_WIDTH * MAX_MASK_WIDTH];
static void set_mask(const float* M, int count) { CHECK(cudaMemcpyToSymbol(mask, M, count * sizeof(float))); }

__global__ void constant_kernel(const float* N, float* P, int n, int mask_width) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) {
        const int r = mask_width / 2;
        const int low = j < r ? r - j : 0, high = j + r >= n ? n - j + r : mask_width;
        float sum = 0.0f;
        for (int i = low; i < high; ++i) sum += __ldg(&N[j - r + i]) * mask[i];
        P[j] = sum;
    }
}

void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    convolve_on_device(N, P, n, [=](const float* d_N, float* d_P) {
        constant_kernel<<<(n + 99) / 100, 100>>>(d_N, d_P, n, mask_width);
    });
}

__global__ void tiled_kernel(const float* N, float* P, int n, int mask_width) {
    __shared__ float tile[64 + MAX_MASK_WIDTH - 1];
    const int r = mask_width / 2, j = blockIdx.x * 64 + threadIdx.x, x = threadIdx.x;
    const int before = j - 64;
    if (x >= 64 - r) tile[x - (64 - r)] = before < 0 ? 0.0f : N[before];
    tile[r + x] = j < n ? N[j] : 0.0f;
    if (x < r) tile[r + 64 + x] = j + 64 < n ? N[j + 64] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) sum += tile[x + i] * mask[i];
    if (j < n) P[j] = sum;
}

void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width);
    convolve_on_device(
        N, P, n, [=](const float* d_N, float* d_P) { tiled_kernel<<<(n + 63) / 64, 64>>>(d_N, d_P, n, mask_width); });
}

// A flat tile, filled by one index; blocks of 16 x 32 threads
__global__ void tiled_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    extern __shared__ float flat[];
    const int r = mask_width / 2, w = 16 + 2 * r, h = 32 + 2 * r;
    const int left = blockIdx.x * 16 - r, top = blockIdx.y * 32 - r;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < w * h; i += 512) {
        const int y = top + i / w, x = left + i % w;
        flat[i] = y >= 0 && y < height && x >= 0 && x < width ? N[y * width + x] : 0.0f;
    }
    __syncthreads();
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int v = 0; v < mask_width; ++v)
        for (int u = 0; u < mask_width; ++u)
            sum += flat[(threadIdx.y + v) * w + threadIdx.x + u] * mask[v * mask_width + u];
    P[y * width + x] = sum;
}

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width * mask_width);
    const int r = mask_width / 2;
    convolve_on_device(N, P, height * width, [=](const float* d_N, float* d_P) {
        tiled_kernel_2d<<<dim3((width + 15) / 16, (height + 31) / 32), dim3(16, 32),
                          (16 + 2 * r) * (32 + 2 * r) * sizeof(float)>>>(d_N, d_P, height, width, mask_width);
    });
}

// Two elements one below the other, weights from constant memory.
__global__ void registers_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    __shared__ float tile[16 + MAX_MASK_WIDTH - 1][32 + MAX_MASK_WIDTH - 1];
    const int r = mask_width / 2, left = blockIdx.x * 32 - r, top = blockIdx.y * 16 - r;
    for (int v = threadIdx.y; v < 16 + 2 * r; v += 8)
        for (int u = threadIdx.x; u < 32 + 2 * r; u += 32) {
            const int y = top + v, x = left + u;
            tile[v][u] = y >= 0 && y < height && x >= 0 && x < width ? N[y * width + x] : 0.0f;
        }
    __syncthreads();
    float upper = 0, lower = 0;
    for (int u = 0; u < mask_width; ++u) {
        float element = tile[2 * threadIdx.y][threadIdx.x + u];
        for (int v = 0; v < mask_width; ++v) {
            const float next = tile[2 * threadIdx.y + v + 1][threadIdx.x + u];
            const float weight = mask[v * mask_width + u];
            upper += element * weight;
            lower += next * weight;
            element = next;
        }
    }
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + 2 * threadIdx.y;
    if (x < width && y < height) P[y * width + x] = upper;
    if (x < width && y + 1 < height) P[(y + 1) * width + x] = lower;
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    set_mask(M, mask_width * mask_width);
    convolve_on_device(N, P, height * width, [=](const float* d_N, float* d_P) {
        registers_kernel_2d<<<dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 8)>>>(d_N, d_P, height, width,
                                                                                          mask_width);
    });
}
