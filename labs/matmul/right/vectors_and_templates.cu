// RIGHT: tiles of 32 × 32 as a template, and register tiles of neighbours that travel as float4
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

// 4. The width of the tile is a parameter of the template.

template <int WIDTH>
__global__ void tiled_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ float a_tile[WIDTH][WIDTH], b_tile[WIDTH][WIDTH];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * WIDTH + x, row = blockIdx.y * WIDTH + y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += WIDTH) {
        a_tile[y][x] = row < m && first + x < k ? A[row * k + first + x] : 0.0f;
        b_tile[y][x] = first + y < k && column < n ? B[(first + y) * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < WIDTH; ++q) sum += a_tile[y][q] * b_tile[q][x];
        __syncthreads();
    }
    if (row < m && column < n) C[row * n + column] = sum;
}

template <int WIDTH>
static void launch_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    multiply_with(tiled_kernel<WIDTH>, dim3(parts(n, WIDTH), parts(m, WIDTH)), dim3(WIDTH, WIDTH), A, B, C, m, k, n);
}

void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    m % 32 == 0 && n % 32 == 0 && k % 32 == 0 ? launch_tiled<32>(A, B, C, m, k, n) : launch_tiled<16>(A, B, C, m, k, n);
}

// 5. A thread has 4 × 4 elements that are neighbours. The tile of A is stored transposed, so that they are one float4.

inline constexpr int BLOCK_WIDTH = REGISTER_TILE * TILE_WIDTH;

// Four neighbours of a row from `column` on; zero outside of the matrix.
__device__ float4 four(const float* M, int row, int column, int rows, int columns) {
    if (row >= rows) return make_float4(0, 0, 0, 0);
    const float* const from = M + size_t(row) * columns + column;
    if (columns % 4 == 0 && column < columns) return *reinterpret_cast<const float4*>(from);
    return make_float4(column < columns ? from[0] : 0, column + 1 < columns ? from[1] : 0,
                       column + 2 < columns ? from[2] : 0, column + 3 < columns ? from[3] : 0);
}

__global__ void registers_kernel(const float* A, const float* B, float* C, int m, int k, int n) {
    __shared__ __align__(16) float a_tile[TILE_WIDTH][BLOCK_WIDTH + 4];
    __shared__ __align__(16) float b_tile[TILE_WIDTH][BLOCK_WIDTH];
    const int t = threadIdx.y * TILE_WIDTH + threadIdx.x;
    const int row0 = blockIdx.y * BLOCK_WIDTH, column0 = blockIdx.x * BLOCK_WIDTH;
    float sum[4][4] = {};
    for (int first = 0; first < k; first += TILE_WIDTH) {
        const float4 a = four(A, row0 + t / 4, first + t % 4 * 4, m, k);
        a_tile[t % 4 * 4 + 0][t / 4] = a.x;
        a_tile[t % 4 * 4 + 1][t / 4] = a.y;
        a_tile[t % 4 * 4 + 2][t / 4] = a.z;
        a_tile[t % 4 * 4 + 3][t / 4] = a.w;
        *reinterpret_cast<float4*>(&b_tile[t / 16][t % 16 * 4]) =
            four(B, first + t / 16, column0 + t % 16 * 4, k, n);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE_WIDTH; ++q) {
            const float4 av = *reinterpret_cast<const float4*>(&a_tile[q][4 * threadIdx.y]);
            const float4 bv = *reinterpret_cast<const float4*>(&b_tile[q][4 * threadIdx.x]);
            const float ar[4] = {av.x, av.y, av.z, av.w}, br[4] = {bv.x, bv.y, bv.z, bv.w};
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += ar[i] * br[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + 4 * threadIdx.y + i, column = column0 + 4 * threadIdx.x;
        if (row >= m) break;
        if (n % 4 == 0) {
            if (column < n)
                *reinterpret_cast<float4*>(&C[size_t(row) * n + column]) =
                    make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        } else {
            for (int j = 0; j < 4; ++j)
                if (column + j < n) C[size_t(row) * n + column + j] = sum[i][j];
        }
    }
}

void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const dim3 block(TILE_WIDTH, TILE_WIDTH), grid(parts(n, BLOCK_WIDTH), parts(m, BLOCK_WIDTH));
    multiply_with(registers_kernel, grid, block, A, B, C, m, k, n);
}
