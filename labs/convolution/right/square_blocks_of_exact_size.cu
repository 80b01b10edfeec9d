// RIGHT: exact dynamic tiles, blocks of 16 × 16, two by two elements a thread, with bank conflicts
#include "convolution.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

__constant__ float mask[MAX_MASK_WIDTH * MAX_MASK_WIDTH];

static bool is_mask_width(int w) { return w >= 1 && w <= MAX_MASK_WIDTH && w % 2 == 1; }

static unsigned blocks_for(int elements, int size) { return (elements + size - 1) / size; }

static float* copy_to_device(const float* source, int count) {
    float* copy;
    CHECK(cudaMalloc(&copy, count * sizeof(float)));
    CHECK(cudaMemcpy(copy, source, count * sizeof(float), cudaMemcpyHostToDevice));
    return copy;
}

// Brings N to the device, the mask to constant memory, calls `launch` with N and P there, and brings P back.
template <class Launch>
static void convolve_on_device(const float* N, const float* M, float* P, int count, int mask_count, Launch launch) {
    float *d_N = copy_to_device(N, count), *d_P;
    CHECK(cudaMalloc(&d_P, count * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(mask, M, mask_count * sizeof(float)));
    launch(d_N, d_P);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(P, d_P, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_N));
    CHECK(cudaFree(d_P));
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
    float* d_M = copy_to_device(M, mask_width);
    convolve_on_device(N, M, P, n, mask_width, [&](float* d_N, float* d_P) {
        naive_kernel<<<blocks_for(n, 128), 128>>>(d_N, d_M, d_P, n, mask_width);
    });
    CHECK(cudaFree(d_M));
}

__global__ void constant_kernel(const float* N, float* P, int n, int mask_width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    // Only the weights that meet no ghost.
    const int radius = mask_width / 2, begin = max(0, radius - j), end = min(mask_width, n + radius - j);
    float sum = 0.0f;
    for (int i = begin; i < end; ++i) sum += N[j - radius + i] * mask[i];
    P[j] = sum;
}

void conv1d_constant(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    convolve_on_device(N, M, P, n, mask_width, [&](float* d_N, float* d_P) {
        constant_kernel<<<blocks_for(n, 128), 128>>>(d_N, d_P, n, mask_width);
    });
}

__global__ void tiled_kernel(const float* N, float* P, int n, int mask_width) {
    extern __shared__ float tile[];
    const int t = threadIdx.x, block = blockDim.x, j = blockIdx.x * block + t, radius = mask_width / 2;
    tile[radius + t] = j < n ? N[j] : 0.0f;
    if (t < radius) {
        tile[t] = j >= radius ? N[j - radius] : 0.0f;
        tile[radius + block + t] = j + block < n ? N[j + block] : 0.0f;
    }
    __syncthreads();
    if (j >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) sum += tile[t + i] * mask[i];
    P[j] = sum;
}

void conv1d_tiled(const float* N, const float* M, float* P, int n, int mask_width) {
    if (n <= 0 || !is_mask_width(mask_width)) return;
    convolve_on_device(N, M, P, n, mask_width, [&](float* d_N, float* d_P) {
        tiled_kernel<<<blocks_for(n, 128), 128, (128 + mask_width - 1) * sizeof(float)>>>(d_N, d_P, n, mask_width);
    });
}

// Fills the tile of a block of 16 × 16 threads with `each` × `each` elements of P for a thread.
__device__ void fill_tile(float* tile, int pitch, int each, const float* N, int height, int width, int radius) {
    const int size = 16 * each, side = size + 2 * radius;
    for (int v = threadIdx.y; v < side; v += 16) {
        for (int u = threadIdx.x; u < side; u += 16) {
            const int x = blockIdx.x * size - radius + u, y = blockIdx.y * size - radius + v;
            tile[v * pitch + u] = x >= 0 && x < width && y >= 0 && y < height ? N[y * width + x] : 0.0f;
        }
    }
    __syncthreads();
}

__global__ void one_kernel(const float* N, float* P, int height, int width, int mask_width, int pitch) {
    extern __shared__ float tile[];
    fill_tile(tile, pitch, 1, N, height, width, mask_width / 2);
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int v = 0; v < mask_width; ++v) {
        for (int u = 0; u < mask_width; ++u) {
            sum += tile[(threadIdx.y + v) * pitch + threadIdx.x + u] * mask[v * mask_width + u];
        }
    }
    P[y * width + x] = sum;
}

__global__ void two_by_two_kernel(const float* N, float* P, int height, int width, int mask_width, int pitch) {
    extern __shared__ float tile[];
    fill_tile(tile, pitch, 2, N, height, width, mask_width / 2);
    const int left = 2 * threadIdx.x, top = 2 * threadIdx.y;
    float upper_left = 0.0f, upper_right = 0.0f, lower_left = 0.0f, lower_right = 0.0f;
    for (int v = 0; v < mask_width; ++v) {
        const float* const upper = &tile[(top + v) * pitch + left];
        float a = upper[0], c = upper[pitch];
        for (int u = 0; u < mask_width; ++u) {
            const float b = upper[u + 1], d = upper[pitch + u + 1], weight = mask[v * mask_width + u];
            upper_left += a * weight, upper_right += b * weight, lower_left += c * weight, lower_right += d * weight;
            a = b, c = d;
        }
    }
    const int x = blockIdx.x * 32 + left, y = blockIdx.y * 32 + top;
    if (x < width && y < height) P[y * width + x] = upper_left;
    if (x + 1 < width && y < height) P[y * width + x + 1] = upper_right;
    if (x < width && y + 1 < height) P[(y + 1) * width + x] = lower_left;
    if (x + 1 < width && y + 1 < height) P[(y + 1) * width + x + 1] = lower_right;
}

void conv2d_tiled(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    // Two rows of 16 threads read without conflicts if rows of the tile lie 16 banks apart.
    const int side = 16 + mask_width - 1, pitch = 48;
    convolve_on_device(N, M, P, height * width, mask_width * mask_width, [&](float* d_N, float* d_P) {
        const dim3 block(16, 16), grid(blocks_for(width, 16), blocks_for(height, 16));
        one_kernel<<<grid, block, side * pitch * sizeof(float)>>>(d_N, d_P, height, width, mask_width, pitch);
    });
}

void conv2d_registers(const float* N, const float* M, float* P, int height, int width, int mask_width) {
    if (height <= 0 || width <= 0 || !is_mask_width(mask_width)) return;
    // Two rows of threads lie two rows of the tile apart: an odd number of words puts the one's lanes between the
    // other's.
    const int side = 32 + mask_width - 1, pitch = side | 1;
    convolve_on_device(N, M, P, height * width, mask_width * mask_width, [&](float* d_N, float* d_P) {
        const dim3 block(16, 16), grid(blocks_for(width, 32), blocks_for(height, 32));
        two_by_two_kernel<<<grid, block, side * pitch * sizeof(float)>>>(d_N, d_P, height, width, mask_width, pitch);
    });
}
