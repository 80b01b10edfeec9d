// Ninth held-out set: depthwise convolutions, rows normalised by their root mean squares, the range of an HDR image.
#include <cuda_fp16.h>

#include <climits>

#include "families.cuh"

namespace {

// --- a depthwise convolution, 3 x 3, of 8 images of 64 channels of 112 x 112, with zeros around them

constexpr int images = 8, channels = 64, side = 112, plane = side * side;

__global__ void depthwise_index(const float* in, const float* weights, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i % side, y = i / side % side, c = i / plane % channels, b = i / (plane * channels);
    float sum = 0;
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++) {
            int sx = x + kx - 1, sy = y + ky - 1;
            if (sx >= 0 && sx < side && sy >= 0 && sy < side)
                sum += in[((b * channels + c) * side + sy) * side + sx] * weights[(c * 3 + ky) * 3 + kx];
        }
    out[i] = sum;
}

// A block has a tile of 16 x 16 of one plane.
__global__ void depthwise_planes(const float* __restrict__ in, const float* __restrict__ weights,
                                 float* __restrict__ out) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const float *w = weights + blockIdx.z % channels * 9, *own = in + blockIdx.z * plane;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const int sx = x + k % 3 - 1, sy = y + k / 3 - 1;
        const bool inside = sx >= 0 && sx < side && sy >= 0 && sy < side;
        sum += inside ? __ldg(&w[k]) * __ldg(&own[sy * side + sx]) : 0;
    }
    out[blockIdx.z * plane + y * side + x] = sum;
}

__global__ void depthwise_shared(const float* in, const float* weights, float* out) {
    __shared__ float tile[18][18], w[9];
    const int t = threadIdx.y * 16 + threadIdx.x, left = blockIdx.x * 16 - 1, top = blockIdx.y * 16 - 1;
    if (t < 9) w[t] = weights[blockIdx.z % channels * 9 + t];
    for (int k = t; k < 18 * 18; k += 256) {
        const int x = left + k % 18, y = top + k / 18;
        const bool inside = x >= 0 && x < side && y >= 0 && y < side;
        tile[k / 18][k % 18] = inside ? in[blockIdx.z * plane + y * side + x] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int ky = 0; ky < 3; ++ky)
        for (int kx = 0; kx < 3; ++kx) sum += tile[threadIdx.y + ky][threadIdx.x + kx] * w[ky * 3 + kx];
    out[blockIdx.z * plane + (top + 1 + threadIdx.y) * side + left + 1 + threadIdx.x] = sum;
}

// A thread goes down 28 rows and holds the nine values around it.
__global__ void depthwise_sliding(const float* __restrict__ in, const float* __restrict__ weights,
                                  float* __restrict__ out) {
    const int x = threadIdx.x, first = blockIdx.x * 28;
    const float* own = in + blockIdx.y * plane;
    float w[9], v[3][3];
#pragma unroll
    for (int k = 0; k < 9; ++k) w[k] = weights[blockIdx.y % channels * 9 + k];
    const auto load = [&](float* to, int y) {
        const bool inside = y >= 0 && y < side;
        to[0] = inside && x > 0 ? own[y * side + x - 1] : 0;
        to[1] = inside ? own[y * side + x] : 0;
        to[2] = inside && x < side - 1 ? own[y * side + x + 1] : 0;
    };
    load(v[0], first - 1);
    load(v[1], first);
#pragma unroll
    for (int k = 0; k < 28; ++k) {
        load(v[(k + 2) % 3], first + k + 1);
        float sum = 0;
#pragma unroll
        for (int j = 0; j < 9; ++j) sum += w[j] * v[(k + j / 3) % 3][j % 3];
        out[blockIdx.y * plane + (first + k) * side + x] = sum;
    }
}

void depthwise() {
    const int n = images * channels * plane;
    const auto in = filled<float>(n, random_float);
    const auto weights = filled<float>(channels * 9, [](unsigned i) { return random_float(~i) - 0.3f; });
    float *din = to_device(in), *dw = to_device(weights), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        const int x = i % side, y = i / side % side, c = i / plane % channels, first = i / plane * plane;
        double sum = 0;
        for (int sy = std::max(y - 1, 0); sy <= std::min(y + 1, side - 1); ++sy)
            for (int sx = std::max(x - 1, 0); sx <= std::min(x + 1, side - 1); ++sx)
                sum += in[first + sy * side + sx] * weights[c * 9 + (sy - y + 1) * 3 + sx - x + 1];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "8 x 64 x 112 x 112", out, n, check, launch);
    };
    const dim3 blocks(side / 16, side / 16, images * channels), threads(16, 16);
    show("depthwise: indices", [&] { depthwise_index<<<(n + 255) / 256, 256>>>(din, dw, out, n); });
    show("depthwise: planes", [&] { depthwise_planes<<<blocks, threads>>>(din, dw, out); });
    show("depthwise: shared", [&] { depthwise_shared<<<blocks, threads>>>(din, dw, out); });
    show("depthwise: sliding", [&] { depthwise_sliding<<<dim3(side / 28, images * channels), side>>>(din, dw, out); });
    for (float* each : {din, dw, out}) CHECK(cudaFree(each));
}

// --- 4096 rows of 2048, each divided by its root mean square and multiplied by gains

constexpr int rows = 4096, columns = 2048;
constexpr float epsilon = 1e-5f;

__global__ void rms_thread(const float* in, const float* gain, float* out) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float squares = 0;
    for (int c = 0; c < columns; c++) squares += in[r * columns + c] * in[r * columns + c];
    float rms = sqrtf(squares / columns + epsilon);
    for (int c = 0; c < columns; c++) out[r * columns + c] = in[r * columns + c] / rms * gain[c];
}

__global__ void rms_block(const float* in, const float* gain, float* out) {
    __shared__ float v[256];
    const float* own = in + blockIdx.x * columns;
    float squares = 0;
    for (int c = threadIdx.x; c < columns; c += 256) squares += own[c] * own[c];
    v[threadIdx.x] = squares;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) v[threadIdx.x] += v[threadIdx.x + d];
        __syncthreads();
    }
    const float inverse = rsqrtf(v[0] / columns + epsilon);
    for (int c = threadIdx.x; c < columns; c += 256) out[blockIdx.x * columns + c] = own[c] * inverse * gain[c];
}

// A row stays in the block's registers.
__global__ void rms_vectors(const float4* __restrict__ in, const float4* __restrict__ gain, float4* __restrict__ out) {
    const int first = blockIdx.x * (columns / 4) + threadIdx.x;
    float4 v[2];
    float squares = 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        v[k] = in[first + k * 256];
        squares += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
    const float f = rsqrtf(block_sum(squares) / columns + epsilon);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const float4 g = gain[threadIdx.x + k * 256];
        out[first + k * 256] = make_float4(v[k].x * f * g.x, v[k].y * f * g.y, v[k].z * f * g.z, v[k].w * f * g.w);
    }
}

// A warp a row; what comes in is in half precision.
__global__ void rms_halves(const half2* __restrict__ in, const float2* __restrict__ gain, float2* __restrict__ out) {
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    half2 v[columns / 64];
    float squares = 0;
#pragma unroll
    for (int k = 0; k < columns / 64; ++k) {
        v[k] = in[r * (columns / 2) + k * 32 + lane];
        const float2 f = __half22float2(v[k]);
        squares += f.x * f.x + f.y * f.y;
    }
    const float inverse = rsqrtf(warp_sum(squares) / columns + epsilon);
#pragma unroll
    for (int k = 0; k < columns / 64; ++k) {
        const float2 f = __half22float2(v[k]), g = gain[k * 32 + lane];
        out[r * (columns / 2) + k * 32 + lane] = make_float2(f.x * inverse * g.x, f.y * inverse * g.y);
    }
}

void rmsnorm() {
    const int n = rows * columns;
    // These are the same in half precision.
    const auto in = filled<float>(n, [](unsigned i) { return hash(i) % 1024 / 1024.0f - 0.5f; });
    const auto halves = filled<half>(n, [&](unsigned i) { return __float2half(in[i]); });
    const auto gain = filled<float>(columns, [](unsigned i) { return random_float(~i) + 0.5f; });
    float *din = to_device(in), *dg = to_device(gain), *out = empty_array<float>(n);
    half* dh = to_device(halves);
    const auto check = [&](std::size_t i) {
        double squares = 0;
        for (int c = 0; c < columns; ++c) squares += std::pow(in[i / columns * columns + c], 2);
        return in[i] / std::sqrt(squares / columns + 1e-5) * gain[i % columns];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096 x 2048", out, n, check, launch); };
    show("rmsnorm: thread a row", [&] { rms_thread<<<rows / 64, 64>>>(din, dg, out); });
    show("rmsnorm: block a row", [&] { rms_block<<<rows, 256>>>(din, dg, out); });
    show("rmsnorm: vectors", [&] {
        rms_vectors<<<rows, 256>>>(reinterpret_cast<float4*>(din), reinterpret_cast<float4*>(dg),
                                   reinterpret_cast<float4*>(out));
    });
    show("rmsnorm: halves", [&] {
        rms_halves<<<rows / 8, 256>>>(reinterpret_cast<half2*>(dh), reinterpret_cast<float2*>(dg),
                                      reinterpret_cast<float2*>(out));
    });
    CHECK(cudaFree(dh));
    for (float* each : {din, dg, out}) CHECK(cudaFree(each));
}

// --- the least and the greatest logarithm of the luminance of 2^22 pixels of red, green and blue floats

__global__ void log_luminance(const float* rgb, float* logs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    logs[i] = log10f(0.0001 + 0.2126 * rgb[3 * i] + 0.7152 * rgb[3 * i + 1] + 0.0722 * rgb[3 * i + 2]);
}

// Every block leaves one value.
template <bool greatest>
__global__ void extreme(const float* in, float* out, int n) {
    __shared__ float v[1024];
    const int t = threadIdx.x, i = blockIdx.x * 1024 + t;
    v[t] = in[i < n ? i : 0];
    __syncthreads();
    for (int d = 512; d > 0; d >>= 1) {
        if (t < d) v[t] = greatest ? fmaxf(v[t], v[t + d]) : fminf(v[t], v[t + d]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = v[0];
}

__device__ inline float luminance(const float* rgb, int i) {
    return log10f(1e-4f + 0.2126f * rgb[3 * i] + 0.7152f * rgb[3 * i + 1] + 0.0722f * rgb[3 * i + 2]);
}

// The range over a block of 256, in its first thread.
__device__ inline float2 block_range(float2 range) {
    __shared__ float2 v[256];
    v[threadIdx.x] = range;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x >= d) continue;
        const float2 other = v[threadIdx.x + d];
        range = make_float2(fminf(range.x, other.x), fmaxf(range.y, other.y));
        v[threadIdx.x] = range;
    }
    return range;
}

__global__ void range_blocks(const float* rgb, float2* out, int n) {
    float2 range = make_float2(INFINITY, -INFINITY);
    FOR_GRID(i, n) {
        const float log = luminance(rgb, i);
        range = make_float2(fminf(range.x, log), fmaxf(range.y, log));
    }
    range = block_range(range);
    if (threadIdx.x == 0) out[blockIdx.x] = range;
}

__global__ void range_last(const float2* in, float2* out) {
    const float2 range = block_range(in[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = range;
}

// A whole number of the same order, and the way back, which is the same.
__device__ inline int ordered(int bits) { return bits >= 0 ? bits : bits ^ 0x7fffffff; }

__global__ void range_start(int* range) {
    range[0] = INT_MAX;
    range[1] = INT_MIN;
}

__global__ void range_atomics(const float* rgb, int* range) {
    const float log = luminance(rgb, blockIdx.x * blockDim.x + threadIdx.x);
    const float least = -warp_max(-log), most = warp_max(log);
    if (threadIdx.x % 32 > 0) return;
    atomicMin(&range[0], ordered(__float_as_int(least)));
    atomicMax(&range[1], ordered(__float_as_int(most)));
}

__global__ void range_end(const int* range, float* out) {
    out[0] = __int_as_float(ordered(range[0]));
    out[1] = __int_as_float(ordered(range[1]));
}

void tone() {
    const int n = 1 << 22;
    const auto rgb = filled<float>(3 * n, [](unsigned i) {
        const float light = i / 3 == 1'234'567 ? 1000 : i / 3 == 3'456'789 ? 0.001f : 1;
        return light * (0.1f + 5 * random_float(i));
    });
    double least = 1e9, most = -1e9;
    for (int i = 0; i < n; ++i) {
        const double log = std::log10(1e-4 + 0.2126 * rgb[3 * i] + 0.7152 * rgb[3 * i + 1] + 0.0722 * rgb[3 * i + 2]);
        least = std::fmin(least, log), most = std::fmax(most, log);
    }
    float *din = to_device(rgb), *logs = empty_array<float>(n), *some = empty_array<float>(n / 1024);
    float *few = empty_array<float>(n / (1024 * 1024)), *out = empty_array<float>(2);
    float2* ranges = empty_array<float2>(256);
    int* whole = empty_array<int>(2);
    const auto check = [&](std::size_t i) { return i == 0 ? least : most; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22 x 3", out, 2, check, launch); };
    show("tone: one after the other", [&] {
        log_luminance<<<n / 256, 256>>>(din, logs);
        extreme<false><<<n / 1024, 1024>>>(logs, some, n);
        extreme<false><<<n / (1024 * 1024), 1024>>>(some, few, n / 1024);
        extreme<false><<<1, 1024>>>(few, out, n / (1024 * 1024));
        extreme<true><<<n / 1024, 1024>>>(logs, some, n);
        extreme<true><<<n / (1024 * 1024), 1024>>>(some, few, n / 1024);
        extreme<true><<<1, 1024>>>(few, out + 1, n / (1024 * 1024));
    });
    show("tone: fused", [&] {
        range_blocks<<<256, 256>>>(din, ranges, n);
        range_last<<<1, 256>>>(ranges, reinterpret_cast<float2*>(out));
    });
    show("tone: atomics", [&] {
        range_start<<<1, 1>>>(whole);
        range_atomics<<<n / 256, 256>>>(din, whole);
        range_end<<<1, 1>>>(whole, out);
    });
    for (float* each : {din, logs, some, few, out}) CHECK(cudaFree(each));
    CHECK(cudaFree(ranges));
    CHECK(cudaFree(whole));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    depthwise();
    rmsnorm();
    tone();
    return wrong;
}
