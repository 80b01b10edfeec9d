// Seventh held-out set: transposes, one-dimensional filters and correlations.
#include "families.cuh"

namespace {

// --- transpose of 2048 rows of 3072 floats

constexpr int high = 2048, wide = 3072;

__global__ void turn_read(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * high + y] = in[y * wide + x];
}

__global__ void turn_write(const float* in, float* out) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * high + y] = in[y * wide + x];
}

template <int pitch>
__global__ void turn_tile(const float* in, float* out) {
    __shared__ float tile[32][pitch];
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = in[(y + k) * wide + x + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) out[(x + k) * high + y + threadIdx.x] = tile[threadIdx.x][k];
}

void turn() {
    const auto in = filled<float>(high * wide, random_float);
    float *din = to_device(in), *out = empty_array<float>(high * wide);
    const auto check = [&](std::size_t i) { return in[i % high * wide + i / high]; };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2048 x 3072", out, high * wide, check, launch);
    };
    const dim3 square(16, 16), flat(32, 8);
    show("turn: reads in order", [&] { turn_read<<<dim3(wide / 16, high / 16), square>>>(din, out); });
    show("turn: writes in order", [&] { turn_write<<<dim3(high / 32, wide / 8), flat>>>(din, out); });
    show("turn: tile", [&] { turn_tile<32><<<dim3(wide / 32, high / 32), flat>>>(din, out); });
    show("turn: padded tile", [&] { turn_tile<33><<<dim3(wide / 32, high / 32), flat>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- a filter of radius 4 over 2^23 floats, zero outside

constexpr int radius = 4, taps = 2 * radius + 1;
__constant__ float mask[taps];

__global__ void line_global(const float* in, const float* weights, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
        const int at = i + k - radius;
        if (at >= 0 && at < n) sum += weights[k] * in[at];
    }
    out[i] = sum;
}

__global__ void line_constant(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < taps; ++k) {
        const int at = i + k - radius;
        if (at >= 0 && at < n) sum += mask[k] * in[at];
    }
    out[i] = sum;
}

__global__ void line_shared(const float* in, float* out, int n) {
    __shared__ float tile[256 + 2 * radius];
    const int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x + radius] = in[i];
    if (threadIdx.x < radius) {
        tile[threadIdx.x] = i >= radius ? in[i - radius] : 0;
        tile[threadIdx.x + 256 + radius] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < taps; ++k) sum += mask[k] * tile[threadIdx.x + k];
    out[i] = sum;
}

// Four neighbours a thread, from three vectors.
__global__ void line_vectors(const float4* in, float4* out, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 zero = make_float4(0, 0, 0, 0);
    const float4 a = i > 0 ? in[i - 1] : zero, b = in[i], c = i + 1 < vectors ? in[i + 1] : zero;
    const float v[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
    float sums[4] = {};
#pragma unroll
    for (int k = 0; k < taps; ++k)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[j] += mask[k] * v[j + k];
    out[i] = make_float4(sums[0], sums[1], sums[2], sums[3]);
}

void filter_line() {
    const int n = 1 << 23;
    const auto in = filled<float>(n, random_float);
    const auto weights = filled<float>(taps, [](unsigned i) { return random_float(i + 77) - 0.3f; });
    CHECK(cudaMemcpyToSymbol(mask, weights.data(), sizeof mask));
    float *din = to_device(in), *dw = to_device(weights), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < taps; ++k) {
            const int at = static_cast<int>(i) + k - radius;
            if (at >= 0 && at < n) sum += static_cast<double>(weights[k]) * in[at];
        }
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^23, radius 4", out, n, check, launch); };
    show("line filter: global", [&] { line_global<<<n / 256, 256>>>(din, dw, out, n); });
    show("line filter: constant", [&] { line_constant<<<n / 256, 256>>>(din, out, n); });
    show("line filter: shared", [&] { line_shared<<<n / 256, 256>>>(din, out, n); });
    show("line filter: vectors", [&] {
        line_vectors<<<n / 1024, 256>>>(reinterpret_cast<float4*>(din), reinterpret_cast<float4*>(out), n / 4);
    });
    for (float* each : {din, dw, out}) CHECK(cudaFree(each));
}

// --- correlations of all pairs of 512 rows of 768 numbers: the upper triangle, mean and length of rows taken off first

constexpr int lines = 512, length = 768;

// Row or column of what is multiplied after it, a block of 256 a row.
__global__ void correlation_normal(const float* in, float* out, int along, int across) {
    const float* row = in + blockIdx.x * length;
    float sum = 0, squares = 0;
    for (int k = threadIdx.x; k < length; k += 256) sum += row[k];
    const float mean = block_sum(sum) / length;
    for (int k = threadIdx.x; k < length; k += 256) squares += (row[k] - mean) * (row[k] - mean);
    const float scale = rsqrtf(block_sum(squares));
    for (int k = threadIdx.x; k < length; k += 256) out[k * along + blockIdx.x * across] = (row[k] - mean) * scale;
}

__global__ void correlation_pair(const float* rows, float* out) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > j) return;
    float sum = 0;
    for (int k = 0; k < length; ++k) sum += rows[i * length + k] * rows[j * length + k];
    out[i * lines + j] = sum;
}

// The same with neighbours' numbers beside each other.
__global__ void correlation_columns(const float* columns, float* out) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > j) return;
    float sum = 0;
    for (int k = 0; k < length; ++k) sum += columns[k * lines + i] * columns[k * lines + j];
    out[i * lines + j] = sum;
}

__global__ void correlation_tile(const float* columns, float* out) {
    if (blockIdx.y > blockIdx.x) return;
    __shared__ float left[16][16], right[16][16];
    const int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
    float sum = 0;
    for (int k = 0; k < length; k += 16) {
        left[y][x] = columns[(k + y) * lines + blockIdx.y * 16 + x];
        right[y][x] = columns[(k + y) * lines + j];
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 16; ++m) sum += left[m][y] * right[m][x];
        __syncthreads();
    }
    if (i <= j) out[i * lines + j] = sum;
}

// Blocks of 64 threads for 32 x 32 pairs, 4 x 4 a thread, straight from the columns.
__global__ void correlation_registers(const float* columns, float* out) {
    if (blockIdx.y > blockIdx.x) return;
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
    float sums[4][4] = {};
    for (int k = 0; k < length; ++k) {
        float a[4], b[4];
#pragma unroll
        for (int m = 0; m < 4; ++m) a[m] = columns[k * lines + i + 8 * m], b[m] = columns[k * lines + j + 8 * m];
#pragma unroll
        for (int m = 0; m < 4; ++m)
#pragma unroll
            for (int l = 0; l < 4; ++l) sums[m][l] += a[m] * b[l];
    }
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int l = 0; l < 4; ++l)
            if (i + 8 * m <= j + 8 * l) out[(i + 8 * m) * lines + j + 8 * l] = sums[m][l];
}

void correlation() {
    // Rows near each other are alike.
    const auto in = filled<float>(lines * length, [](unsigned i) {
        return random_float(i) + random_float(i % length + i / length / 16 * 4096) * 2;
    });
    std::vector<double> normal(in.begin(), in.end());
    for (int i = 0; i < lines; ++i) {
        double* row = &normal[i * length];
        double mean = 0, squares = 0;
        for (int k = 0; k < length; ++k) mean += row[k] / length;
        for (int k = 0; k < length; ++k) row[k] -= mean, squares += row[k] * row[k];
        for (int k = 0; k < length; ++k) row[k] /= std::sqrt(squares);
    }
    float *din = to_device(in), *between = empty_array<float>(lines * length), *out = empty_array<float>(lines * lines);
    const auto check = [&](std::size_t at) {
        const std::size_t i = at / lines, j = at % lines;
        double sum = 0;
        for (int k = 0; k < length && i <= j; ++k) sum += normal[i * length + k] * normal[j * length + k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "512 rows of 768", out, lines * lines, check, launch);
    };
    const auto columns = [&] { correlation_normal<<<lines, 256>>>(din, between, lines, 1); };
    const dim3 pairs(lines / 16, lines / 16), square(16, 16);
    show("correlation: rows", [&] {
        correlation_normal<<<lines, 256>>>(din, between, 1, length);
        correlation_pair<<<pairs, square>>>(between, out);
    });
    show("correlation: columns", [&] { columns(), correlation_columns<<<pairs, square>>>(between, out); });
    show("correlation: tile", [&] { columns(), correlation_tile<<<pairs, square>>>(between, out); });
    show("correlation: registers",
         [&] { columns(), correlation_registers<<<dim3(lines / 32, lines / 32), dim3(8, 8)>>>(between, out); });
    for (float* each : {din, between, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    turn();
    filter_line();
    correlation();
    return wrong;
}
