// RIGHT: the image in pitched memory, each block's bytes by way of dynamic shared memory; vectors up in pieces, the sum by a graph's capture; the error kept until memory is free
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "first.h"

#define CUDA(call)                                                                   \
    if (cudaError_t status = cudaPeekAtLastError() ? cudaPeekAtLastError() : (call)) \
    std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(status)), std::exit(EXIT_FAILURE)

__global__ void add(const float* a, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = a[i] + a[i + n];
}

// b lies behind a; both go up in pieces of 1000 elements.
void add_vectors(const float* a, const float* b, float* c, int n) {
    if (n <= 0) return;
    float *d_ab, *d_c;
    CUDA(cudaMalloc(&d_ab, 2 * sizeof(float) * n));
    CUDA(cudaMalloc(&d_c, sizeof(float) * n));
    for (int first = 0; first < n; first += 1000) {
        const std::size_t bytes = std::min(1000, n - first) * sizeof(float);
        CUDA(cudaMemcpy(d_ab + first, a + first, bytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(d_ab + n + first, b + first, bytes, cudaMemcpyHostToDevice));
    }
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<n / 256 + 1, 256, 0, stream>>>(d_ab, d_c, n);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(c, d_c, sizeof(float) * n, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(d_ab));
    CUDA(cudaFree(d_c));
}

// Each thread counts how many elements it has first.
__global__ void scale(float* x, int n, float factor) {
    const int number = blockDim.x * blockIdx.x + threadIdx.x, threads = blockDim.x * gridDim.x;
    const int own = number < n ? (n - number - 1) / threads + 1 : 0;
    for (int k = 0; k < own; ++k) x[number + k * threads] *= factor;
}

int scale_in_place(float* x, int n, float factor, int blocks, int threads) {
    if (n <= 0) return 0;
    float* d_x;
    CUDA(cudaMalloc(&d_x, sizeof(float) * n));
    CUDA(cudaMemcpy(d_x, x, sizeof(float) * n, cudaMemcpyHostToDevice));
    scale<<<blocks, threads>>>(d_x, n, factor);
    const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    const cudaError_t error = launched ? launched : ran;
    if (!error) CUDA(cudaMemcpy(x, d_x, sizeof(float) * n, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(d_x));
    return error;
}

__global__ void to_gray(const unsigned char* rgb, std::size_t rgb_pitch, unsigned char* gray, std::size_t gray_pitch,
                        int width, int height) {
    extern __shared__ unsigned char bytes[];
    const int left = blockIdx.x * blockDim.x, wide = min(int(blockDim.x), width - left);
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned char* row = bytes + 3 * blockDim.x * threadIdx.y;
    if (y < height)
        for (int i = threadIdx.x; i < 3 * wide; i += blockDim.x) row[i] = rgb[y * rgb_pitch + 3 * left + i];
    __syncthreads();
    if (y < height && threadIdx.x < wide) {
        const unsigned char* pixel = row + 3 * threadIdx.x;
        gray[y * gray_pitch + left + threadIdx.x] = (pixel[0] * 77 + pixel[1] * 150 + pixel[2] * 29) / 256;
    }
}

void gray_image(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width <= 0 || height <= 0) return;
    unsigned char *d_rgb, *d_gray;
    std::size_t rgb_pitch, gray_pitch;
    CUDA(cudaMallocPitch(&d_rgb, &rgb_pitch, 3 * width, height));
    CUDA(cudaMallocPitch(&d_gray, &gray_pitch, width, height));
    CUDA(cudaMemcpy2D(d_rgb, rgb_pitch, rgb, 3 * width, 3 * width, height, cudaMemcpyHostToDevice));
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    to_gray<<<grid, block, 3 * block.x * block.y>>>(d_rgb, rgb_pitch, d_gray, gray_pitch, width, height);
    CUDA(cudaMemcpy2D(gray, width, d_gray, gray_pitch, width, height, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(d_rgb));
    CUDA(cudaFree(d_gray));
}
