// Third held-out set: families of images, of planes and of their columns.
#include "families.cuh"

namespace {

// --- an image turned by 0.4 about its middle, between pixels linear

constexpr int edge = 2048, pixels = edge * edge;
constexpr float cosine = 0.92106099f, sine = 0.38941834f;

__host__ __device__ inline float turned_pixel(const float* in, int x, int y) {
    const float dx = x - edge / 2, dy = y - edge / 2;
    const float fx = fminf(fmaxf(cosine * dx - sine * dy + edge / 2, 0), edge - 1.001f);
    const float fy = fminf(fmaxf(sine * dx + cosine * dy + edge / 2, 0), edge - 1.001f);
    const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
    const float ax = fx - ix, ay = fy - iy;
    const float* p = in + iy * edge + ix;
    return (1 - ay) * ((1 - ax) * p[0] + ax * p[1]) + ay * ((1 - ax) * p[edge] + ax * p[edge + 1]);
}

// A thread a pixel; blocks of any shape.
__global__ void rotate_pixel(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * edge + x] = turned_pixel(in, x, y);
}

__global__ void rotate_four(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    float value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = turned_pixel(in, x, y + k);
#pragma unroll
    for (int k = 0; k < 4; ++k) out[(y + k) * edge + x] = value[k];
}

void rotate() {
    const auto in = filled<float>(pixels, [](unsigned i) { return std::sin(i % edge * 0.01f) + i / edge * 1e-3f; });
    float *din = to_device(in), *out = empty_array<float>(pixels);
    const auto check = [&](std::size_t i) { return turned_pixel(in.data(), i % edge, i / edge); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, pixels, check, launch); };
    show("rotate: lines", [&] { rotate_pixel<<<dim3(edge / 256, edge), 256>>>(din, out); });
    show("rotate: tiles", [&] { rotate_pixel<<<dim3(edge / 16, edge / 16), dim3(16, 16)>>>(din, out); });
    show("rotate: four", [&] { rotate_four<<<dim3(edge / 32, edge / 32), dim3(32, 8)>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

// --- integral image: the sum of all bytes that are not below or to the right

__global__ void integral_row_thread(const unsigned char* in, unsigned* out) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int x = 0; x < edge; ++x) out[y * edge + x] = sum += in[y * edge + x];
}

__global__ void integral_row_warp(const unsigned char* in, unsigned* out) {
    const int y = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned before = 0;
    for (int x = lane; x < edge; x += 32) {
        unsigned sum = in[y * edge + x];
        for (int d = 1; d < 32; d *= 2) {
            const unsigned left = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += left;
        }
        out[y * edge + x] = before + sum;
        before += __shfl_sync(~0u, sum, 31);
    }
}

// A block a row, eight bytes a thread.
__global__ void integral_row_block(const uchar4* in, uint4* out) {
    __shared__ unsigned warps[8];
    const int at = blockIdx.x * (edge / 4) + threadIdx.x * 2, lane = threadIdx.x % 32;
    const uchar4 a = in[at], b = in[at + 1];
    uint4 low = make_uint4(a.x, a.x + a.y, a.x + a.y + a.z, a.x + a.y + a.z + a.w), high;
    high.x = low.w + b.x, high.y = high.x + b.y, high.z = high.y + b.z, high.w = high.z + b.w;
    unsigned sum = high.w;
    for (int d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == 31) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    unsigned before = sum - high.w;
    for (int k = 0; k < threadIdx.x / 32; ++k) before += warps[k];
    out[at] = make_uint4(before + low.x, before + low.y, before + low.z, before + low.w);
    out[at + 1] = make_uint4(before + high.x, before + high.y, before + high.z, before + high.w);
}

__global__ void integral_columns(unsigned* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int y = 0; y < edge; ++y) out[y * edge + x] = sum += out[y * edge + x];
}

// 32 columns a block, in 16 parts.
__global__ void integral_parts(unsigned* out) {
    __shared__ unsigned sums[16][32];
    const int x = blockIdx.x * 32 + threadIdx.x, first = threadIdx.y * (edge / 16);
    unsigned sum = 0;
    for (int y = first; y < first + edge / 16; ++y) sum += out[y * edge + x];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < threadIdx.y; ++k) sum += sums[k][threadIdx.x];
    for (int y = first; y < first + edge / 16; ++y) out[y * edge + x] = sum += out[y * edge + x];
}

void integral() {
    const auto in = filled<unsigned char>(pixels, [](unsigned i) { return hash(i) % 256; });
    std::vector<unsigned> sums(pixels);
    for (int y = 0; y < edge; ++y)
        for (int x = 0, sum = 0; x < edge; ++x) {
            sum += in[y * edge + x];
            sums[y * edge + x] = sum + (y ? sums[(y - 1) * edge + x] : 0);
        }
    unsigned char* din = to_device(in);
    unsigned* out = empty_array<unsigned>(pixels);
    const auto check = [&](std::size_t i) { return sums[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, pixels, check, launch); };
    show("integral: thread", [&] {
        integral_row_thread<<<edge / 64, 64>>>(din, out);
        integral_columns<<<edge / 64, 64>>>(out);
    });
    show("integral: warp", [&] {
        integral_row_warp<<<edge / 8, 256>>>(din, out);
        integral_parts<<<edge / 32, dim3(32, 16)>>>(out);
    });
    show("integral: block", [&] {
        integral_row_block<<<edge, 256>>>((uchar4*)din, (uint4*)out);
        integral_parts<<<edge / 32, dim3(32, 16)>>>(out);
    });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- restriction of a fine grid of 2049^2 to a coarse one of 1025^2, in doubles, weights 1 2 1

constexpr int fine = 2049, coarse = 1025;

__global__ void restrict_global(const double* in, double* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= coarse - 1 || y >= coarse - 1) return;
    const double* p = in + 2 * y * fine + 2 * x;
    out[y * coarse + x] =
        (4 * p[0] + 2 * (p[-1] + p[1] + p[-fine] + p[fine]) + p[-fine - 1] + p[-fine + 1] + p[fine - 1] + p[fine + 1]) /
        16;
}

// 32 x 8 coarse points of a tile of 65 x 17 fine ones.
__global__ void restrict_shared(const double* in, double* out) {
    __shared__ double tile[17][65];
    const int left = blockIdx.x * 64 + 1, top = blockIdx.y * 16 + 1;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 17 * 65; k += 256)
        if (top + k / 65 < fine && left + k % 65 < fine)
            tile[k / 65][k % 65] = in[(top + k / 65) * fine + left + k % 65];
    __syncthreads();
    const int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    if (x >= coarse - 1 || y >= coarse - 1) return;
    const auto line = [&](int k) {
        const double* p = &tile[2 * threadIdx.y + k][2 * threadIdx.x];
        return p[0] + 2 * p[1] + p[2];
    };
    out[y * coarse + x] = (line(0) + 2 * line(1) + line(2)) / 16;
}

// A thread goes down 32 coarse points and keeps the line that two of them share.
__global__ void restrict_columns(const double* in, double* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, first = blockIdx.y * 32 + 1;
    if (x >= coarse - 1) return;
    const auto line = [&](int y) {
        const double* p = in + y * fine + 2 * x;
        return p[-1] + 2 * p[0] + p[1];
    };
    double above = line(2 * first - 1);
    for (int y = first; y < min(first + 32, coarse - 1); ++y) {
        const double below = line(2 * y + 1);
        out[y * coarse + x] = (above + 2 * line(2 * y) + below) / 16;
        above = below;
    }
}

void restriction() {
    const auto in = filled<double>(fine * fine, [](unsigned i) { return random_float(i) * 10; });
    double *din = to_device(in), *out = empty_array<double>(coarse * coarse);
    const auto check = [&](std::size_t i) {
        const int x = i % coarse, y = i / coarse;
        double sum = 0;
        if (x == 0 || y == 0 || x == coarse - 1 || y == coarse - 1) return sum;
        for (int k = 0; k < 9; ++k)
            sum += in[(2 * y + k / 3 - 1) * fine + 2 * x + k % 3 - 1] * (k == 4 ? 4 : k % 2 ? 2 : 1);
        return sum / 16;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2049^2", out, coarse * coarse, check, launch);
    };
    show("restrict: global", [&] { restrict_global<<<dim3(32, 128), dim3(32, 8)>>>(din, out); });
    show("restrict: shared", [&] { restrict_shared<<<dim3(32, 128), dim3(32, 8)>>>(din, out); });
    show("restrict: columns", [&] { restrict_columns<<<dim3(8, 32), 128>>>(din, out); });
    for (double* each : {din, out}) CHECK(cudaFree(each));
}

// --- columns of 4096 rows and 1024 columns, each less its mean and over its deviation

constexpr int tall = 4096, wide = 1024;

__device__ inline float2 shift_and_scale(float sum, float squares) {
    const float mean = sum / tall;
    return make_float2(mean, rsqrtf(squares / tall - mean * mean + 1e-5f));
}

__global__ void columns_thread(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, squares = 0;
    for (int y = 0; y < tall; ++y) sum += in[y * wide + x], squares += in[y * wide + x] * in[y * wide + x];
    const float2 by = shift_and_scale(sum, squares);
    for (int y = 0; y < tall; ++y) out[y * wide + x] = (in[y * wide + x] - by.x) * by.y;
}

// 32 columns a block of 32 x 32.
__global__ void columns_block(const float* in, float* out) {
    __shared__ float sums[32][32], squares[32][32];
    const int x = blockIdx.x * 32 + threadIdx.x, k = threadIdx.y;
    float sum = 0, square = 0;
    for (int y = k; y < tall; y += 32) {
        const float value = in[y * wide + x];
        sum += value, square += value * value;
    }
    sums[k][threadIdx.x] = sum, squares[k][threadIdx.x] = square;
    for (int d = 16; d > 0; d /= 2) {
        __syncthreads();
        if (k >= d) continue;
        sums[k][threadIdx.x] += sums[k + d][threadIdx.x];
        squares[k][threadIdx.x] += squares[k + d][threadIdx.x];
    }
    __syncthreads();
    const float2 by = shift_and_scale(sums[0][threadIdx.x], squares[0][threadIdx.x]);
    for (int y = k; y < tall; y += 32) out[y * wide + x] = (in[y * wide + x] - by.x) * by.y;
}

// Two kernels: sums of 64 rows, then all else.
__global__ void columns_sums(const float* in, float2* parts) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    float2 sum = {};
    for (int y = blockIdx.y * 64; y < blockIdx.y * 64 + 64; ++y) {
        const float value = in[y * wide + x];
        sum.x += value, sum.y += value * value;
    }
    parts[blockIdx.y * wide + x] = sum;
}

__global__ void columns_apply(const float* in, const float2* parts, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    float2 sum = {};
    for (int k = 0; k < tall / 64; ++k) sum.x += parts[k * wide + x].x, sum.y += parts[k * wide + x].y;
    const float2 by = shift_and_scale(sum.x, sum.y);
    for (int y = blockIdx.y * 64; y < blockIdx.y * 64 + 64; ++y) out[y * wide + x] = (in[y * wide + x] - by.x) * by.y;
}

void columns() {
    const auto in = filled<float>(tall * wide, random_float);
    float *din = to_device(in), *out = empty_array<float>(tall * wide);
    float2* parts = empty_array<float2>(tall / 64 * wide);
    const auto check = [&](std::size_t i) {
        double sum = 0, squares = 0;
        for (std::size_t k = i % wide; k < in.size(); k += wide) sum += in[k], squares += in[k] * in[k];
        return (in[i] - sum / tall) / std::sqrt(squares / tall - sum / tall * sum / tall + 1e-5);
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "4096 x 1024", out, tall * wide, check, launch);
    };
    show("columns: thread", [&] { columns_thread<<<wide / 32, 32>>>(din, out); });
    show("columns: block", [&] { columns_block<<<wide / 32, dim3(32, 32)>>>(din, out); });
    show("columns: parts", [&] {
        columns_sums<<<dim3(wide / 256, tall / 64), 256>>>(din, parts);
        columns_apply<<<dim3(wide / 256, tall / 64), 256>>>(din, parts, out);
    });
    for (void* each : {(void*)din, (void*)parts, (void*)out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    rotate();
    integral();
    restriction();
    columns();
    return wrong;
}
