// RIGHT: the tile has no unused column; element (y, x) lies in column x ^ y of its row
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "transpose.h"

__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x, y = blockIdx.y * TILE_WIDTH + threadIdx.y;
    if (y < rows && x < columns) B[x * rows + y] = A[y * columns + x];
}

// The column in which element (y, x) of a tile lies.
struct InOrder {
    static __device__ int column(int, int x) { return x; }
};
struct Swizzled {
    static __device__ int column(int y, int x) { return x ^ y; }
};

template <class Layout>
__global__ void tile_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[TILE_WIDTH * TILE_WIDTH];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * TILE_WIDTH + tx, y = blockIdx.y * TILE_WIDTH + ty;
    if (y < rows && x < columns) tile[ty * TILE_WIDTH + Layout::column(ty, tx)] = A[y * columns + x];
    __syncthreads();
    const int b_x = blockIdx.y * TILE_WIDTH + tx, b_y = blockIdx.x * TILE_WIDTH + ty;
    if (b_y < columns && b_x < rows) B[b_y * rows + b_x] = tile[tx * TILE_WIDTH + Layout::column(tx, ty)];
}

static int tiles(int n) { return (n + TILE_WIDTH - 1) / TILE_WIDTH; }

using Kernel = void (*)(const float* A, float* B, int rows, int columns);

static void transpose(Kernel kernel, const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    const size_t bytes = sizeof(float) * rows * columns;
    float *d_A, *d_B;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMemcpy(d_A, A, bytes, cudaMemcpyHostToDevice));
    kernel<<<dim3(tiles(columns), tiles(rows)), dim3(TILE_WIDTH, TILE_WIDTH)>>>(d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(B, d_B, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
}

void transpose_naive(const float* A, float* B, int rows, int columns) { transpose(naive_kernel, A, B, rows, columns); }

void transpose_shared(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<InOrder>, A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    transpose(tile_kernel<Swizzled>, A, B, rows, columns);
}
