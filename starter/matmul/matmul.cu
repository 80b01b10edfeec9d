// Lab matmul: C = A · B with one thread for each element of C.
// It works, but every thread fetches all of its operands from global memory. Make the block share them.
// Grade it:  ./warpgrade check matmul      (in this folder)
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

    // TODO(student): step 1. Declare two tiles of TILE_WIDTH × TILE_WIDTH floats in shared memory,
    // one for a tile of A and one for a tile of B.
    //
    // TODO(student): step 2. Turn the loop below into a loop over the k / TILE_WIDTH pairs of tiles.
    // In each turn every thread copies one element of A and one element of B into the tiles. Let
    // threadIdx.x choose the column, so that neighbouring threads read neighbouring addresses.
    //
    // TODO(student): step 3. Wait until the whole block has filled both tiles.
    //
    // TODO(student): step 4. Add the TILE_WIDTH products of row threadIdx.y of A's tile and column
    // threadIdx.x of B's tile to sum.
    //
    // TODO(student): step 5. The next turn overwrites the tiles. Who may still be reading them?
    //
    // TODO(student): stretch. Make it right for sizes that are not multiples of TILE_WIDTH: which
    // elements of a tile lie outside of A or B, and what has to stand there so that the sum is right?
    for (int i = 0; i < k; ++i) {
        sum += A[row * k + i] * B[i * n + column];
    }
    C[row * n + column] = sum;
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
    // TODO(student): stretch. This grid covers only whole tiles of C. Round up instead of down.
    const dim3 grid(n / TILE_WIDTH, m / TILE_WIDTH);
    matmul_kernel<<<grid, block>>>(d_A, d_B, d_C, m, k, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(C, d_C, c_bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}
