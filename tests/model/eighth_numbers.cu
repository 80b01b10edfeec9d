// Eighth held-out set: sums of matrices, factors of small ones, normal channels and clamped powers.
#include "families.cuh"

namespace {

__global__ void empty() {}

__global__ void clear(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0;
}

// --- sums of the rows and of the columns of a matrix of 2048 rows of 6144 floats

constexpr int rows = 2048, columns = 6144;

__global__ void sums_row(const float* in, float* out) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < columns; ++c) sum += in[r * columns + c];
    out[r] = sum;
}

__global__ void sums_column(const float* in, float* out) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rows; ++r) sum += in[r * columns + c];
    out[c] = sum;
}

__global__ void sums_row_block(const float* in, float* out) {
    __shared__ float v[256];
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += 256) sum += in[blockIdx.x * columns + c];
    v[threadIdx.x] = sum;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) v[threadIdx.x] += v[threadIdx.x + d];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = v[0];
}

// 64 rows a block, two columns a thread.
__global__ void sums_column_strip(const float2* in, float* out) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 64;
    float2 sum = make_float2(0, 0);
    for (int r = first; r < first + 64; ++r) {
        const float2 v = in[r * (columns / 2) + c];
        sum.x += v.x, sum.y += v.y;
    }
    atomicAdd(&out[2 * c], sum.x);
    atomicAdd(&out[2 * c + 1], sum.y);
}

void sums() {
    const auto in = filled<float>(rows * columns, random_float);
    float *din = to_device(in), *out = empty_array<float>(columns);
    const auto row_sum = [&](std::size_t r) {
        double sum = 0;
        for (int c = 0; c < columns; ++c) sum += in[r * columns + c];
        return sum;
    };
    const auto column_sum = [&](std::size_t c) {
        double sum = 0;
        for (int r = 0; r < rows; ++r) sum += in[r * columns + c];
        return sum;
    };
    const char* size = "2048 x 6144";
    measure("sums: thread a row", size, out, rows, row_sum, [&] { sums_row<<<rows / 64, 64>>>(din, out); });
    measure("sums: thread a column", size, out, columns, column_sum,
            [&] { sums_column<<<columns / 128, 128>>>(din, out); });
    measure("sums: block a row", size, out, rows, row_sum, [&] { sums_row_block<<<rows, 256>>>(din, out); });
    measure("sums: strips", size, out, columns, column_sum, [&] {
        clear<<<columns / 256, 256>>>(out, columns);
        sums_column_strip<<<dim3(columns / 512, rows / 64), 256>>>(reinterpret_cast<float2*>(din), out);
    });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- factors L and U of 12288 matrices of 16 x 16, in one array each, no pivots

constexpr int side = 16, cells = side * side, systems = 12288;

__global__ void lu_thread(const float* in, float* out) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const float* from = in + m * cells;
    float* a = out + m * cells;
    for (int k = 0; k < cells; ++k) a[k] = from[k];
    for (int k = 0; k < side; ++k)
        for (int i = k + 1; i < side; ++i) {
            const float factor = a[i * side + k] / a[k * side + k];
            a[i * side + k] = factor;
            for (int j = k + 1; j < side; ++j) a[i * side + j] -= factor * a[k * side + j];
        }
}

// A thread an element.
__global__ void lu_shared(const float* in, float* out) {
    __shared__ float a[side][side + 1];
    const int j = threadIdx.x, i = threadIdx.y, at = blockIdx.x * cells + i * side + j;
    a[i][j] = in[at];
    __syncthreads();
    for (int k = 0; k < side - 1; ++k) {
        if (i > k && j == k) a[i][k] /= a[k][k];
        __syncthreads();
        if (i > k && j > k) a[i][j] -= a[i][k] * a[k][j];
        __syncthreads();
    }
    out[at] = a[i][j];
}

// Two matrices a warp: a lane has a column.
__global__ void lu_lanes(const float* in, float* out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, j = t % side;
    const float* from = in + t / side * cells + j;
    float* to = out + t / side * cells + j;
    float a[side];
#pragma unroll
    for (int i = 0; i < side; ++i) a[i] = from[i * side];
#pragma unroll
    for (int k = 0; k < side - 1; ++k) {
        const float inverse = 1 / a[k];
#pragma unroll
        for (int i = k + 1; i < side; ++i) {
            const float factor = __shfl_sync(~0u, a[i] * inverse, k, side);
            if (j > k) a[i] -= factor * a[k];
            if (j == k) a[i] = factor;
        }
    }
#pragma unroll
    for (int i = 0; i < side; ++i) to[i * side] = a[i];
}

void factors() {
    const int n = systems * cells;
    const auto in = filled<float>(
        n, [](unsigned i) { return random_float(i) - 0.5f + (i % cells / side == i % side ? 8.0f : 0.0f); });
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto check = [&](std::size_t at) {
        double a[side][side];
        for (int k = 0; k < cells; ++k) a[k / side][k % side] = in[at / cells * cells + k];
        for (int k = 0; k < side; ++k)
            for (int i = k + 1; i < side; ++i) {
                a[i][k] /= a[k][k];
                for (int j = k + 1; j < side; ++j) a[i][j] -= a[i][k] * a[k][j];
            }
        return a[at % cells / side][at % side];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "12288 of 16 x 16", out, n, check, launch); };
    show("lu: thread", [&] { lu_thread<<<systems / 64, 64>>>(din, out); });
    show("lu: shared", [&] { lu_shared<<<systems, dim3(side, side)>>>(din, out); });
    show("lu: lanes", [&] { lu_lanes<<<systems * side / 128, 128>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- 64 channels of 32 images of 48 x 48, each of mean 0 and variance 1, then scaled and shifted

constexpr int images = 32, channels = 64, plane = 48 * 48, per_channel = images * plane;

// Where element `i` of all of a channel is.
__device__ inline int element(int channel, int i) { return (i / plane * channels + channel) * plane + i % plane; }

__global__ void batch_block(const float* in, const float* scale, const float* shift, float* out) {
    const int channel = blockIdx.x;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < per_channel; i += 256) sum += in[element(channel, i)];
    const float mean = block_sum(sum) / per_channel;
    for (int i = threadIdx.x; i < per_channel; i += 256) {
        const float d = in[element(channel, i)] - mean;
        squares += d * d;
    }
    const float deviation = sqrtf(block_sum(squares) / per_channel + 1e-5f);
    for (int i = threadIdx.x; i < per_channel; i += 256) {
        const int at = element(channel, i);
        out[at] = (in[at] - mean) / deviation * scale[channel] + shift[channel];
    }
}

// Sums and sums of squares: a block a plane.
__global__ void batch_planes(const float* in, float* moments) {
    const float* mine = in + blockIdx.x * plane;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < plane; i += 256) sum += mine[i], squares += mine[i] * mine[i];
    sum = block_sum(sum);
    squares = block_sum(squares);
    if (threadIdx.x > 0) return;
    atomicAdd(&moments[blockIdx.x % channels], sum);
    atomicAdd(&moments[channels + blockIdx.x % channels], squares);
}

__global__ void batch_apply(const float* in, const float* moments, const float* scale, const float* shift, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, channel = i / plane % channels;
    const float mean = moments[channel] / per_channel;
    const float variance = moments[channels + channel] / per_channel - mean * mean;
    out[i] = (in[i] - mean) * rsqrtf(variance + 1e-5f) * scale[channel] + shift[channel];
}

// As before, but four elements a thread at a time, and the channel's factor and offset first.
__global__ void batch_vectors(const float4* in, const float* moments, const float* scale, const float* shift,
                              float4* out) {
    const int channel = blockIdx.x % channels;
    const float mean = moments[channel] / per_channel;
    const float variance = moments[channels + channel] / per_channel - mean * mean;
    const float factor = rsqrtf(variance + 1e-5f) * scale[channel], offset = shift[channel] - mean * factor;
    for (int i = threadIdx.x; i < plane / 4; i += blockDim.x) {
        const int at = blockIdx.x * (plane / 4) + i;
        const float4 v = in[at];
        out[at] =
            make_float4(v.x * factor + offset, v.y * factor + offset, v.z * factor + offset, v.w * factor + offset);
    }
}

void batch() {
    const int n = images * channels * plane;
    const auto in = filled<float>(n, random_float);
    const auto scale = filled<float>(channels, [](unsigned i) { return random_float(~i) + 0.5f; });
    const auto shift = filled<float>(channels, [](unsigned i) { return random_float(~i - 99) - 0.5f; });
    float *din = to_device(in), *ds = to_device(scale), *dt = to_device(shift);
    float *moments = empty_array<float>(2 * channels), *out = empty_array<float>(n);
    std::vector<double> mean(channels), variance(channels);
    for (int i = 0; i < n; ++i) {
        mean[i / plane % channels] += in[i] / double(per_channel);
        variance[i / plane % channels] += in[i] * double(in[i]) / per_channel;
    }
    const auto check = [&](std::size_t i) {
        const int c = i / plane % channels;
        return (in[i] - mean[c]) / std::sqrt(variance[c] - mean[c] * mean[c] + 1e-5) * scale[c] + shift[c];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "32 x 64 x 48 x 48", out, n, check, launch); };
    show("batch norm: block a channel", [&] { batch_block<<<channels, 256>>>(din, ds, dt, out); });
    show("batch norm: planes", [&] {
        clear<<<1, 128>>>(moments, 2 * channels);
        batch_planes<<<images * channels, 256>>>(din, moments);
        batch_apply<<<n / 256, 256>>>(din, moments, ds, dt, out);
    });
    show("batch norm: vectors", [&] {
        clear<<<1, 128>>>(moments, 2 * channels);
        batch_planes<<<images * channels, 256>>>(din, moments);
        batch_vectors<<<images * channels, 192>>>(reinterpret_cast<float4*>(din), moments, ds, dt,
                                                  reinterpret_cast<float4*>(out));
    });
    for (float* each : {din, ds, dt, moments, out}) CHECK(cudaFree(each));
}

// --- whole powers, from 0 to 15, of 2^22 floats, at most 9.999999

constexpr float most = 9.999999f;

__global__ void powers_loop(const float* in, const int* exponents, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = in[i];
    int left = exponents[i];
    float power = 1;
    while (left > 0) {
        power *= x;
        --left;
    }
    out[i] = power > most ? most : power;
}

__global__ void powers_squares(const float* in, const int* exponents, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float square = in[i], power = 1;
    for (int left = exponents[i]; left > 0; left >>= 1, square *= square)
        if (left & 1) power *= square;
    out[i] = fminf(power, most);
}

__global__ void powers_function(const float* in, const int* exponents, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fminf(powf(in[i], exponents[i]), most);
}

// Four lanes of a vector, until all of them are done.
__global__ void powers_vectors(const float4* in, const int4* exponents, float4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 x = in[i];
    int4 left = exponents[i];
    float4 power = make_float4(1, 1, 1, 1);
    while (left.x > 0 || left.y > 0 || left.z > 0 || left.w > 0) {
        if (left.x > 0) power.x *= x.x, --left.x;
        if (left.y > 0) power.y *= x.y, --left.y;
        if (left.z > 0) power.z *= x.z, --left.z;
        if (left.w > 0) power.w *= x.w, --left.w;
    }
    out[i] = make_float4(fminf(power.x, most), fminf(power.y, most), fminf(power.z, most), fminf(power.w, most));
}

void powers() {
    const int n = 1 << 22;
    const auto in = filled<float>(n, [](unsigned i) { return 2 * random_float(i); });
    const auto exponents = filled<int>(n, [](unsigned i) { return hash(~i) % 16; });
    float *din = to_device(in), *out = empty_array<float>(n);
    int* de = to_device(exponents);
    const auto check = [&](std::size_t i) { return std::fmin(std::pow(double(in[i]), exponents[i]), 9.999999); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22", out, n, check, launch); };
    show("powers: loop", [&] { powers_loop<<<n / 256, 256>>>(din, de, out); });
    show("powers: squares", [&] { powers_squares<<<n / 256, 256>>>(din, de, out); });
    show("powers: function", [&] { powers_function<<<n / 256, 256>>>(din, de, out); });
    show("powers: vectors", [&] {
        powers_vectors<<<n / 1024, 256>>>(reinterpret_cast<float4*>(din), reinterpret_cast<int4*>(de),
                                          reinterpret_cast<float4*>(out));
    });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
    CHECK(cudaFree(de));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    sums();
    factors();
    batch();
    powers();
    return wrong;
}
