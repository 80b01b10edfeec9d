// RIGHT: one template for both tiles, with its width, its pitch and the rows of a block; 32 × 16 threads
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

template <int WIDTH, int PITCH, int BLOCK_ROWS>
__global__ void tile_kernel(const float* __restrict__ A, float* __restrict__ B, int rows, int columns) {
    __shared__ float tile[WIDTH][PITCH];
    const int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * WIDTH, top = blockIdx.y * WIDTH;
#pragma unroll
    for (int i = ty; i < WIDTH; i += BLOCK_ROWS)
        if (top + i < rows && left + tx < columns) tile[i][tx] = A[(top + i) * columns + left + tx];
    __syncthreads();
#pragma unroll
    for (int i = ty; i < WIDTH; i += BLOCK_ROWS)
        if (left + i < columns && top + tx < rows) B[(left + i) * rows + top + tx] = tile[tx][i];
}

__global__ void naive_kernel(const float* __restrict__ A, float* __restrict__ B, int rows, int columns) {
    for (int i = threadIdx.y; i < TILE_WIDTH; i += blockDim.y) {
        const int row = blockIdx.y * TILE_WIDTH + i, column = blockIdx.x * TILE_WIDTH + threadIdx.x;
        if (row < rows && column < columns) B[column * rows + row] = A[row * columns + column];
    }
}

using Kernel = void (*)(const float* A, float* B, int rows, int columns);

static void transpose(Kernel kernel, dim3 grid, dim3 block, const float* A, float* B, int rows, int columns) {
    const size_t bytes = sizeof(float) * rows * columns;
    float *d_A, *d_B;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMemcpy(d_A, A, bytes, cudaMemcpyHostToDevice));
    kernel<<<grid, block>>>(d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(B, d_B, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
}

static int tiles(int n, int width) { return (n + width - 1) / width; }

void transpose_naive(const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    transpose(naive_kernel, dim3(tiles(columns, TILE_WIDTH), tiles(rows, TILE_WIDTH)), dim3(TILE_WIDTH, 16), A, B, rows,
              columns);
}

void transpose_shared(const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    transpose(tile_kernel<TILE_WIDTH, TILE_WIDTH, 16>, dim3(tiles(columns, TILE_WIDTH), tiles(rows, TILE_WIDTH)),
              dim3(TILE_WIDTH, 16), A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    transpose(tile_kernel<TILE_WIDTH, TILE_WIDTH + 1, 16>, dim3(tiles(columns, TILE_WIDTH), tiles(rows, TILE_WIDTH)),
              dim3(TILE_WIDTH, 16), A, B, rows, columns);
}
