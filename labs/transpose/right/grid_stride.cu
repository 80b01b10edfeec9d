// RIGHT: no more blocks than there is work for at once; each takes one tile after the other
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

#include <algorithm>

__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    const int first = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int i = first; i < rows * columns; i += gridDim.x * blockDim.x * blockDim.y)
        B[i % columns * rows + i / columns] = A[i];
}

template <int PITCH>
__global__ void tile_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[TILE_WIDTH][PITCH];
    const int across = (columns + TILE_WIDTH - 1) / TILE_WIDTH, down = (rows + TILE_WIDTH - 1) / TILE_WIDTH;
    for (int number = blockIdx.x; number < across * down; number += gridDim.x) {
        const int first_row = number / across * TILE_WIDTH, first_column = number % across * TILE_WIDTH;
        const int row = first_row + threadIdx.y, column = first_column + threadIdx.x;
        if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = A[row * columns + column];
        __syncthreads();
        const int b_row = first_column + threadIdx.y, b_column = first_row + threadIdx.x;
        if (b_row < columns && b_column < rows) B[b_row * rows + b_column] = tile[threadIdx.x][threadIdx.y];
        __syncthreads();  // the next tile goes to the same place
    }
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
    kernel<<<std::min(264, tiles(rows, TILE_WIDTH) * tiles(columns, TILE_WIDTH)), dim3(TILE_WIDTH, TILE_WIDTH)>>>(
        d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(B, d_B, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
}

void transpose_naive(const float* A, float* B, int rows, int columns) { transpose(naive_kernel, A, B, rows, columns); }

void transpose_shared(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<TILE_WIDTH>, A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<TILE_WIDTH + 1>, A, B, rows, columns);
}
