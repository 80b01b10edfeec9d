// What each version gains, and what the wrong order of a tile's indices costs.
#include "../../reference/matmul/matmul.cu"
#include "timing.cuh"

namespace {

constexpr int T = TILE_WIDTH;

enum class Tile { inverted, inverted_padded, row_from_x };

// The tile of A stored the other way round: As[tx][ty]; with one more column; or the row of C taken from threadIdx.x.
template <Tile HOW>
__global__ void inverted_kernel(const float* A, const float* B, float* C, int k, int n) {
    __shared__ float a_tile[T][T + (HOW == Tile::inverted_padded)], b_tile[T][T];
    const bool turned = HOW == Tile::row_from_x;
    const int x = turned ? threadIdx.y : threadIdx.x, y = turned ? threadIdx.x : threadIdx.y;
    const int column = blockIdx.x * T + x, row = blockIdx.y * T + y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += T) {
        if (turned)
            a_tile[y][x] = A[row * k + first + x];
        else
            a_tile[x][y] = A[row * k + first + x];
        b_tile[y][x] = B[(first + y) * n + column];
        __syncthreads();
        for (int q = 0; q < T; ++q) sum += (turned ? a_tile[y][q] : a_tile[q][y]) * b_tile[q][x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

// Two pairs of tiles: the next pair is loaded while the block computes with this one, and one barrier a pair is enough.
template <int W>
__global__ void tiled_kernel_of(const float* A, const float* B, float* C, int k, int n) {
    __shared__ float a_tile[W][W], b_tile[W][W];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * W + x, row = blockIdx.y * W + y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += W) {
        a_tile[y][x] = A[row * k + first + x];
        b_tile[y][x] = B[(first + y) * n + column];
        __syncthreads();
        for (int q = 0; q < W; ++q) sum += a_tile[y][q] * b_tile[q][x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

template <int W>
__global__ void prefetched_kernel(const float* A, const float* B, float* C, int k, int n) {
    __shared__ float a_tile[2][W][W], b_tile[2][W][W];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * W + x, row = blockIdx.y * W + y;
    float sum = 0.0f, next_a = A[row * k + x], next_b = B[y * n + column];
    for (int first = 0, now = 0; first < k; first += W, now = 1 - now) {
        a_tile[now][y][x] = next_a;
        b_tile[now][y][x] = next_b;
        __syncthreads();
        if (first + W < k) next_a = A[row * k + first + W + x], next_b = B[(first + W + y) * n + column];
        for (int q = 0; q < W; ++q) sum += a_tile[now][y][q] * b_tile[now][q][x];
    }
    C[row * n + column] = sum;
}

}  // namespace

int main() {
    const int n = 4096;
    const std::size_t count = static_cast<std::size_t>(n) * n;
    float *A = device_floats(count), *B = device_floats(count), *C = device_floats(count);
    const dim3 block(T, T), grid(n / T, n / T), fewer(n / BLOCK_WIDTH, n / BLOCK_HEIGHT), large(32, 32),
        grid32(n / 32, n / 32);
    const auto show = [&](const char* what, double ms) { row(what, "4096 × 4096", ms, 2e-12 * count * n, "TFLOP/s"); };
    show("rows", kernel_ms([&] { rows_kernel<<<grid, block>>>(A, B, C, n, n, n); }));
    show("columns", kernel_ms([&] { columns_kernel<<<grid, block>>>(A, B, C, n, n, n); }));
    show("tiled", kernel_ms([&] { tiled_kernel<<<grid, block>>>(A, B, C, n, n, n); }));
    show("tiled, without conditions, 16", kernel_ms([&] { tiled_kernel_of<16><<<grid, block>>>(A, B, C, n, n); }));
    show("tiled, without conditions, 32", kernel_ms([&] { tiled_kernel_of<32><<<grid32, large>>>(A, B, C, n, n); }));
    show("tiled, prefetched, 16", kernel_ms([&] { prefetched_kernel<16><<<grid, block>>>(A, B, C, n, n); }));
    show("tiled, prefetched, 32", kernel_ms([&] { prefetched_kernel<32><<<grid32, large>>>(A, B, C, n, n); }));
    show("tiled, As[tx][ty]", kernel_ms([&] { inverted_kernel<Tile::inverted><<<grid, block>>>(A, B, C, n, n); }));
    show("tiled, As[tx][ty] padded",
         kernel_ms([&] { inverted_kernel<Tile::inverted_padded><<<grid, block>>>(A, B, C, n, n); }));
    show("tiled, row from threadIdx.x",
         kernel_ms([&] { inverted_kernel<Tile::row_from_x><<<grid, block>>>(A, B, C, n, n); }));
    show("registers", kernel_ms([&] { registers_kernel<<<fewer, block>>>(A, B, C, n, n, n); }));

    const int small = 256;
    const dim3 tiles(small / T, small / T), parts(small / BLOCK_WIDTH, small / BLOCK_HEIGHT);
    const auto show_small = [](const char* what, double ms) {
        row(what, "256 × 256", ms, 2e-12 * (1 << 24), "TFLOP/s");
    };
    show_small("rows", kernel_ms([&] { rows_kernel<<<tiles, block>>>(A, B, C, small, small, small); }));
    show_small("columns", kernel_ms([&] { columns_kernel<<<tiles, block>>>(A, B, C, small, small, small); }));
    show_small("tiled", kernel_ms([&] { tiled_kernel<<<tiles, block>>>(A, B, C, small, small, small); }));
    show_small("registers", kernel_ms([&] { registers_kernel<<<parts, block>>>(A, B, C, small, small, small); }));

    std::vector<float> a(256 * 256, 1.0f), b(a), c(a);
    const auto whole = [&](const char* what, auto function) {
        row(what, "256 × 256, whole call", call_ms([&] { function(a.data(), b.data(), c.data(), 256, 256, 256); }));
    };
    whole("matmul_rows", matmul_rows);
    whole("matmul_columns", matmul_columns);
    whole("matmul_tiled", matmul_tiled);
    whole("matmul_registers", matmul_registers);
}
