// Lab matmul: C = A · B in five versions.
// All of them give the right product already, but with the kernel of version 1: every thread fetches all of
// its operands from global memory. Write the other kernels, and let each function launch its own.
// Grade it:  ./warpgrade check matmul      (in this folder)
#include "matmul.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// How many parts of this width cover `size` elements; the last one may be incomplete.
static int parts(int size, int width) { return (size + width - 1) / width; }

using Kernel = void (*)(const float* A, const float* B, float* C, int m, int k, int n);

// C = A · B for arrays in host memory: copies A and B to the device, launches the kernel, and copies C back.
static void multiply_with(Kernel kernel, dim3 grid, dim3 block, const float* A, const float* B, float* C, int m, int k,
                          int n) {
    const size_t a_bytes = sizeof(float) * m * k;
    const size_t b_bytes = sizeof(float) * k * n;
    const size_t c_bytes = sizeof(float) * m * n;

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, a_bytes));
    CHECK(cudaMalloc(&d_B, b_bytes));
    CHECK(cudaMalloc(&d_C, c_bytes));
    CHECK(cudaMemcpy(d_A, A, a_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B, b_bytes, cudaMemcpyHostToDevice));

    kernel<<<grid, block>>>(d_A, d_B, d_C, m, k, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(C, d_C, c_bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
}

// 1. Given: one thread for each element of C. Neighbouring threads have neighbouring rows.

__global__ void rows_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    const int row = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int column = blockIdx.y * TILE_WIDTH + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += A[row * k + i] * B[i * n + column];
    }
    C[row * n + column] = sum;
}

void matmul_rows(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
}

// 2. The same, but neighbouring threads have neighbouring columns.

__global__ void columns_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    // TODO(student): as in rows_kernel, with the indices exchanged.
}

void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // TODO(student): launch columns_kernel. Which of the two numbers of parts is the grid's x now?
    const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
}

// 3. A single block of n × m threads holds both matrices in shared memory.

__global__ void one_block_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    // TODO(student): declare two arrays in shared memory, of ONE_BLOCK_LIMIT × ONE_BLOCK_LIMIT floats each. Let the
    // threads of the block copy A and B into them, each element once: thread (x, y) takes row y and column x, and where
    // a matrix is larger than the block, also those that lie blockDim.x columns or blockDim.y rows further on. Wait for
    // the others; then compute the element of C at row threadIdx.y, column threadIdx.x from shared memory alone.
}

void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    // TODO(student): return where a size is beyond ONE_BLOCK_LIMIT, and launch one_block_kernel with one block of
    // n × m threads.
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
}

// 4. A block of TILE_WIDTH × TILE_WIDTH threads computes one tile of C, each thread one element of it.

__global__ void tiled_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
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

void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // TODO(student): launch tiled_kernel, with the grid of matmul_columns.
    const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
}

// 5. As 4, but each thread computes REGISTER_TILE × REGISTER_TILE elements, TILE_WIDTH apart. The block still has
// TILE_WIDTH × TILE_WIDTH threads, and its tile of C is BLOCK_WIDTH × BLOCK_WIDTH.

inline constexpr int BLOCK_WIDTH = REGISTER_TILE * TILE_WIDTH;

__global__ void registers_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    // TODO(student): stretch. Step 1. Declare a tile of BLOCK_WIDTH × TILE_WIDTH floats for A and one of
    // TILE_WIDTH × BLOCK_WIDTH for B in shared memory, and float sum[REGISTER_TILE][REGISTER_TILE] for the thread.
    //
    // TODO(student): step 2. In each turn a thread copies REGISTER_TILE elements of A and as many of B: rows, or
    // columns, that lie TILE_WIDTH apart, so that neighbouring threads still load neighbouring addresses.
    //
    // TODO(student): step 3. For each of the TILE_WIDTH terms of a turn, load REGISTER_TILE elements of A's tile and
    // REGISTER_TILE of B's tile into two small arrays, and add all their products to the sums. The loops over the small
    // arrays have constant bounds, so that the compiler can give each element a register.
    //
    // TODO(student): step 4. Store the sums. Which of them lie outside of C when m or n is no multiple of BLOCK_WIDTH?
}

void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // TODO(student): stretch. Launch registers_kernel, with one block for each BLOCK_WIDTH × BLOCK_WIDTH part of C.
    const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
}
