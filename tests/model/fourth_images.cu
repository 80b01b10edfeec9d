// Fourth held-out set: families of images and of their lines.
#include "families.cuh"

namespace {

__global__ void empty() {}

constexpr int edge = 2048, pixels = edge * edge;

// --- Gaussian blur of radius 7, rows first and columns then; what is outside is as the nearest pixel

constexpr int radius = 7, window = 2 * radius + 1;
__constant__ float weights[window];

__host__ __device__ inline int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

__global__ void blur_rows(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int d = -radius; d <= radius; ++d) sum += weights[d + radius] * in[y * edge + clamped(x + d, edge)];
    out[y * edge + x] = sum;
}

__global__ void blur_columns(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int d = -radius; d <= radius; ++d) sum += weights[d + radius] * in[clamped(y + d, edge) * edge + x];
    out[y * edge + x] = sum;
}

// Both in one kernel: 32 x 32 pixels of a tile with borders, by 256 threads.
__global__ void blur_tile(const float* in, float* out) {
    constexpr int side = 32 + 2 * radius;
    __shared__ float tile[side][side + 1], rows[side][32];
    const int left = blockIdx.x * 32 - radius, top = blockIdx.y * 32 - radius;
    for (int i = threadIdx.x; i < side * side; i += 256)
        tile[i / side][i % side] = in[clamped(top + i / side, edge) * edge + clamped(left + i % side, edge)];
    __syncthreads();
    for (int i = threadIdx.x; i < side * 32; i += 256) {
        float sum = 0;
        for (int d = 0; d < window; ++d) sum += weights[d] * tile[i / 32][i % 32 + d];
        rows[i / 32][i % 32] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * 32; i += 256) {
        float sum = 0;
        for (int d = 0; d < window; ++d) sum += weights[d] * rows[i / 32 + d][i % 32];
        out[(blockIdx.y * 32 + i / 32) * edge + blockIdx.x * 32 + i % 32] = sum;
    }
}

// A thread goes down 64 pixels and keeps the 15 sums of rows that it needs next.
__global__ void blur_sliding(const float* in, float* out) {
    __shared__ float line[128 + 2 * radius];
    const int x = blockIdx.x * 128 + threadIdx.x, top = blockIdx.y * 64;
    float sums[window] = {};
    for (int y = top - radius; y < top + 64 + radius; ++y) {
        const float* row = in + clamped(y, edge) * edge;
        __syncthreads();
        for (int i = threadIdx.x; i < 128 + 2 * radius; i += 128)
            line[i] = row[clamped(blockIdx.x * 128 + i - radius, edge)];
        __syncthreads();
        float sum = 0, all = 0;
#pragma unroll
        for (int d = 0; d < window; ++d) sum += weights[d] * line[threadIdx.x + d];
#pragma unroll
        for (int d = 0; d < window; ++d) {
            sums[d] = d < window - 1 ? sums[d + 1] : sum;
            all += weights[d] * sums[d];
        }
        if (y >= top + radius) out[(y - radius) * edge + x] = all;
    }
}

void blur() {
    const auto in = filled<float>(pixels, random_float);
    std::vector<float> by(window);
    for (int d = 0; d < window; ++d) by[d] = std::exp(-(d - radius) * (d - radius) / 18.0f) / 7.45f;
    CHECK(cudaMemcpyToSymbol(weights, by.data(), sizeof weights));
    float *din = to_device(in), *between = empty_array<float>(pixels), *out = empty_array<float>(pixels);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        const int x = static_cast<int>(i % edge), y = static_cast<int>(i / edge);
        for (int k = 0; k < window * window; ++k)
            sum += by[k / window] * by[k % window] *
                   in[clamped(y + k / window - radius, edge) * edge + clamped(x + k % window - radius, edge)];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, pixels, check, launch); };
    const dim3 lines(edge / 256, edge), tiles(edge / 32, edge / 8);
    show("blur: lines", [&] {
        blur_rows<<<lines, 256>>>(din, between);
        blur_columns<<<lines, 256>>>(between, out);
    });
    show("blur: tiles", [&] {
        blur_rows<<<tiles, dim3(32, 8)>>>(din, between);
        blur_columns<<<tiles, dim3(32, 8)>>>(between, out);
    });
    show("blur: one kernel", [&] { blur_tile<<<dim3(edge / 32, edge / 32), 256>>>(din, out); });
    show("blur: sliding", [&] { blur_sliding<<<dim3(edge / 128, edge / 64), 128>>>(din, out); });
    for (float* each : {din, between, out}) CHECK(cudaFree(each));
}

// --- edges of an image of bytes (Sobel), 4096^2, zero at the border

constexpr int wide = 4096, tall = 4096;

__host__ __device__ inline unsigned char slope(int a, int b, int c, int d, int e, int f, int g, int h) {
    // a b c
    // d . e
    // f g h
    const int dx = c + 2 * e + h - a - 2 * d - f, dy = f + 2 * g + h - a - 2 * b - c;
    const int size = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
    return static_cast<unsigned char>(size > 255 ? 255 : size);
}

__host__ __device__ inline unsigned char slope_at(const unsigned char* p, int pitch) {
    return slope(p[-pitch - 1], p[-pitch], p[-pitch + 1], p[-1], p[1], p[pitch - 1], p[pitch], p[pitch + 1]);
}

__global__ void sobel_global(const unsigned char* in, unsigned char* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < wide - 1 && y > 0 && y < tall - 1) out[y * wide + x] = slope_at(in + y * wide + x, wide);
}

// 32 x 32 pixels and their neighbours in shared memory; each thread has one.
__global__ void sobel_shared(const unsigned char* in, unsigned char* out) {
    __shared__ unsigned char tile[34 * 36];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 34 * 34; i += 1024) {
        const int from_x = blockIdx.x * 32 + i % 34 - 1, from_y = blockIdx.y * 32 + i / 34 - 1;
        const bool inside = from_x >= 0 && from_x < wide && from_y >= 0 && from_y < tall;
        tile[i / 34 * 36 + i % 34] = inside ? in[from_y * wide + from_x] : 0;
    }
    __syncthreads();
    if (x > 0 && x < wide - 1 && y > 0 && y < tall - 1)
        out[y * wide + x] = slope_at(tile + (threadIdx.y + 1) * 36 + threadIdx.x + 1, 36);
}

// Four pixels a thread, of three words and the bytes beside them.
__global__ void sobel_words(const unsigned char* in, uchar4* out) {
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y;
    if (y == 0 || y == tall - 1) return;
    int p[3][6];
#pragma unroll
    for (int r = 0; r < 3; ++r) {
        const unsigned char* row = in + (y + r - 1) * wide + x;
        const uchar4 word = *reinterpret_cast<const uchar4*>(row);
        p[r][1] = word.x, p[r][2] = word.y, p[r][3] = word.z, p[r][4] = word.w;
        p[r][0] = x > 0 ? row[-1] : 0, p[r][5] = x < wide - 4 ? row[4] : 0;
    }
    unsigned char value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        value[k] = slope(p[0][k], p[0][k + 1], p[0][k + 2], p[1][k], p[1][k + 2], p[2][k], p[2][k + 1], p[2][k + 2]);
    if (x == 0) value[0] = 0;
    if (x == wide - 4) value[3] = 0;
    out[(y * wide + x) / 4] = make_uchar4(value[0], value[1], value[2], value[3]);
}

void sobel() {
    const int n = wide * tall;
    const auto in = filled<unsigned char>(n, [](unsigned i) { return hash(i) % 90 + i % wide / 32; });
    unsigned char *din = to_device(in), *out = empty_array<unsigned char>(n);
    const auto check = [&](std::size_t i) {
        const std::size_t x = i % wide, y = i / wide;
        const bool border = x == 0 || x == wide - 1 || y == 0 || y == tall - 1;
        return border ? 0 : slope_at(in.data() + i, wide);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096^2", out, n, check, launch); };
    show("sobel: global", [&] { sobel_global<<<dim3(wide / 16, tall / 16), dim3(16, 16)>>>(din, out); });
    show("sobel: shared", [&] { sobel_shared<<<dim3(wide / 32, tall / 32), dim3(32, 32)>>>(din, out); });
    show("sobel: words", [&] { sobel_words<<<dim3(wide / 512, tall), 128>>>(din, (uchar4*)out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- dilation: the largest of 17 x 17 pixels, 1024^2 floats

constexpr int grown = 1024, reach = 8;

__global__ void dilate_window(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float most = 0;
    for (int v = max(y - reach, 0); v <= min(y + reach, grown - 1); ++v)
        for (int u = max(x - reach, 0); u <= min(x + reach, grown - 1); ++u) most = fmaxf(most, in[v * grown + u]);
    out[y * grown + x] = most;
}

// Along a line of step 1, then down with a step of a row: a thread of a block of 256 each.
__global__ void dilate_line(const float* in, float* out, int step, int across) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, line = blockIdx.y;
    float most = 0;
    for (int k = max(i - reach, 0); k <= min(i + reach, grown - 1); ++k)
        most = fmaxf(most, in[line * across + k * step]);
    out[line * across + i * step] = most;
}

// The largest of 2, 4, 8 and 16 pixels to the right, each of two of those before, in shared memory; the last two
// overlap. A block has a row, whose results go to a column of `out`.
__global__ void dilate_doubling(const float* in, float* out) {
    __shared__ float line[2][grown + 2 * reach];
    const int x = threadIdx.x;
    line[0][x + reach] = in[blockIdx.x * grown + x];
    if (x < 2 * reach) line[0][x < reach ? x : grown + x] = 0;
    int from = 0;
    for (int d = 1; d < 16; d *= 2, from = 1 - from) {
        __syncthreads();
        for (int i = x; i < grown + 2 * reach; i += grown)
            line[1 - from][i] = fmaxf(line[from][i], i + d < grown + 2 * reach ? line[from][i + d] : 0);
    }
    __syncthreads();
    out[x * grown + blockIdx.x] = fmaxf(line[from][x], line[from][x + 1]);
}

void dilate() {
    const int n = grown * grown;
    const auto in = filled<float>(n, random_float);
    float *din = to_device(in), *between = empty_array<float>(n), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        const int x = static_cast<int>(i % grown), y = static_cast<int>(i / grown);
        float most = 0;
        for (int v = std::max(y - reach, 0); v <= std::min(y + reach, grown - 1); ++v)
            for (int u = std::max(x - reach, 0); u <= std::min(x + reach, grown - 1); ++u)
                most = std::max(most, in[v * grown + u]);
        return most;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "1024^2", out, n, check, launch); };
    show("dilate: window", [&] { dilate_window<<<dim3(grown / 32, grown / 8), dim3(32, 8)>>>(din, out); });
    show("dilate: lines", [&] {
        dilate_line<<<dim3(grown / 256, grown), 256>>>(din, between, 1, grown);
        dilate_line<<<dim3(grown / 256, grown), 256>>>(between, out, grown, 1);
    });
    show("dilate: doubling", [&] {
        dilate_doubling<<<grown, grown>>>(din, between);
        dilate_doubling<<<grown, grown>>>(between, out);
    });
    for (float* each : {din, between, out}) CHECK(cudaFree(each));
}

// --- the largest so far along each of 64 lines of 8192

constexpr int lines = 64, length = 8192;

__global__ void running_thread(const float* in, float* out) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * length;
    float most = in[first];
    for (int i = first; i < first + length; ++i) out[i] = most = fmaxf(most, in[i]);
}

// The largest of this lane and those below it.
__device__ inline float scan_warp(float value) {
    for (int d = 1; d < 32; d *= 2) value = fmaxf(value, __shfl_up_sync(~0u, value, d));  // the lowest get their own
    return value;
}

__global__ void running_warp(const float* in, float* out) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * length;
    float before = 0;
    for (int i = first + lane; i < first + length; i += 32) {
        const float most = fmaxf(before, scan_warp(in[i]));
        out[i] = most;
        before = __shfl_sync(~0u, most, 31);
    }
}

// A block a line, 1024 numbers at once.
__global__ void running_block(const float* in, float* out) {
    __shared__ float warps[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * length;
    float before = 0;
    for (int k = 0; k < length; k += 1024) {
        const int i = first + k + threadIdx.x;
        float most = scan_warp(in[i]);
        if (lane == 31) warps[warp] = most;
        __syncthreads();
        if (warp == 0) warps[lane] = fmaxf(before, scan_warp(warps[lane]));
        __syncthreads();
        most = fmaxf(most, warp > 0 ? warps[warp - 1] : before);
        before = warps[31];
        out[i] = most;
        __syncthreads();
    }
}

void running() {
    const int n = lines * length;
    const auto in = filled<float>(n, [](unsigned i) { return random_float(i) * (1 + i % length); });
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        return *std::max_element(in.begin() + i / length * length, in.begin() + i + 1);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "64 of 8192", out, n, check, launch); };
    show("running: thread", [&] { running_thread<<<lines / 32, 32>>>(din, out); });
    show("running: warp", [&] { running_warp<<<lines / 4, 128>>>(din, out); });
    show("running: block", [&] { running_block<<<lines, 1024>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    blur();
    sobel();
    dilate();
    running();
    return wrong;
}
