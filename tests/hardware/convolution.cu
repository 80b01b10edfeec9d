// What a convolution gains from constant memory, from tiles and from registers.
#include "../../reference/convolution/convolution.cu"
#include "timing.cuh"

namespace {

// The chapter's own listing: the block's own elements in shared memory, the halo from global memory, that is from
// cache.
__global__ void cached_kernel(const float* N, float* P, int n, int mask_width) {
    __shared__ float tile[BLOCK_SIZE];
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) tile[threadIdx.x] = N[j];
    __syncthreads();
    if (j >= n) return;
    const int start = blockIdx.x * blockDim.x, end = start + blockDim.x, first = j - mask_width / 2;
    float sum = 0.0f;
    for (int i = 0; i < mask_width; ++i) {
        const int at = first + i;
        if (at < 0 || at >= n) continue;
        sum += (at >= start && at < end ? tile[at - start] : N[at]) * mask[i];
    }
    P[j] = sum;
}

// Four neighbouring elements for each thread: what one loads serves all four. From a tile, or from the cache.
template <int W, bool TILE>
__global__ void four_kernel(const float* N, float* P, int n) {
    constexpr int radius = W / 2, per_block = 4 * BLOCK_SIZE;
    __shared__ float tile[TILE ? per_block + W - 1 : 1];
    const int block_start = blockIdx.x * per_block - radius;
    if (TILE) {
        for (int i = threadIdx.x; i < per_block + W - 1; i += BLOCK_SIZE) {
            const int source = block_start + i;
            tile[i] = source >= 0 && source < n ? N[source] : 0.0f;
        }
        __syncthreads();
    }
    float values[W + 3], sum[4] = {};
#pragma unroll
    for (int i = 0; i < W + 3; ++i) {
        const int at = 4 * threadIdx.x + i, source = block_start + at;
        values[i] = TILE ? tile[at] : source >= 0 && source < n ? N[source] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int i = 0; i < W; ++i) sum[k] += values[k + i] * mask[i];
        const int j = blockIdx.x * per_block + 4 * threadIdx.x + k;
        if (j < n) P[j] = sum[k];
    }
}

__global__ void constant_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int radius = mask_width / 2;
    float sum = 0.0f;
    for (int v = 0; v < mask_width; ++v) {
        for (int u = 0; u < mask_width; ++u) {
            const int row = y - radius + v, column = x - radius + u;
            if (row >= 0 && row < height && column >= 0 && column < width) {
                sum += N[row * width + column] * mask[v * mask_width + u];
            }
        }
    }
    P[y * width + x] = sum;
}

// Four rows for each thread, for a mask of any width: it moves down the columns of the mask, with the weights from
// shared or from constant memory.
template <bool SHARED_WEIGHTS>
__global__ void any_width_kernel_2d(const float* N, float* P, int height, int width, int mask_width) {
    constexpr int rows = 4 * TILE_HEIGHT;
    __shared__ float tile[rows + MAX_MASK_WIDTH - 1][TILE_WIDTH + MAX_MASK_WIDTH - 1];
    __shared__ float weights[SHARED_WEIGHTS ? MAX_MASK_WIDTH * MAX_MASK_WIDTH : 1];
    const int start_x = blockIdx.x * TILE_WIDTH - mask_width / 2, start_y = blockIdx.y * rows - mask_width / 2;
    for (int v = threadIdx.y; v < rows + mask_width - 1; v += TILE_HEIGHT) {
        for (int u = threadIdx.x; u < TILE_WIDTH + mask_width - 1; u += TILE_WIDTH) {
            tile[v][u] = element(N, height, width, start_y + v, start_x + u);
        }
    }
    const int i = threadIdx.y * TILE_WIDTH + threadIdx.x;
    if (SHARED_WEIGHTS && i < mask_width * mask_width) weights[i] = mask[i];
    __syncthreads();
    float sum[4] = {}, window[4];
    const int top = 4 * threadIdx.y;
    for (int u = 0; u < mask_width; ++u) {
        for (int r = 1; r < 4; ++r) window[r] = tile[top + r - 1][threadIdx.x + u];
        for (int v = 0; v < mask_width; ++v) {
            for (int r = 1; r < 4; ++r) window[r - 1] = window[r];
            window[3] = tile[top + v + 3][threadIdx.x + u];
            const float weight = SHARED_WEIGHTS ? weights[v * mask_width + u] : mask[v * mask_width + u];
            for (int r = 0; r < 4; ++r) sum[r] += window[r] * weight;
        }
    }
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    for (int r = 0; r < 4; ++r) {
        const int y = blockIdx.y * rows + top + r;
        if (x < width && y < height) P[y * width + x] = sum[r];
    }
}

// Each thread computes four rows of its column: a loaded element serves up to four sums. From a tile or the cache.
template <int W, bool TILE>
__global__ void four_rows_kernel_2d(const float* N, float* P, int height, int width) {
    constexpr int radius = W / 2, rows = 4 * TILE_HEIGHT;
    __shared__ float tile[TILE ? rows + W - 1 : 1][TILE_WIDTH + W - 1];
    const int start_x = blockIdx.x * TILE_WIDTH - radius, start_y = blockIdx.y * rows - radius;
    const auto load = [&](int v, int u) { return element(N, height, width, start_y + v, start_x + u); };
    if (TILE) {
        for (int v = threadIdx.y; v < rows + W - 1; v += TILE_HEIGHT) {
            for (int u = threadIdx.x; u < TILE_WIDTH + W - 1; u += TILE_WIDTH) tile[v][u] = load(v, u);
        }
        __syncthreads();
    }
    float sum[4] = {};
    const int first = 4 * threadIdx.y;
#pragma unroll
    for (int u = 0; u < W; ++u) {
        float column[W + 3];
#pragma unroll
        for (int v = 0; v < W + 3; ++v) {
            column[v] = TILE ? tile[first + v][threadIdx.x + u] : load(first + v, threadIdx.x + u);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int v = 0; v < W; ++v) sum[k] += column[k + v] * mask[v * W + u];
        }
    }
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        const int y = blockIdx.y * rows + first + k;
        if (x < width && y < height) P[y * width + x] = sum[k];
    }
}

template <int W>
void one_dimension(int n) {
    float *d_N = device_floats(n), *d_M = device_floats(W), *d_P = device_floats(n);
    const int blocks = blocks_for(n, BLOCK_SIZE), fewer = blocks_for(n, 4 * BLOCK_SIZE);
    char size[64];
    std::snprintf(size, sizeof size, "2^%d, mask %d", __builtin_ctz(n), W);
    const double bytes = 8e-9 * n;
    row("1-D naive", size, kernel_ms([&] { naive_kernel<<<blocks, BLOCK_SIZE>>>(d_N, d_M, d_P, n, W); }), bytes,
        "GB/s");
    row("1-D constant", size, kernel_ms([&] { constant_kernel<<<blocks, BLOCK_SIZE>>>(d_N, d_P, n, W); }), bytes,
        "GB/s");
    row("1-D tile", size, kernel_ms([&] { tiled_kernel<<<blocks, BLOCK_SIZE>>>(d_N, d_P, n, W); }), bytes, "GB/s");
    row("1-D listing 8.16", size, kernel_ms([&] { cached_kernel<<<blocks, BLOCK_SIZE>>>(d_N, d_P, n, W); }), bytes,
        "GB/s");
    row("1-D four a thread, cache", size, kernel_ms([&] { four_kernel<W, false><<<fewer, BLOCK_SIZE>>>(d_N, d_P, n); }),
        bytes, "GB/s");
    row("1-D four a thread, tile", size, kernel_ms([&] { four_kernel<W, true><<<fewer, BLOCK_SIZE>>>(d_N, d_P, n); }),
        bytes, "GB/s");
    for (float* each : {d_N, d_M, d_P}) CHECK(cudaFree(each));
}

template <int W>
void two_dimensions(int n) {
    const std::size_t count = static_cast<std::size_t>(n) * n;
    float *d_N = device_floats(count), *d_P = device_floats(count);
    const dim3 block(TILE_WIDTH, TILE_HEIGHT), grid(n / TILE_WIDTH, n / TILE_HEIGHT), fewer(grid.x, grid.y / 4);
    const dim3 fewest(grid.x, grid.y / ROWS);
    char size[64];
    std::snprintf(size, sizeof size, "%d², mask %d × %d", n, W, W);
    const double operations = 2e-9 * W * W * static_cast<double>(count);
    const auto show = [&](const char* what, double ms) { row(what, size, ms, operations, "GFLOP/s"); };
    show("2-D constant", kernel_ms([&] { constant_kernel_2d<<<grid, block>>>(d_N, d_P, n, n, W); }));
    show("2-D tile", kernel_ms([&] { tiled_kernel_2d<<<grid, block>>>(d_N, d_P, n, n, W); }));
    show("2-D registers, the lab's", kernel_ms([&] { registers_kernel_2d<W><<<fewest, block>>>(d_N, d_P, n, n); }));
    show("2-D any width, weights in shared memory",
         kernel_ms([&] { any_width_kernel_2d<true><<<fewer, block>>>(d_N, d_P, n, n, W); }));
    show("2-D any width, weights in constant memory",
         kernel_ms([&] { any_width_kernel_2d<false><<<fewer, block>>>(d_N, d_P, n, n, W); }));
    show("2-D four rows a thread, cache",
         kernel_ms([&] { four_rows_kernel_2d<W, false><<<fewer, block>>>(d_N, d_P, n, n); }));
    show("2-D four rows a thread, tile",
         kernel_ms([&] { four_rows_kernel_2d<W, true><<<fewer, block>>>(d_N, d_P, n, n); }));
    for (float* each : {d_N, d_P}) CHECK(cudaFree(each));
}

// What no convolution of an image can be faster than.
void copy(int n) {
    const std::size_t count = static_cast<std::size_t>(n) * n;
    float *from = device_floats(count), *to = device_floats(count);
    char size[16];
    std::snprintf(size, sizeof size, "%d²", n);
    row("2-D copy", size,
        kernel_ms([&] { CHECK(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice)); }),
        8e-9 * static_cast<double>(count), "GB/s");
    for (float* each : {from, to}) CHECK(cudaFree(each));
}

}  // namespace

int main() {
    std::vector<float> weights(MAX_MASK_WIDTH * MAX_MASK_WIDTH, 0.5f);
    set_mask(weights.data(), static_cast<int>(weights.size()));
    one_dimension<5>(1 << 26);
    one_dimension<9>(1 << 26);
    one_dimension<15>(1 << 26);
    one_dimension<15>(1 << 22);
    copy(8192);
    two_dimensions<3>(8192);
    two_dimensions<5>(8192);
    two_dimensions<9>(8192);
    two_dimensions<15>(8192);
    copy(2048);
    two_dimensions<15>(2048);
}
