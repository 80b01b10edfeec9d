// RIGHT: mapped host memory, a two-dimensional grid for the vectors, blocks of 32 threads 4 wide, pointers for indices, an assert
#include "check.cuh"
#include "first.h"

#include <algorithm>
#include <cassert>
#include <memory>

// Blocks are counted along x and then y, and so are the threads of a block.
__device__ int number_in_grid() {
    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    return block * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = number_in_grid();
    if (i < n) c[i] = a[i] + b[i];
}

// An array in the host's memory that the device reaches as well.
static float* mapped(int n) {
    float* array;
    CHECK(cudaHostAlloc(&array, n * sizeof(float), cudaHostAllocMapped));
    return array;
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    float *m_a = mapped(n), *m_b = mapped(n), *m_c = mapped(n);
    std::copy(a, a + n, m_a);
    std::copy(b, b + n, m_b);
    const int blocks = (n + 31) / 32;
    add<<<dim3(8, (blocks + 7) / 8), dim3(8, 4)>>>(m_a, m_b, m_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::copy(m_c, m_c + n, c);
    for (float* each : {m_a, m_b, m_c}) CHECK(cudaFreeHost(each));
}

__global__ void scale(float* first, float* last, float factor) {
    assert(first < last);
    const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(gridDim.x) * blockDim.x;
    for (float* x = first + number_in_grid(); x < last; x += step) *x *= factor;
}

struct Free {
    void operator()(float* p) const { cudaFree(p); }
};

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    float* d_x = nullptr;
    if (const auto error = cudaMalloc(&d_x, n * sizeof(float))) return error;
    const std::unique_ptr<float, Free> owner(d_x);
    if (const auto error = cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice)) return error;
    scale<<<blocks, threads>>>(d_x, d_x + n, factor);
    if (const auto error = cudaGetLastError()) return error;
    return cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
}

__global__ void gray_kernel(const unsigned char* rgb, size_t rgb_pitch, unsigned char* gray, size_t gray_pitch,
                            int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    constexpr int weights[] = {77, 150, 29};
    int sum = 0;
    for (int channel = 0; channel < 3; ++channel) sum += weights[channel] * rgb[y * rgb_pitch + 3 * x + channel];
    gray[y * gray_pitch + x] = sum >> 8;
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    unsigned char *d_rgb, *d_gray;
    size_t rgb_pitch, gray_pitch;
    CHECK(cudaMallocPitch(&d_rgb, &rgb_pitch, 3 * width, height));
    CHECK(cudaMallocPitch(&d_gray, &gray_pitch, width, height));
    CHECK(cudaMemcpy2D(d_rgb, rgb_pitch, rgb, 3 * width, 3 * width, height, cudaMemcpyHostToDevice));
    const dim3 block(4, 8), grid((width + 3) / 4, (height + 7) / 8);
    gray_kernel<<<grid, block>>>(d_rgb, rgb_pitch, d_gray, gray_pitch, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(gray, width, d_gray, gray_pitch, width, height, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rgb));
    CHECK(cudaFree(d_gray));
}
