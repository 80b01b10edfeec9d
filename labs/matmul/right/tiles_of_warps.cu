// RIGHT: a warp has a tile and waits for its own threads only; one_block adds up 4 × 4 elements a thread from vectors, registers 8 × 8
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "matmul.h"

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

__global__ void columns_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m; row += gridDim.y * blockDim.y)
        for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < n; column += gridDim.x * blockDim.x) {
            const float* a = A + row * k;
            const float* b = B + column;
            float sum = 0.0f;
            for (int q = 0; q < k; ++q, b += n) sum += a[q] * *b;
            C[row * n + column] = sum;
        }
}
void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    multiply_with(columns_kernel, dim3(1, 16), dim3(32, 8), A, B, C, m, k, n);
}
__global__ void one_block_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ __align__(16) float at[32][36];  // A transposed, for float4 down a column of A
    __shared__ __align__(16) float b[32][36];
    const int t = threadIdx.x;
    for (int i = t; i < 32 * 32; i += 64) {
        const int y = i / 32, x = i % 32;
        at[x][y] = y < m && x < k ? A[y * k + x] : 0.0f;
        b[y][x] = y < k && x < n ? B[y * n + x] : 0.0f;
    }
    __syncthreads();
    const int row = t / 8 * 4, column = t % 8 * 4;
    float sum[4][4] = {};
    for (int q = 0; q < k; ++q) {
        const float4 a4 = *reinterpret_cast<const float4*>(&at[q][row]);
        const float4 b4 = *reinterpret_cast<const float4*>(&b[q][column]);
        const float av[4] = {a4.x, a4.y, a4.z, a4.w}, bv[4] = {b4.x, b4.y, b4.z, b4.w};
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) sum[i][j] += av[i] * bv[j];
    }
    // Through shared memory, so that neighbouring threads store neighbouring elements.
    __syncthreads();
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) b[row + i][column + j] = sum[i][j];
    __syncthreads();
    for (int i = t; i < m * n; i += 64) C[i] = b[i / n][i % n];
}
void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    if (m > ONE_BLOCK_LIMIT || k > ONE_BLOCK_LIMIT || n > ONE_BLOCK_LIMIT) return;
    multiply_with(one_block_kernel, dim3(1), dim3(64), A, B, C, m, k, n);
}

// Four warps a block; each has a 16 x 16 tile of C and two small tiles of its own.
__global__ void tiled_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ float tiles[4][2][TILE_WIDTH][TILE_WIDTH];
    auto& a = tiles[threadIdx.y][0];
    auto& b = tiles[threadIdx.y][1];
    const int x = threadIdx.x % TILE_WIDTH, half = threadIdx.x / TILE_WIDTH;
    const int top = (blockIdx.y * 4 + threadIdx.y) * TILE_WIDTH, left = blockIdx.x * TILE_WIDTH;
    if (top >= m) return;
    float sum[8] = {};
    for (int first = 0; first < k; first += TILE_WIDTH) {
        for (int i = 0; i < 8; ++i) {
            const int y = 2 * i + half;
            a[y][x] = top + y < m && first + x < k ? A[(top + y) * k + first + x] : 0.0f;
            b[y][x] = first + y < k && left + x < n ? B[(first + y) * n + left + x] : 0.0f;
        }
        __syncwarp();
        for (int q = 0; q < TILE_WIDTH; ++q) {
            const float bq = b[q][x];
            for (int i = 0; i < 8; ++i) sum[i] += a[2 * i + half][q] * bq;
        }
        __syncwarp();
    }
    for (int i = 0; i < 8; ++i) {
        const int y = top + 2 * i + half;
        if (y < m && left + x < n) C[y * n + left + x] = sum[i];
    }
}
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    multiply_with(tiled_kernel, dim3(parts(n, TILE_WIDTH), parts(m, 4 * TILE_WIDTH)), dim3(32, 4), A, B, C, m, k, n);
}

// 8 x 8 elements a thread, 64 threads, parts of 64 x 64, 8 deep; the tile of A transposed and padded.
__global__ void registers_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ float at[8][68];
    __shared__ float bt[8][64];
    const int t = threadIdx.x, tx = t % 8, ty = t / 8;
    const int left = blockIdx.x * 64, top = blockIdx.y * 64;
    float sum[8][8] = {};
    for (int first = 0; first < k; first += 8) {
        for (int i = t; i < 64 * 8; i += 64) {
            const int y = i / 8, x = i % 8;
            at[x][y] = top + y < m && first + x < k ? A[(top + y) * k + first + x] : 0.0f;
            const int by = i / 64, bx = i % 64;
            bt[by][bx] = first + by < k && left + bx < n ? B[(first + by) * n + left + bx] : 0.0f;
        }
        __syncthreads();
        for (int q = 0; q < 8; ++q) {
            float a[8], b[8];
            for (int i = 0; i < 8; ++i) {
                a[i] = at[q][ty + 8 * i];
                b[i] = bt[q][tx + 8 * i];
            }
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            const int y = top + ty + 8 * i, x = left + tx + 8 * j;
            if (y < m && x < n) C[y * n + x] = sum[i][j];
        }
}
void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    multiply_with(registers_kernel, dim3(parts(n, 64), parts(m, 64)), dim3(64), A, B, C, m, k, n);
}
