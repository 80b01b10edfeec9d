// RIGHT: tiles and blocks of 24 × 24; the naive version in blocks of 8 × 32; memory from the pool
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    const int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (row < rows && column < columns) B[column * rows + row] = A[row * columns + column];
}

template <int PITCH>
__global__ void tile_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[24][PITCH];
    const int left = blockIdx.x * 24, top = blockIdx.y * 24;
    for (int y = threadIdx.y; y < 24; y += 24)
        for (int x = threadIdx.x; x < 24; x += blockDim.x)
            if (top + y < rows && left + x < columns) tile[y][x] = A[(top + y) * columns + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 24; y += 24)
        for (int x = threadIdx.x; x < 24; x += blockDim.x)
            if (left + y < columns && top + x < rows) B[(left + y) * rows + top + x] = tile[x][y];
}

static int parts(int size, int w) { return (size + w - 1) / w; }

using Kernel = void (*)(const float* A, float* B, int rows, int columns);

static void transpose(Kernel kernel, dim3 grid, dim3 block, const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    const size_t bytes = sizeof(float) * rows * columns;
    float *d_A, *d_B;
    CHECK(cudaMallocAsync(&d_A, bytes, nullptr));
    CHECK(cudaMallocAsync(&d_B, bytes, nullptr));
    CHECK(cudaMemcpyAsync(d_A, A, bytes, cudaMemcpyHostToDevice, nullptr));
    kernel<<<grid, block>>>(d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(B, d_B, bytes, cudaMemcpyDeviceToHost, nullptr));
    CHECK(cudaFreeAsync(d_A, nullptr));
    CHECK(cudaFreeAsync(d_B, nullptr));
    CHECK(cudaStreamSynchronize(nullptr));
}

void transpose_naive(const float* A, float* B, int rows, int columns) {
    transpose(naive_kernel, dim3(parts(columns, 8), parts(rows, 32)), dim3(8, 32), A, B, rows, columns);
}

void transpose_shared(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<24>, dim3(parts(columns, 24), parts(rows, 24)), dim3(24, 24), A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<25>, dim3(parts(columns, 24), parts(rows, 24)), dim3(24, 24), A, B, rows, columns);
}
