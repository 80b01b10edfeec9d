// SOLUTION BEGIN
// STARTER: // Lab transpose: B = Aᵀ, naively, through a tile in shared memory, and through a padded tile.
// STARTER: // All three work for whole tiles, but all three are naive: the tile and its padding are yours.
// STARTER: // Grade it:  ./warpgrade check transpose      (in this folder)
// Lab transpose, reference solution: B = Aᵀ, naively, through a tile in shared memory, and through a padded tile.
// Grade it:  ./warpgrade grade transpose reference/transpose
// SOLUTION END
#include "transpose.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// In all three kernels a block moves one tile of A. It has TILE_WIDTH × TILE_WIDTH threads, one for each element.
// A warp is one row of the block: threadIdx.y is the same for its 32 threads, and threadIdx.x is 0 … 31.

// 1. A warp loads along a row of A and stores down a column of B.

__global__ void transpose_naive_kernel(const float* A, float* B, int rows, int columns) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): stretch. With the grid rounded up, which threads have no element?
    // STARTER: B[column * rows + row] = A[row * columns + column];
    if (row < rows && column < columns) B[column * rows + row] = A[row * columns + column];
    // SOLUTION END
}

// 2. A warp loads along a row of A and stores along a row of B. In between, the tile is turned in shared memory.

__global__ void transpose_shared_kernel(const float* A, float* B, int rows, int columns) {
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): declare a tile of TILE_WIDTH × TILE_WIDTH floats in shared memory. Copy this thread's element of A
    // into it, and wait until the whole block has done so.
    //
    // TODO(student): this block's tile of A becomes one tile of B. Which one? Compute the row and the column of B at
    // which this thread stores, so that threadIdx.x runs along a row of B, and find the element of the tile that
    // belongs there: another thread has put it there.
    //
    // TODO(student): stretch. The element that a thread loads and the one that it stores are two different elements.
    // Each needs a condition of its own; what do all threads have to reach?
    // STARTER: B[column * rows + row] = A[row * columns + column];
    __shared__ float tile[TILE_WIDTH][TILE_WIDTH];
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = A[row * columns + column];
    __syncthreads();  // the element that this thread stores was loaded by another warp

    // Tile (y, x) of A is tile (x, y) of B: the indices of the block change places, those of the thread do not.
    const int b_row = blockIdx.x * TILE_WIDTH + threadIdx.y;
    const int b_column = blockIdx.y * TILE_WIDTH + threadIdx.x;
    if (b_row < columns && b_column < rows) B[b_row * rows + b_column] = tile[threadIdx.x][threadIdx.y];
    // SOLUTION END
}

// 3. The same with one unused column in the tile: down a column, banks come one after the other.

// SOLUTION BEGIN
constexpr int FEW_ROWS = 8;  // of threads in a block: each thread takes four elements of the tile

// SOLUTION END
__global__ void transpose_padded_kernel(const float* A, float* B, int rows, int columns) {
    // SOLUTION BEGIN
    // TODO(student): as transpose_shared_kernel, with a tile whose columns lie in 32 different banks.
    //
    // TODO(student): when that works, give the block fewer rows of threads, 8, and each thread as many elements of the
    // tile as it then takes. Loads that do not wait for each other are on their way at the same time.
    // STARTER: const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    // STARTER: const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    // STARTER: B[column * rows + row] = A[row * columns + column];
    __shared__ float tile[TILE_WIDTH][TILE_WIDTH + 1];
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;  // of A
    for (int y = threadIdx.y; y < TILE_WIDTH; y += FEW_ROWS) {
        const int row = blockIdx.y * TILE_WIDTH + y;
        if (row < rows && column < columns) tile[y][threadIdx.x] = A[row * columns + column];
    }
    __syncthreads();

    const int b_column = blockIdx.y * TILE_WIDTH + threadIdx.x;
    for (int y = threadIdx.y; y < TILE_WIDTH; y += FEW_ROWS) {
        const int b_row = blockIdx.x * TILE_WIDTH + y;
        if (b_row < columns && b_column < rows) B[b_row * rows + b_column] = tile[threadIdx.x][y];
    }
    // SOLUTION END
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
    // SOLUTION BEGIN
    // TODO(student): stretch. This grid covers only whole tiles of A. Round up instead of down.
    // STARTER: const dim3 grid(columns / TILE_WIDTH, rows / TILE_WIDTH);
    const dim3 grid((columns + TILE_WIDTH - 1) / TILE_WIDTH, (rows + TILE_WIDTH - 1) / TILE_WIDTH);
    // SOLUTION END
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
    // SOLUTION BEGIN
    // STARTER: transpose(transpose_padded_kernel, A, B, rows, columns);
    transpose(transpose_padded_kernel, A, B, rows, columns, FEW_ROWS);
    // SOLUTION END
}
