// RIGHT: each warp moves a tile of its own and waits for its own threads only, by __syncwarp
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

constexpr int WARPS = 4;  // of a block

__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    const int lane = threadIdx.x, number = blockIdx.x * WARPS + threadIdx.y;
    const int across = (columns + TILE_WIDTH - 1) / TILE_WIDTH;
    const int first_row = number / across * TILE_WIDTH, column = number % across * TILE_WIDTH + lane;
    for (int row = first_row; row < first_row + TILE_WIDTH; ++row)
        if (row < rows && column < columns) B[column * rows + row] = A[row * columns + column];
}

template <int PITCH>
__global__ void tile_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tiles_of_block[WARPS][TILE_WIDTH][PITCH];
    const int lane = threadIdx.x, number = blockIdx.x * WARPS + threadIdx.y;
    const int across = (columns + TILE_WIDTH - 1) / TILE_WIDTH;
    const int first_row = number / across * TILE_WIDTH, first_column = number % across * TILE_WIDTH;
    if (first_row >= rows) return;  // the whole warp: no other waits for it
    auto& tile = tiles_of_block[threadIdx.y];
    for (int i = 0; i < TILE_WIDTH; ++i)
        if (first_row + i < rows && first_column + lane < columns)
            tile[i][lane] = A[(first_row + i) * columns + first_column + lane];
    __syncwarp();
    for (int i = 0; i < TILE_WIDTH; ++i)
        if (first_column + i < columns && first_row + lane < rows)
            B[(first_column + i) * rows + first_row + lane] = tile[lane][i];
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
    kernel<<<tiles(tiles(rows, TILE_WIDTH) * tiles(columns, TILE_WIDTH), WARPS), dim3(32, WARPS)>>>(d_A, d_B, rows,
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
