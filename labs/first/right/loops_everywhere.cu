// RIGHT: grid-stride loops in all kernels, one allocation for three vectors, blocks of 100 threads, the first error of all calls
#include "first.h"
#include "check.cuh"

__global__ void add(const float* all, float* c, int n) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) c[i] = all[i] + all[n + i];
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    float* all;  // a, b and c, one behind the other
    const std::size_t bytes = sizeof(float) * n;
    CHECK(cudaMalloc(&all, 3 * bytes));
    CHECK(cudaMemcpy(all, a, bytes, cudaMemcpyDefault));
    CHECK(cudaMemcpy(all + n, b, bytes, cudaMemcpyDefault));
    add<<<(n + 99) / 100, 100>>>(all, all + 2 * std::size_t(n), n);
    CHECK(cudaPeekAtLastError());
    CHECK(cudaMemcpy(c, all + 2 * std::size_t(n), bytes, cudaMemcpyDefault));
    CHECK(cudaFree(all));
}

__global__ void scale(float* x, int n, float factor) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) x[i] *= factor;
}

// Every step is asked for its error, and the first one counts.
int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    float* d_x = nullptr;
    cudaError_t error = cudaMalloc(&d_x, n * sizeof(float));
    if (error == cudaSuccess) error = cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
        scale<<<blocks, threads>>>(d_x, n, factor);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    return error;
}

__global__ void gray_kernel(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height; row += gridDim.y * blockDim.y) {
        for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < width; column += gridDim.x * blockDim.x) {
            const int i = row * width + column;
            gray[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) / 256;
        }
    }
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    const int pixels = width * height;
    unsigned char* d_rgb;
    CHECK(cudaMalloc(&d_rgb, 4 * pixels));
    unsigned char* d_gray = d_rgb + 3 * pixels;
    CHECK(cudaMemcpy(d_rgb, rgb, 3 * pixels, cudaMemcpyHostToDevice));
    gray_kernel<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 32)>>>(d_rgb, d_gray, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(gray, d_gray, pixels, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rgb));
}
