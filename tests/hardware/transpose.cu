// What the padded tile gains, and what fewer threads a block gain beside it.
#include "../../reference/transpose/transpose.cu"
#include "timing.cuh"

namespace {

// The other direction: a warp loads down a column and stores along a row.
__global__ void stores_in_rows_kernel(const float* A, float* B, int rows, int columns) {
    const int row = blockIdx.x * TILE_WIDTH + threadIdx.x, column = blockIdx.y * TILE_WIDTH + threadIdx.y;  // of A
    if (row < rows && column < columns) B[column * rows + row] = A[row * columns + column];
}

// One thread for each element.
__global__ void padded_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[32][33];
    const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = A[row * columns + column];
    __syncthreads();
    const int b_row = blockIdx.x * 32 + threadIdx.y, b_column = blockIdx.y * 32 + threadIdx.x;
    if (b_row < columns && b_column < rows) B[b_row * rows + b_column] = tile[threadIdx.x][threadIdx.y];
}

// A block of 32 × 8 threads: each thread moves four elements.
__global__ void four_rows_kernel(const float* A, float* B, int rows, int columns) {
    __shared__ float tile[32][32];
    const int column = blockIdx.x * 32 + threadIdx.x, b_column = blockIdx.y * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) tile[y][threadIdx.x] = A[(blockIdx.y * 32 + y) * columns + column];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) B[(blockIdx.x * 32 + y) * rows + b_column] = tile[threadIdx.x][y];
}

}  // namespace

int main() {
    for (const int n : {4096, 8192}) {
        const std::size_t count = static_cast<std::size_t>(n) * n;
        float *A = device_floats(count), *B = device_floats(count);
        const dim3 block(32, 32), fewer(32, 8), grid(n / 32, n / 32);
        char size[32];
        std::snprintf(size, sizeof size, "%d × %d", n, n);
        const auto show = [&](const char* what, double ms) { row(what, size, ms, 8e-9 * count, "GB/s"); };
        show("copy", kernel_ms([&] { cudaMemcpyAsync(B, A, count * 4, cudaMemcpyDeviceToDevice); }));
        show("naive, loads along rows", kernel_ms([&] { transpose_naive_kernel<<<grid, block>>>(A, B, n, n); }));
        show("naive, stores along rows", kernel_ms([&] { stores_in_rows_kernel<<<grid, block>>>(A, B, n, n); }));
        show("tile", kernel_ms([&] { transpose_shared_kernel<<<grid, block>>>(A, B, n, n); }));
        show("padded tile", kernel_ms([&] { padded_kernel<<<grid, block>>>(A, B, n, n); }));
        show("tile, 32 × 8 threads", kernel_ms([&] { four_rows_kernel<<<grid, fewer>>>(A, B, n, n); }));
        show("padded tile, 32 × 8 threads", kernel_ms([&] { transpose_padded_kernel<<<grid, fewer>>>(A, B, n, n); }));
        CHECK(cudaFree(A));
        CHECK(cudaFree(B));
    }
}
