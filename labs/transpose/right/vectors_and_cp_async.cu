// RIGHT: one index for all elements; a tile filled by cp.async; float4 on both sides of a padded tile
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include "check.cuh"
#include "transpose.h"

// one linear index for each element of B
__global__ void naive_kernel(const float* A, float* B, int rows, int columns) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < rows * columns; e += gridDim.x * blockDim.x)
        B[e] = A[e % rows * columns + e / rows];
}

namespace cg = cooperative_groups;
template <int PITCH>
__global__ void async_kernel(const float* __restrict__ A, float* __restrict__ B, int rows, int columns) {
    __shared__ float tile[32 * PITCH];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int lane = warp.thread_rank(), first = warp.meta_group_rank(), count = warp.meta_group_size();
    const int across = (columns + 31) / 32, left = blockIdx.x % across * 32, top = blockIdx.x / across * 32;
    for (int y = first; y < 32; y += count)
        if (top + y < rows && left + lane < columns)
            __pipeline_memcpy_async(&tile[y * PITCH + lane], &A[(top + y) * columns + left + lane], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    block.sync();
    for (int y = first; y < 32; y += count)
        if (left + y < columns && top + lane < rows) B[(left + y) * rows + top + lane] = tile[lane * PITCH + y];
}

// A thread loads four neighbours of four rows, and stores four neighbours of four columns. 8 x 8 threads, tile 32 x 32.
template <int PITCH>
__global__ void vector_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[32][PITCH];
    const int left = blockIdx.x * 32, top = blockIdx.y * 32, x = threadIdx.x * 4;
    const bool whole = top + 32 <= rows && left + 32 <= columns && rows % 4 == 0 && columns % 4 == 0;
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (whole) {
            const float4 four = *reinterpret_cast<const float4*>(&A[(top + y) * columns + left + x]);
            tile[y][x] = four.x;
            tile[y][x + 1] = four.y;
            tile[y][x + 2] = four.z;
            tile[y][x + 3] = four.w;
        } else {
            for (int i = 0; i < 4; ++i)
                if (top + y < rows && left + x + i < columns) tile[y][x + i] = A[(top + y) * columns + left + x + i];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (whole) {
            *reinterpret_cast<float4*>(&B[(left + y) * rows + top + x]) =
                make_float4(tile[x][y], tile[x + 1][y], tile[x + 2][y], tile[x + 3][y]);
        } else {
            for (int i = 0; i < 4; ++i)
                if (left + y < columns && top + x + i < rows) B[(left + y) * rows + top + x + i] = tile[x + i][y];
        }
    }
}

static int parts(int size, int w) { return (size + w - 1) / w; }

using Kernel = void (*)(const float* A, float* B, int rows, int columns);

static void transpose(Kernel kernel, dim3 grid, dim3 block, const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    const size_t bytes = sizeof(float) * rows * columns;
    float *d_A, *d_B;
    CHECK(cudaMallocAsync(&d_A, bytes, nullptr));
    CHECK(cudaMallocAsync(&d_B, bytes, nullptr));
    CHECK(cudaMemcpyAsync(d_A, A, bytes, cudaMemcpyHostToDevice, nullptr));
    kernel<<<grid, block>>>(d_A, d_B, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(B, d_B, bytes, cudaMemcpyDeviceToHost, nullptr));
    CHECK(cudaFreeAsync(d_A, nullptr));
    CHECK(cudaFreeAsync(d_B, nullptr));
    CHECK(cudaStreamSynchronize(nullptr));
}

void transpose_naive(const float* A, float* B, int rows, int columns) {
    transpose(naive_kernel, 64, 128, A, B, rows, columns);
}

void transpose_shared(const float* A, float* B, int rows, int columns) {
    transpose(async_kernel<32>, parts(columns, 32) * parts(rows, 32), 256, A, B, rows, columns);
}

void transpose_padded(const float* A, float* B, int rows, int columns) {
    transpose(vector_kernel<33>, dim3(parts(columns, 32), parts(rows, 32)), dim3(8, 8), A, B, rows, columns);
}
