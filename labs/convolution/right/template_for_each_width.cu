// RIGHT: a template for each width of the mask; in one dimension, each warp has its own tile and no barrier
#include "convolution.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <utility>

__constant__ float mask[MAX_MASK_WIDTH * MAX_MASK_WIDTH];

static bool is_mask_width(int w) { return w >= 1 && w <= MAX_MASK_WIDTH && w % 2 == 1; }

static unsigned blocks_for(int elements, int size) { return (elements + size - 1) / size; }

// Brings N to the device, the mask to constant memory, calls `launch` with N, M and P there, and brings P back.
template <class Launch>
static void convolve_on_device(const float* N, const float* M, float* P, int count, int mask_count, Launch launch) {
    float *d_N, *d_M, *d_P;
    CHECK(cudaMalloc(&d_N, count * sizeof(float)));
    CHECK(cudaMalloc(&d_M, mask_count * sizeof(float)));
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    CHECK(cudaMemcpy(d_N, N, count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_M, M, mask_count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(mask, M, mask_count * sizeof(float)));
    launch(d_N, d_M, d_P);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(P, d_P, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* each : {d_N, d_M, d_P}) CHECK(cudaFree(each));
}

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
    convolve_on_device(N, M, P, n, mask_width, [&](float* d_N, float* d_M, float* d_P) {
        naive_kernel<<<blocks_for(n, 256), 256>>>(d_N, d_M, d_P, n, mask_width);
    });
}

__global__ void constant_kernel(const float* N, float* P, int n, int mask_width) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < mask_width; ++i) {
            const int at = j - mask_width / 2 + i;
            sum += (at >= 0 && at < n ? N[at] : 0.0f) * mask[i];
        }
        P[j] = sum;
    }
}

void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    convolve_on_device(N, M, P, n, mask_width,
                       [&](float* d_N, float*, float* d_P) { constant_kernel<<<4, 256>>>(d_N, d_P, n, mask_width); });
}

__global__ void warps_kernel(const float* N, float* P, int n, int mask_width) {
    __shared__ float tiles[8][32 + MAX_MASK_WIDTH - 1];
    float* const tile = tiles[threadIdx.x / 32];
    const int lane = threadIdx.x % 32, j = blockIdx.x * blockDim.x + threadIdx.x, radius = mask_width / 2;
    for (int i = lane; i < 32 + 2 * radius; i += 32) {
        const int source = j - lane - radius + i;
        tile[i] = source >= 0 && source < n ? N[source] : 0.0f;
    }
    __syncwarp();
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) sum += tile[lane + i] * mask[i];
    if (j < n) P[j] = sum;
}

void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    convolve_on_device(N, M, P, n, mask_width, [&](float* d_N, float*, float* d_P) {
        warps_kernel<<<blocks_for(n, 256), 256>>>(d_N, d_P, n, mask_width);
    });
}

// Each thread computes ROWS elements, one below the other; all loops over the mask have constant bounds.
template <int W, int ROWS>
__global__ void rows_kernel(const float* N, float* P, int height, int width) {
    constexpr int RADIUS = W / 2, HIGH = 8 * ROWS + W - 1, WIDE = 32 + W - 1;
    __shared__ float tile[HIGH][WIDE];
    for (int v = threadIdx.y; v < HIGH; v += 8) {
        for (int u = threadIdx.x; u < WIDE; u += 32) {
            const int x = blockIdx.x * 32 - RADIUS + u, y = blockIdx.y * 8 * ROWS - RADIUS + v;
            tile[v][u] = x >= 0 && x < width && y >= 0 && y < height ? N[y * width + x] : 0.0f;
        }
    }
    __syncthreads();
    float sum[ROWS] = {};
    for (int u = 0; u < W; ++u) {
        float column[W + ROWS - 1];
#pragma unroll
        for (int v = 0; v < W + ROWS - 1; ++v) column[v] = tile[ROWS * threadIdx.y + v][threadIdx.x + u];
#pragma unroll
        for (int v = 0; v < W; ++v) {
            for (int r = 0; r < ROWS; ++r) sum[r] += column[v + r] * mask[v * W + u];
        }
    }
    const int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y * 8 + threadIdx.y) * ROWS;
    for (int r = 0; r < ROWS; ++r) {
        if (x < width && y + r < height) P[(y + r) * width + x] = sum[r];
    }
}

template <int ROWS, int... HALVES>
static void launch_rows(const float* d_N, float* d_P, int height, int width, int mask_width,
                        std::integer_sequence<int, HALVES...>) {
    const dim3 block(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8 * ROWS));
    ((mask_width == 2 * HALVES + 1 ? rows_kernel<2 * HALVES + 1, ROWS><<<grid, block>>>(d_N, d_P, height, width)
                                   : void()),
     ...);
}

template <int ROWS>
static void conv2d(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    convolve_on_device(N, M, P, height * width, mask_width * mask_width, [&](float* d_N, float*, float* d_P) {
        launch_rows<ROWS>(d_N, d_P, height, width, mask_width,
                          std::make_integer_sequence<int, MAX_MASK_WIDTH / 2 + 1>());
    });
}

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    conv2d<1>(N, M, P, height, width, mask_width);
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    conv2d<4>(N, M, P, height, width, mask_width);
}
