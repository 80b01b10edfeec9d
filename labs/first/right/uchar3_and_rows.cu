// RIGHT: pixels as uchar3, a block of one row of 256 threads for the image, unsigned indices, own error check
#include "first.h"

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                   \
    do {                                                              \
        const cudaError_t result = (call);                            \
        if (result != cudaSuccess) {                                  \
            std::fprintf(stderr, "%s\n", cudaGetErrorString(result)); \
            std::exit(1);                                             \
        }                                                             \
    } while (0)

__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
    if (number() < n) c[number()] = a[number()] + b[number()];
}

void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n < 1) return;
    const int block = 512, grid = n / block + (n % block != 0);
    float* d[3];
    for (auto& pointer : d) CHECK(cudaMalloc(reinterpret_cast<void**>(&pointer), n * sizeof *pointer));
    CHECK(cudaMemcpy(d[0], a, n * sizeof *a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d[1], b, n * sizeof *b, cudaMemcpyHostToDevice));
    add<<<dim3(grid), dim3(block)>>>(d[0], d[1], d[2], n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(c, d[2], n * sizeof *c, cudaMemcpyDeviceToHost));
    for (auto pointer : d) CHECK(cudaFree(pointer));
}

__global__ void scale(float* x, unsigned n, float factor) {
    for (unsigned i = number(); i < n; i += blockDim.x * gridDim.x) x[i] *= factor;
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n < 1) return 0;
    float* d_x;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice));
    void* arguments[] = {&d_x, &n, &factor};
    const cudaError_t launched = cudaLaunchKernel(reinterpret_cast<const void*>(scale), blocks, threads, arguments, 0, 0);
    cudaGetLastError();
    if (!launched) CHECK(cudaMemcpy(x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    return launched;
}

__global__ void gray_rows(const uchar3* rgb, unsigned char* gray, unsigned width) {
    if (number() >= width) return;
    const unsigned at = blockIdx.y * width + number();
    const uchar3 pixel = rgb[at];
    gray[at] = (77 * pixel.x + 150 * pixel.y + 29 * pixel.z) / 256;
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width < 1 || height < 1) return;
    const std::size_t pixels = static_cast<std::size_t>(width) * height;
    uchar3* d_rgb;
    unsigned char* d_gray;
    CHECK(cudaMalloc(&d_rgb, pixels * sizeof(uchar3)));
    CHECK(cudaMalloc(&d_gray, pixels));
    CHECK(cudaMemcpy(d_rgb, rgb, pixels * sizeof(uchar3), cudaMemcpyHostToDevice));
    gray_rows<<<dim3((width + 255) / 256, height), 256>>>(d_rgb, d_gray, width);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(gray, d_gray, pixels, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rgb));
    CHECK(cudaFree(d_gray));
}
