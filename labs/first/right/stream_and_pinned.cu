// RIGHT: page-locked memory, a stream of its own, memory from the stream's pool, kernels that share one index function
#include "first.h"
#include "check.cuh"

#include <algorithm>

__device__ int index_in_grid() { return blockDim.x * blockIdx.x + threadIdx.x; }

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = index_in_grid();
    if (!(i < n)) return;
    c[i] = b[i] + a[i];
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    const std::size_t bytes = n * sizeof(float);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    float *h, *d;
    CHECK(cudaMallocHost(&h, 3 * bytes));
    CHECK(cudaMallocAsync(&d, 3 * bytes, stream));
    std::copy(a, a + n, h);
    std::copy(b, b + n, h + n);
    CHECK(cudaMemcpyAsync(d, h, 2 * bytes, cudaMemcpyHostToDevice, stream));
    add<<<(n + 63) / 64, 64, 0, stream>>>(d, d + n, d + 2 * n, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(h + 2 * n, d + 2 * n, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(d, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::copy(h + 2 * n, h + 3 * n, c);
    CHECK(cudaFreeHost(h));
    CHECK(cudaStreamDestroy(stream));
}

__global__ void scale(float* x, long long n, float factor) {
    const long long all = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = index_in_grid(); i < n; i += all) x[i] *= factor;
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    float* d_x;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<blocks, threads>>>(d_x, n, factor);
    const cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess) cudaGetLastError();  // forget it, or the next call would find it
    else CHECK(cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    return static_cast<int>(error);
}

__global__ void gray_kernel(const unsigned char* rgb, unsigned char* gray, dim3 size) {
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < size.x && row < size.y) {
        int sum = 0;
        for (int channel = 0; channel < 3; ++channel) {
            const int weight = channel == 0 ? 77 : channel == 1 ? 150 : 29;
            sum += weight * rgb[3 * (row * size.x + column) + channel];
        }
        gray[row * size.x + column] = sum / 256;
    }
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    const int pixels = width * height;
    unsigned char *d_rgb, *d_gray;
    CHECK(cudaMalloc(&d_rgb, 3 * pixels));
    CHECK(cudaMalloc(&d_gray, pixels));
    CHECK(cudaMemcpy(d_rgb, rgb, 3 * pixels, cudaMemcpyHostToDevice));
    const dim3 block(64, 4), grid((width + 63) / 64, (height + 3) / 4);
    gray_kernel<<<grid, block>>>(d_rgb, d_gray, dim3(width, height));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(gray, d_gray, pixels, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rgb));
    CHECK(cudaFree(d_gray));
}
