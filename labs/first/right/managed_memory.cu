// RIGHT: managed memory in all three functions, blocks of 1024 and of 8 × 8
#include "first.h"
#include "check.cuh"

#include <algorithm>

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    float *m_a, *m_b, *m_c;
    CHECK(cudaMallocManaged(&m_a, n * sizeof(float)));
    CHECK(cudaMallocManaged(&m_b, n * sizeof(float)));
    CHECK(cudaMallocManaged(&m_c, n * sizeof(float)));
    std::copy(a, a + n, m_a);
    std::copy(b, b + n, m_b);
    add<<<(n + 1023) / 1024, 1024>>>(m_a, m_b, m_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::copy(m_c, m_c + n, c);
    CHECK(cudaFree(m_a));
    CHECK(cudaFree(m_b));
    CHECK(cudaFree(m_c));
}

__global__ void scale(float* x, int n, float factor) {
    const int step = blockDim.x * gridDim.x;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    while (i < n) {
        x[i] = x[i] * factor;
        i += step;
    }
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    float* m_x;
    CHECK(cudaMallocManaged(&m_x, n * sizeof(float)));
    std::copy(x, x + n, m_x);
    scale<<<blocks, threads>>>(m_x, n, factor);
    const int error = cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    if (error == 0) std::copy(m_x, m_x + n, x);
    CHECK(cudaFree(m_x));
    return error;
}

__global__ void to_gray(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width) return;
    if (row >= height) return;
    const unsigned char* pixel = &rgb[(row * width + column) * 3];
    const int sum = 77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2];
    gray[row * width + column] = static_cast<unsigned char>(sum / 256);
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    unsigned char *m_rgb, *m_gray;
    const int count = width * height;
    CHECK(cudaMallocManaged(&m_rgb, 3 * count));
    CHECK(cudaMallocManaged(&m_gray, count));
    std::copy(rgb, rgb + 3 * count, m_rgb);
    dim3 block(8, 8);
    dim3 grid((width + 7) / 8, (height + 7) / 8);
    to_gray<<<grid, block>>>(m_rgb, m_gray, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::copy(m_gray, m_gray + count, gray);
    CHECK(cudaFree(m_rgb));
    CHECK(cudaFree(m_gray));
}
