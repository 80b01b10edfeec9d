// WRONG: loses "multiplies square matrices", "multiplies rectangular matrices", "global loads fall by the tile width", "tiles in shared memory have no bank conflicts", "each element of C is stored once", "speed on 256 × 256 matrices", "multiplies long and flat matrices", "whole numbers come out exactly", "badly scaled values keep their precision", "NaN and infinity stay in their row and column", "empty sums are zero and empty matrices launch nothing", "stretch: sizes that are not multiples of the tile" - no barrier between filling the tiles and reading them
#include "matmul.h"

#include <cstdio>
#include <cstdlib>

// Ends the program with the place and CUDA's own words when a CUDA call fails.
#define CHECK(call) check((call), #call, __FILE__, __LINE__)
static void check(cudaError_t error, const char* call, const char* file, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, cudaGetErrorString(error), cudaGetErrorName(error));
    std::exit(EXIT_FAILURE);
}

// A block of TILE_WIDTH × TILE_WIDTH threads computes one tile of C, each thread one element of it.
__global__ void matmul_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    float sum = 0.0f;

    __shared__ float a_tile[TILE_WIDTH][TILE_WIDTH];
    __shared__ float b_tile[TILE_WIDTH][TILE_WIDTH];

    for (int first = 0; first < k; first += TILE_WIDTH) {
        const int a_column = first + threadIdx.x;
        const int b_row = first + threadIdx.y;
        // Zero outside of the matrices: it adds nothing to the sums of the last, incomplete tile.
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? A[row * k + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? B[b_row * n + column] : 0.0f;

        for (int i = 0; i < TILE_WIDTH; ++i) {
            sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        }
        __syncthreads();  // everyone has read the tiles before the next turn overwrites them
    }
    if (row < m && column < n) C[row * n + column] = sum;
}

void matmul(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const size_t a_bytes = sizeof(float) * m * k;
    const size_t b_bytes = sizeof(float) * k * n;
    const size_t c_bytes = sizeof(float) * m * n;

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, a_bytes));
    CHECK(cudaMalloc(&d_B, b_bytes));
    CHECK(cudaMalloc(&d_C, c_bytes));
    CHECK(cudaMemcpy(d_A, A, a_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B, b_bytes, cudaMemcpyHostToDevice));

    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid((n + TILE_WIDTH - 1) / TILE_WIDTH, (m + TILE_WIDTH - 1) / TILE_WIDTH);
    matmul_kernel<<<grid, block>>>(d_A, d_B, d_C, m, k, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(C, d_C, c_bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}
