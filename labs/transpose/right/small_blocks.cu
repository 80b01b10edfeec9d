// RIGHT: blocks of 16 × 16 threads, and tiles as small
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

constexpr int SIDE = 16;

__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (y < rows && x < columns) B[x * rows + y] = A[y * columns + x];
}

template <int PITCH>
__global__ void tile_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[SIDE][PITCH];
    const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (y < rows && x < columns) tile[threadIdx.y][threadIdx.x] = A[y * columns + x];
    __syncthreads();
    const int b_x = blockIdx.y * SIDE + threadIdx.x, b_y = blockIdx.x * SIDE + threadIdx.y;
    if (b_y < columns && b_x < rows) B[b_y * rows + b_x] = tile[threadIdx.x][threadIdx.y];
}

static int tiles(int n, int width) { return (n + width - 1) / width; }

using Kernel = void (*)(const float* A, float* B, int rows, int columns);

static void transpose(Kernel kernel, const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    const size_t bytes = sizeof(float) * rows * columns;
    float *d_A, *d_B;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMemcpy(d_A, A, bytes, cudaMemcpyHostToDevice));
    kernel<<<dim3(tiles(columns, SIDE), tiles(rows, SIDE)), dim3(SIDE, SIDE)>>>(d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(B, d_B, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
}

void transpose_naive(const float* A, float* B, int rows, int columns) { transpose(naive_kernel, A, B, rows, columns); }

void transpose_shared(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<SIDE>, A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<SIDE + 1>, A, B, rows, columns);
}
