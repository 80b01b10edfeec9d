// RIGHT: cuda::pipeline loads one pair of tiles ahead; memory from the pool of a stream, A by a copy of rows
#include <cuda/pipeline>
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "matmul.h"

// How many parts of this width cover `size` elements; the last one may be incomplete.
static int parts(int size, int width) { return (size + width - 1) / width; }

using Kernel = void (*)(const float* A, const float* B, float* C, int m, int k, int n);

static void multiply_with(Kernel kernel, dim3 grid, dim3 block, const float* A, const float* B, float* C, int m, int k,
                          int n) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    const size_t a = sizeof(float) * m * k, b = sizeof(float) * k * n, c = sizeof(float) * m * n;
    float *d_A = nullptr, *d_B = nullptr, *d_C;
    if (a > 0) CHECK(cudaMallocAsync(&d_A, a, stream));
    if (b > 0) CHECK(cudaMallocAsync(&d_B, b, stream));
    CHECK(cudaMallocAsync(&d_C, c, stream));
    if (a > 0)
        CHECK(cudaMemcpy2DAsync(d_A, sizeof(float) * k, A, sizeof(float) * k, sizeof(float) * k, m,
                                cudaMemcpyHostToDevice, stream));
    if (b > 0) CHECK(cudaMemcpyAsync(d_B, B, b, cudaMemcpyHostToDevice, stream));
    kernel<<<grid, block, 0, stream>>>(d_A, d_B, d_C, m, k, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(C, d_C, c, cudaMemcpyDeviceToHost, stream));
    if (a > 0) CHECK(cudaFreeAsync(d_A, stream));
    if (b > 0) CHECK(cudaFreeAsync(d_B, stream));
    CHECK(cudaFreeAsync(d_C, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
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
    const int column = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += A[row * k + i] * B[i * n + column];
    }
    C[row * n + column] = sum;
}

void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid(parts(n, TILE_WIDTH), parts(m, TILE_WIDTH));
    multiply_with(columns_kernel, grid, block, A, B, C, m, k, n);
}

// 3. A single block of n × m threads holds both matrices in shared memory.

__global__ void one_block_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
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
}

void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    if (m > ONE_BLOCK_LIMIT || k > ONE_BLOCK_LIMIT || n > ONE_BLOCK_LIMIT) return;
    multiply_with(one_block_kernel, dim3(1), dim3(n, m), A, B, C, m, k, n);
}

__global__ void tiled_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ float a_tile[2][TILE_WIDTH][TILE_WIDTH], b_tile[2][TILE_WIDTH][TILE_WIDTH];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * TILE_WIDTH + x, row = blockIdx.y * TILE_WIDTH + y;
    auto pipe = cuda::make_pipeline();
    const auto load = [&](int first, int stage) {
        pipe.producer_acquire();
        if (row < m && first + x < k)
            cuda::memcpy_async(&a_tile[stage][y][x], &A[row * k + first + x], sizeof(float), pipe);
        else
            a_tile[stage][y][x] = 0.0f;
        if (first + y < k && column < n)
            cuda::memcpy_async(&b_tile[stage][y][x], &B[(first + y) * n + column], sizeof(float), pipe);
        else
            b_tile[stage][y][x] = 0.0f;
        pipe.producer_commit();
    };
    float sum = 0.0f;
    const int turns = (k + TILE_WIDTH - 1) / TILE_WIDTH;
    if (turns > 0) load(0, 0);
    for (int turn = 0; turn < turns; ++turn) {
        if (turn + 1 < turns) load((turn + 1) * TILE_WIDTH, (turn + 1) % 2);
        if (turn + 1 < turns)
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        else
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
        for (int i = 0; i < TILE_WIDTH; ++i) sum += a_tile[turn % 2][y][i] * b_tile[turn % 2][i][x];
        __syncthreads();
        pipe.consumer_release();
    }
    if (row < m && column < n) C[row * n + column] = sum;
}
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    multiply_with(tiled_kernel, dim3(parts(n, TILE_WIDTH), parts(m, TILE_WIDTH)), dim3(TILE_WIDTH, TILE_WIDTH), A, B, C,
                  m, k, n);
}

// 5. As 4, but each thread computes REGISTER_TILE × REGISTER_TILE elements, TILE_WIDTH apart. The block still has
// TILE_WIDTH × TILE_WIDTH threads, and its tile of C is BLOCK_WIDTH × BLOCK_WIDTH.

inline constexpr int BLOCK_WIDTH = REGISTER_TILE * TILE_WIDTH;

__global__ void registers_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ float a_tile[BLOCK_WIDTH][TILE_WIDTH];
    __shared__ float b_tile[TILE_WIDTH][BLOCK_WIDTH];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int column = blockIdx.x * BLOCK_WIDTH + x;
    const int row = blockIdx.y * BLOCK_WIDTH + y;
    float sum[REGISTER_TILE][REGISTER_TILE] = {};

    for (int first = 0; first < k; first += TILE_WIDTH) {
        for (int i = 0; i < REGISTER_TILE; ++i) {
            const int a_row = row + i * TILE_WIDTH;
            const int b_column = column + i * TILE_WIDTH;
            a_tile[y + i * TILE_WIDTH][x] = a_row < m && first + x < k ? A[a_row * k + first + x] : 0.0f;
            b_tile[y][x + i * TILE_WIDTH] = first + y < k && b_column < n ? B[(first + y) * n + b_column] : 0.0f;
        }
        __syncthreads();

        for (int q = 0; q < TILE_WIDTH; ++q) {
            float a[REGISTER_TILE], b[REGISTER_TILE];
            for (int i = 0; i < REGISTER_TILE; ++i) {
                a[i] = a_tile[y + i * TILE_WIDTH][q];
                b[i] = b_tile[q][x + i * TILE_WIDTH];
            }
            for (int i = 0; i < REGISTER_TILE; ++i) {
                for (int j = 0; j < REGISTER_TILE; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < REGISTER_TILE; ++i) {
        for (int j = 0; j < REGISTER_TILE; ++j) {
            const int c_row = row + i * TILE_WIDTH;
            const int c_column = column + j * TILE_WIDTH;
            if (c_row < m && c_column < n) C[c_row * n + c_column] = sum[i][j];
        }
    }
}

void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid(parts(n, BLOCK_WIDTH), parts(m, BLOCK_WIDTH));
    multiply_with(registers_kernel, grid, block, A, B, C, m, k, n);
}
