// RIGHT: blocks of 32 × 8 threads, each of which moves four elements; the naive version stores along rows
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

constexpr int BLOCK_ROWS = 8;

__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    const int column = blockIdx.y * TILE_WIDTH + threadIdx.x;  // of B
    const int row = blockIdx.x * TILE_WIDTH + threadIdx.y;
    for (int i = 0; i < TILE_WIDTH; i += BLOCK_ROWS)
        if (row + i < columns && column < rows)
            B[size_t(row + i) * rows + column] = A[size_t(column) * columns + row + i];
}

template <int PITCH>
__global__ void tile_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[TILE_WIDTH][PITCH];
    int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    for (int i = 0; i < TILE_WIDTH; i += BLOCK_ROWS)
        if (row + i < rows && column < columns)
            tile[threadIdx.y + i][threadIdx.x] = A[size_t(row + i) * columns + column];
    __syncthreads();
    column = blockIdx.y * TILE_WIDTH + threadIdx.x;  // of B
    row = blockIdx.x * TILE_WIDTH + threadIdx.y;
    for (int i = 0; i < TILE_WIDTH; i += BLOCK_ROWS)
        if (row + i < columns && column < rows) B[size_t(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
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
    kernel<<<dim3(tiles(columns, TILE_WIDTH), tiles(rows, TILE_WIDTH)), dim3(TILE_WIDTH, BLOCK_ROWS)>>>(d_A, d_B, rows,
                                                                                                        columns);
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
