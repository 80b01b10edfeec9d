// RIGHT: rows of whole sectors in device memory, and a copy for each row in both directions
#include "transpose.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// In all three kernels a block of TILE_WIDTH × TILE_WIDTH threads moves one tile of A, each thread one element of it.
// A warp is one row of the block: threadIdx.y is the same for its 32 threads, and threadIdx.x is 0 … 31.

// 1. A warp loads along a row of A and stores down a column of B.

__global__ void transpose_naive_kernel(const float* A, float* B, int rows, int columns, size_t a_pitch,
                                       size_t b_pitch) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    if (row < rows && column < columns) B[column * b_pitch + row] = A[row * a_pitch + column];
}

// 2. A warp loads along a row of A and stores along a row of B. In between, the tile is turned in shared memory.

__global__ void transpose_shared_kernel(const float* A, float* B, int rows, int columns, size_t a_pitch,
                                       size_t b_pitch) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    __shared__ float tile[TILE_WIDTH][TILE_WIDTH];
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = A[row * a_pitch + column];
    __syncthreads();  // the element that this thread stores was loaded by another warp

    // Tile (y, x) of A is tile (x, y) of B: the indices of the block change places, those of the thread do not.
    const int b_row = blockIdx.x * TILE_WIDTH + threadIdx.y;
    const int b_column = blockIdx.y * TILE_WIDTH + threadIdx.x;
    if (b_row < columns && b_column < rows) B[b_row * b_pitch + b_column] = tile[threadIdx.x][threadIdx.y];
}

// 3. The same with one unused column in the tile: down a column, banks come one after the other.

__global__ void transpose_padded_kernel(const float* A, float* B, int rows, int columns, size_t a_pitch,
                                       size_t b_pitch) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    __shared__ float tile[TILE_WIDTH][TILE_WIDTH + 1];
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = A[row * a_pitch + column];
    __syncthreads();

    const int b_row = blockIdx.x * TILE_WIDTH + threadIdx.y;
    const int b_column = blockIdx.y * TILE_WIDTH + threadIdx.x;
    if (b_row < columns && b_column < rows) B[b_row * b_pitch + b_column] = tile[threadIdx.x][threadIdx.y];
}

// What the three have in common: device memory, copies, and the launch of one of the kernels.
// A pitch counts floats from the beginning of one row to that of the next.
using Kernel = void (*)(const float* A, float* B, int rows, int columns, size_t a_pitch, size_t b_pitch);

static void transpose(Kernel kernel, const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    const size_t a_pitch = (columns + 8) / 8 * 8, b_pitch = (rows + 8) / 8 * 8;  // floats
    float *d_A, *d_B;
    CHECK(cudaMalloc(&d_A, sizeof(float) * a_pitch * rows));
    CHECK(cudaMalloc(&d_B, sizeof(float) * b_pitch * columns));
    for (int row = 0; row < rows; ++row)
        CHECK(cudaMemcpy(d_A + row * a_pitch, A + size_t(row) * columns, sizeof(float) * columns,
                         cudaMemcpyHostToDevice));
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid((columns + TILE_WIDTH - 1) / TILE_WIDTH, (rows + TILE_WIDTH - 1) / TILE_WIDTH);
    kernel<<<grid, block>>>(d_A, d_B, rows, columns, a_pitch, b_pitch);
    CHECK(cudaGetLastError());
    for (int row = 0; row < columns; ++row)
        CHECK(cudaMemcpy(B + size_t(row) * rows, d_B + row * b_pitch, sizeof(float) * rows, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
}

void transpose_naive(const float* A, float* B, int rows, int columns) {
    transpose(transpose_naive_kernel, A, B, rows, columns);
}

void transpose_shared(const float* A, float* B, int rows, int columns) {
    transpose(transpose_shared_kernel, A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    transpose(transpose_padded_kernel, A, B, rows, columns);
}
