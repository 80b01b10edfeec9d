// Lab transpose: B = Aᵀ, naively, through a tile in shared memory, and through a padded tile.
// All three work for whole tiles, but all three are naive: the tile and its padding are yours.
// Grade it:  ./warpgrade check transpose      (in this folder)
#include "transpose.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// In all three kernels a block moves one tile of A. It has TILE_WIDTH × TILE_WIDTH threads, one for each element.
// A warp is one row of the block: threadIdx.y is the same for its 32 threads, and threadIdx.x is 0 … 31.

// 1. A warp loads along a row of A and stores down a column of B.

__global__ void transpose_naive_kernel(const float* A, float* B, int rows, int columns) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    // TODO(student): stretch. With the grid rounded up, which threads have no element?
    B[column * rows + row] = A[row * columns + column];
}

// 2. A warp loads along a row of A and stores along a row of B. In between, the tile is turned in shared memory.

__global__ void transpose_shared_kernel(const float* A, float* B, int rows, int columns) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    // TODO(student): declare a tile of TILE_WIDTH × TILE_WIDTH floats in shared memory. Copy this thread's element of A
    // into it, and wait until the whole block has done so.
    //
    // TODO(student): this block's tile of A becomes one tile of B. Which one? Compute the row and the column of B at
    // which this thread stores, so that threadIdx.x runs along a row of B, and find the element of the tile that
    // belongs there: another thread has put it there.
    //
    // TODO(student): stretch. The element that a thread loads and the one that it stores are two different elements.
    // Each needs a condition of its own; what do all threads have to reach?
    B[column * rows + row] = A[row * columns + column];
}

// 3. The same with one unused column in the tile: down a column, banks come one after the other.

__global__ void transpose_padded_kernel(const float* A, float* B, int rows, int columns) {
    // TODO(student): as transpose_shared_kernel, with a tile whose columns lie in 32 different banks.
    //
    // TODO(student): when that works, give the block fewer rows of threads, 8, and each thread as many elements of the
    // tile as it then takes. Loads that do not wait for each other are on their way at the same time.
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    B[column * rows + row] = A[row * columns + column];
}

// What the three have in common: device memory, copies, and the launch of one of the kernels, in blocks of thread_rows
// warps.
using Kernel = void (*)(const float* A, float* B, int rows, int columns);

static void transpose(Kernel kernel, const float* A, float* B, int rows, int columns, int thread_rows = TILE_WIDTH) {
    if (rows <= 0 || columns <= 0) return;
    const size_t bytes = sizeof(float) * rows * columns;

    float *d_A, *d_B;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMemcpy(d_A, A, bytes, cudaMemcpyHostToDevice));

    const dim3 block(TILE_WIDTH, thread_rows);
    // TODO(student): stretch. This grid covers only whole tiles of A. Round up instead of down.
    const dim3 grid(columns / TILE_WIDTH, rows / TILE_WIDTH);
    kernel<<<grid, block>>>(d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(B, d_B, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
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
