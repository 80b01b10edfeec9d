// SOLUTION BEGIN
// STARTER: // Lab matmul: C = A · B in five versions.
// STARTER: // All of them give the right product already, but with the kernel of version 1: every thread fetches all of
// STARTER: // its operands from global memory. Write the other kernels, and let each function launch its own.
// STARTER: // Grade it:  ./warpgrade check matmul      (in this folder)
// Lab matmul, reference solution: C = A · B in five versions, with ever fewer loads for each multiplication.
// Grade it:  ./warpgrade grade matmul reference/matmul
// SOLUTION END
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
    // SOLUTION BEGIN
    // TODO(student): as in rows_kernel, with the indices exchanged.
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += A[row * k + i] * B[i * n + column];
    }
    C[row * n + column] = sum;
    // SOLUTION END
}

void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // SOLUTION BEGIN
    // TODO(student): launch columns_kernel. Which of the two numbers of parts is the grid's x now?
    // STARTER: const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    // STARTER: multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
    const dim3 grid(parts(n, TILE_WIDTH), parts(m, TILE_WIDTH));
    multiply_with(columns_kernel, grid, block, A, B, C, m, k, n);
    // SOLUTION END
}

// 3. A single block of n × m threads holds both matrices in shared memory.

__global__ void one_block_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    // SOLUTION BEGIN
    // TODO(student): declare two arrays in shared memory, of ONE_BLOCK_LIMIT × ONE_BLOCK_LIMIT floats each. Let the
    // threads of the block copy A and B into them, each element once: thread (x, y) takes row y and column x, and where
    // a matrix is larger than the block, also those that lie blockDim.x columns or blockDim.y rows further on. Wait for
    // the others; then compute the element of C at row threadIdx.y, column threadIdx.x from shared memory alone.
    __shared__ float a_all[ONE_BLOCK_LIMIT][ONE_BLOCK_LIMIT];
    __shared__ float b_all[ONE_BLOCK_LIMIT][ONE_BLOCK_LIMIT];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    for (int i = x; i < k; i += blockDim.x) a_all[y][i] = A[y * k + i];  // A has as many rows as the block
    for (int i = y; i < k; i += blockDim.y) b_all[i][x] = B[i * n + x];  // B has as many columns
    __syncthreads();  // both matrices are complete before anyone reads them

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a_all[y][i] * b_all[i][x];
    }
    C[y * n + x] = sum;
    // SOLUTION END
}

void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    // SOLUTION BEGIN
    // TODO(student): return where a size is beyond ONE_BLOCK_LIMIT, and launch one_block_kernel with one block of
    // n × m threads.
    // STARTER: const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // STARTER: const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    // STARTER: multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
    if (m > ONE_BLOCK_LIMIT || k > ONE_BLOCK_LIMIT || n > ONE_BLOCK_LIMIT) return;
    multiply_with(one_block_kernel, dim3(1), dim3(n, m), A, B, C, m, k, n);
    // SOLUTION END
}

// 4. A block of TILE_WIDTH × TILE_WIDTH threads computes one tile of C, each thread one element of it.

__global__ void tiled_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    float sum = 0.0f;

    // SOLUTION BEGIN
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
    // STARTER: for (int i = 0; i < k; ++i) {
    // STARTER:     sum += A[row * k + i] * B[i * n + column];
    // STARTER: }
    // STARTER: C[row * n + column] = sum;
    __shared__ float a_tile[TILE_WIDTH][TILE_WIDTH];
    __shared__ float b_tile[TILE_WIDTH][TILE_WIDTH];

    for (int first = 0; first < k; first += TILE_WIDTH) {
        const int a_column = first + threadIdx.x;
        const int b_row = first + threadIdx.y;
        // Zero outside of the matrices: it adds nothing to the sums of the last, incomplete tile.
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? A[row * k + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? B[b_row * n + column] : 0.0f;
        __syncthreads();  // both tiles are complete before anyone reads them

        for (int i = 0; i < TILE_WIDTH; ++i) {
            sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        }
        __syncthreads();  // everyone has read the tiles before the next turn overwrites them
    }
    if (row < m && column < n) C[row * n + column] = sum;
    // SOLUTION END
}

void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // SOLUTION BEGIN
    // TODO(student): launch tiled_kernel, with the grid of matmul_columns.
    // STARTER: const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    // STARTER: multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
    const dim3 grid(parts(n, TILE_WIDTH), parts(m, TILE_WIDTH));
    multiply_with(tiled_kernel, grid, block, A, B, C, m, k, n);
    // SOLUTION END
}

// 5. As 4, but each thread computes REGISTER_TILE × REGISTER_TILE elements, TILE_WIDTH apart. The block still has
// TILE_WIDTH × TILE_WIDTH threads, and its tile of C is BLOCK_WIDTH × BLOCK_WIDTH.

inline constexpr int BLOCK_WIDTH = REGISTER_TILE * TILE_WIDTH;

// SOLUTION BEGIN
// STARTER: __global__ void registers_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
// Here: twice as many rows as columns, 8 + 4 loads for 32 products. At least two blocks shall fit a multiprocessor: 128
// registers a thread.
constexpr int ROWS = 2 * REGISTER_TILE;
constexpr int COLUMNS = REGISTER_TILE;
constexpr int BLOCK_HEIGHT = ROWS * TILE_WIDTH;

__global__ void __launch_bounds__(TILE_WIDTH * TILE_WIDTH, 2)
    registers_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
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
    __shared__ float a_tile[BLOCK_HEIGHT][TILE_WIDTH];
    __shared__ float b_tile[TILE_WIDTH][BLOCK_WIDTH];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int column = blockIdx.x * BLOCK_WIDTH + x;
    const int row = blockIdx.y * BLOCK_HEIGHT + y;
    float sum[ROWS][COLUMNS] = {};

    // While a pair of tiles is used, the elements of the next one are on their way to registers.
    float next_a[ROWS], next_b[COLUMNS];
    const auto load = [&](int first) {
        for (int i = 0; i < ROWS; ++i) {
            const int a_row = row + i * TILE_WIDTH;
            next_a[i] = a_row < m && first + x < k ? A[a_row * k + first + x] : 0.0f;
        }
        for (int j = 0; j < COLUMNS; ++j) {
            const int b_column = column + j * TILE_WIDTH;
            next_b[j] = first + y < k && b_column < n ? B[(first + y) * n + b_column] : 0.0f;
        }
    };
    load(0);
    for (int first = 0; first < k; first += TILE_WIDTH) {
        for (int i = 0; i < ROWS; ++i) a_tile[y + i * TILE_WIDTH][x] = next_a[i];
        for (int j = 0; j < COLUMNS; ++j) b_tile[y][x + j * TILE_WIDTH] = next_b[j];
        __syncthreads();
        load(first + TILE_WIDTH);

        for (int q = 0; q < TILE_WIDTH; ++q) {
            float a[ROWS], b[COLUMNS];
            for (int i = 0; i < ROWS; ++i) a[i] = a_tile[y + i * TILE_WIDTH][q];
            for (int j = 0; j < COLUMNS; ++j) b[j] = b_tile[q][x + j * TILE_WIDTH];
            for (int i = 0; i < ROWS; ++i) {
                for (int j = 0; j < COLUMNS; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLUMNS; ++j) {
            const int c_row = row + i * TILE_WIDTH;
            const int c_column = column + j * TILE_WIDTH;
            if (c_row < m && c_column < n) C[c_row * n + c_column] = sum[i][j];
        }
    }
    // SOLUTION END
}

void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    // SOLUTION BEGIN
    // TODO(student): stretch. Launch registers_kernel, with one block for each BLOCK_WIDTH × BLOCK_WIDTH part of C.
    // STARTER: const dim3 grid(parts(m, TILE_WIDTH), parts(n, TILE_WIDTH));
    // STARTER: multiply_with(rows_kernel, grid, block, A, B, C, m, k, n);
    const dim3 grid(parts(n, BLOCK_WIDTH), parts(m, BLOCK_HEIGHT));
    multiply_with(registers_kernel, grid, block, A, B, C, m, k, n);
    // SOLUTION END
}
