// Second held-out set: families of kernels on images and on streams.
#include <cuda_fp16.h>

#include "families.cuh"

namespace {

// --- median of three by three

constexpr int side = 2048, pixels = side * side;

__host__ __device__ inline int clamped(int x) { return x < 0 ? 0 : x < side ? x : side - 1; }

__host__ __device__ inline void load_window(const unsigned char* in, int x, int y, int* v) {
#pragma unroll
    for (int k = 0; k < 9; ++k) v[k] = in[clamped(y + k / 3 - 1) * side + clamped(x + k % 3 - 1)];
}

__device__ inline void order(int& a, int& b) {
    const int least = min(a, b);
    b = max(a, b), a = least;
}

__global__ void median_network(const unsigned char* in, unsigned char* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int v[9];
    load_window(in, x, y, v);
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[1]), order(v[3], v[4]), order(v[6], v[7]);
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[3]), order(v[5], v[8]), order(v[4], v[7]);
    order(v[3], v[6]), order(v[1], v[4]), order(v[2], v[5]);
    order(v[4], v[7]), order(v[4], v[2]), order(v[6], v[4]), order(v[4], v[2]);
    out[y * side + x] = v[4];
}

__global__ void median_insertion(const unsigned char* in, unsigned char* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned char sorted[9];
    for (int k = 0; k < 9; ++k) {
        const unsigned char value = in[clamped(y + k / 3 - 1) * side + clamped(x + k % 3 - 1)];
        int at = k;
        for (; at > 0 && sorted[at - 1] > value; --at) sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    out[y * side + x] = sorted[4];
}

// Finds the median's bits from the highest to the lowest.
__global__ void median_bits(const unsigned char* in, unsigned char* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int v[9], found = 0;
    load_window(in, x, y, v);
    for (int bit = 128; bit > 0; bit /= 2) {
        int less = 0;
#pragma unroll
        for (int k = 0; k < 9; ++k) less += v[k] < found + bit;
        if (less <= 4) found += bit;
    }
    out[y * side + x] = found;
}

void median() {
    const auto in = filled<unsigned char>(pixels, [](unsigned i) { return hash(i) & 255; });
    unsigned char *din = to_device(in), *out = empty_array<unsigned char>(pixels);
    const auto check = [&](std::size_t i) {
        int v[9];
        load_window(in.data(), i % side, i / side, v);
        std::sort(v, v + 9);
        return v[4];
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, pixels, check, launch); };
    const dim3 blocks(side / 32, side / 8), threads(32, 8);
    show("median: network", [&] { median_network<<<blocks, threads>>>(din, out); });
    show("median: insertion", [&] { median_insertion<<<blocks, threads>>>(din, out); });
    show("median: bits", [&] { median_bits<<<blocks, threads>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- bilateral filter, radius 4

constexpr int radius = 4, window = 2 * radius + 1, photo = 1024;

__constant__ float near_weights[window * window];

__host__ __device__ inline float distance_weight(int dx, int dy) {
    return expf(-static_cast<float>(dx * dx + dy * dy) / 18);
}

__host__ __device__ inline float bilateral_point(const unsigned char* in, int x, int y) {
    const float center = in[y * photo + x];
    float sum = 0, weights = 0;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            const float value = in[((y + dy) & (photo - 1)) * photo + ((x + dx) & (photo - 1))];
            const float w = distance_weight(dx, dy) * expf(-(value - center) * (value - center) / 2048);
            sum += w * value, weights += w;
        }
    return sum / weights;
}

__global__ void bilateral_global(const unsigned char* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * photo + x] = bilateral_point(in, x, y);
}

template <class T>
__device__ void load_photo(const unsigned char* in, T (*tile)[16 + 2 * radius]) {
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 24 * 24; k += 256) {
        const int x = blockIdx.x * 16 + k % 24 - radius, y = blockIdx.y * 16 + k / 24 - radius;
        tile[k / 24][k % 24] = in[(y & (photo - 1)) * photo + (x & (photo - 1))];
    }
}

__global__ void bilateral_shared(const unsigned char* in, float* out) {
    __shared__ float tile[24][24];
    load_photo(in, tile);
    __syncthreads();
    const float center = tile[threadIdx.y + radius][threadIdx.x + radius];
    float sum = 0, weights = 0;
    for (int dy = 0; dy < window; ++dy)
        for (int dx = 0; dx < window; ++dx) {
            const float value = tile[threadIdx.y + dy][threadIdx.x + dx], d = value - center;
            const float w = near_weights[dy * window + dx] * __expf(-d * d / 2048);
            sum += w * value, weights += w;
        }
    out[(blockIdx.y * 16 + threadIdx.y) * photo + blockIdx.x * 16 + threadIdx.x] = sum / weights;
}

__global__ void bilateral_table(const unsigned char* in, float* out) {
    __shared__ float like[256];
    __shared__ unsigned char tile[24][24];
    const int d = threadIdx.y * 16 + threadIdx.x;
    like[d] = __expf(static_cast<float>(-d * d) / 2048);
    load_photo(in, tile);
    __syncthreads();
    const int center = tile[threadIdx.y + radius][threadIdx.x + radius];
    float sum = 0, weights = 0;
    for (int dy = 0; dy < window; ++dy)
        for (int dx = 0; dx < window; ++dx) {
            const int value = tile[threadIdx.y + dy][threadIdx.x + dx];
            const float w = near_weights[dy * window + dx] * like[abs(value - center)];
            sum += w * static_cast<float>(value), weights += w;
        }
    out[(blockIdx.y * 16 + threadIdx.y) * photo + blockIdx.x * 16 + threadIdx.x] = sum / weights;
}

void bilateral() {
    const int count = photo * photo;
    const auto in = filled<unsigned char>(count, [](unsigned i) { return i / 8 % 128 + hash(i) % 64; });
    const auto weights = filled<float>(window * window, [](unsigned i) {
        return distance_weight(int(i) % window - radius, int(i) / window - radius);
    });
    CHECK(cudaMemcpyToSymbol(near_weights, weights.data(), weights.size() * sizeof(float)));
    unsigned char* din = to_device(in);
    float* out = empty_array<float>(count);
    const auto check = [&](std::size_t i) { return bilateral_point(in.data(), i % photo, i / photo); };
    const auto show = [&](const char* what, auto launch) { measure(what, "1024^2", out, count, check, launch); };
    const dim3 blocks(photo / 16, photo / 16), threads(16, 16);
    show("bilateral: global", [&] { bilateral_global<<<blocks, threads>>>(din, out); });
    show("bilateral: shared", [&] { bilateral_shared<<<blocks, threads>>>(din, out); });
    show("bilateral: table", [&] { bilateral_table<<<blocks, threads>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- sums along the rows of an image, and down its columns: the two halves of an integral image

__device__ inline int warp_prefix(int value) {
    for (int d = 1; d < 32; d *= 2) {
        const int before = __shfl_up_sync(~0u, value, d);
        if (threadIdx.x % 32 >= d) value += before;
    }
    return value;
}

__global__ void along_thread(const int* in, int* out) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int x = 0; x < side; ++x) out[row * side + x] = sum += in[row * side + x];
}

__global__ void along_warp(const int* in, int* out) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int x = threadIdx.x % 32; x < side; x += 32) {
        const int value = warp_prefix(in[row * side + x]) + sum;
        out[row * side + x] = value;
        sum = __shfl_sync(~0u, value, 31);
    }
}

// A block a row, eight elements a thread.
__global__ void along_block(const int4* in, int4* out) {
    __shared__ int sums[8];
    const int at = blockIdx.x * (side / 4) + threadIdx.x * 2;
    int4 a = in[at], b = in[at + 1];
    a.y += a.x, a.z += a.y, a.w += a.z, b.x += a.w, b.y += b.x, b.z += b.y, b.w += b.z;
    const int prefix = warp_prefix(b.w);
    if (threadIdx.x % 32 == 31) sums[threadIdx.x / 32] = prefix;
    __syncthreads();
    int before = prefix - b.w;
    for (int k = 0; k < threadIdx.x / 32; ++k) before += sums[k];
    out[at] = {a.x + before, a.y + before, a.z + before, a.w + before};
    out[at + 1] = {b.x + before, b.y + before, b.z + before, b.w + before};
}

__global__ void down_thread(const int* in, int* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int y = 0; y < side; ++y) out[y * side + x] = sum += in[y * side + x];
}

// A block has 32 columns; each of its 32 warps sums a piece, then adds what stands above.
__global__ void down_pieces(const int* in, int* out) {
    __shared__ int sums[32][33];
    const int x = blockIdx.x * 32 + threadIdx.x, first = threadIdx.y * (side / 32);
    int sum = 0;
    for (int y = first; y < first + side / 32; ++y) sum += in[y * side + x];
    sums[threadIdx.x][threadIdx.y] = sum;
    __syncthreads();
    const int total = sums[threadIdx.y][threadIdx.x], prefix = warp_prefix(total);
    __syncthreads();
    sums[threadIdx.y][threadIdx.x] = prefix - total;
    __syncthreads();
    sum = sums[threadIdx.x][threadIdx.y];
    for (int y = first; y < first + side / 32; ++y) out[y * side + x] = sum += in[y * side + x];
}

void integral() {
    const auto in = filled<int>(pixels, [](unsigned i) { return hash(i) % 16; });
    int *din = to_device(in), *out = empty_array<int>(pixels);
    const auto along = [&](std::size_t i) {
        int sum = 0;
        for (std::size_t at = i / side * side; at <= i; ++at) sum += in[at];
        return sum;
    };
    const auto down = [&](std::size_t i) {
        int sum = 0;
        for (std::size_t at = i % side; at <= i; at += side) sum += in[at];
        return sum;
    };
    const auto show = [&](const char* what, auto check, auto launch) {
        measure(what, "2048^2", out, pixels, check, launch);
    };
    show("along: thread a row", along, [&] { along_thread<<<side / 32, 32>>>(din, out); });
    show("along: warp a row", along, [&] { along_warp<<<side / 8, 256>>>(din, out); });
    show("along: block a row", along, [&] { along_block<<<side, 256>>>((const int4*)din, (int4*)out); });
    show("down: thread a column", down, [&] { down_thread<<<side / 64, 64>>>(din, out); });
    show("down: pieces", down, [&] { down_pieces<<<side / 32, dim3(32, 32)>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- a * x + b of half precision, cut off below zero

__global__ void ramp_half(const __half* x, __half* out, __half a, __half b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hmax(__hfma(a, x[i], b), __float2half(0));
}

__global__ void ramp_half2(const __half2* x, __half2* out, __half2 a, __half2 b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hmax2(__hfma2(a, x[i], b), __float2half2_rn(0));
}

__global__ void ramp_eight(const uint4* x, uint4* out, __half2 a, __half2 b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = x[i];
    for (unsigned* word : {&v.x, &v.y, &v.z, &v.w}) {
        const __half2 pair = *reinterpret_cast<__half2*>(word),
                      result = __hmax2(__hfma2(a, pair, b), __float2half2_rn(0));
        *word = *reinterpret_cast<const unsigned*>(&result);
    }
    out[i] = v;
}

void ramp() {
    const int n = 1 << 24;
    const auto x = filled<__half>(n, [](unsigned i) { return __float2half(8 * random_float(i) - 4); });
    __half *dx = to_device(x), *out = empty_array<__half>(n), a = __float2half(1.5f), b = __float2half(0.75f);
    const __half2 aa = __half2half2(a), bb = __half2half2(b);
    const auto check = [&](std::size_t i) {  // bits
        return __half_as_ushort(__double2half(std::fmax(1.5 * static_cast<double>(__half2float(x[i])) + 0.75, 0)));
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^24", (unsigned short*)out, n, check, launch);
    };
    show("ramp: half", [&] { ramp_half<<<n / 256, 256>>>(dx, out, a, b); });
    show("ramp: half2", [&] { ramp_half2<<<n / 512, 256>>>((const __half2*)dx, (__half2*)out, aa, bb); });
    show("ramp: eight", [&] { ramp_eight<<<n / 2048, 256>>>((const uint4*)dx, (uint4*)out, aa, bb); });
    CHECK(cudaFree(dx));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    median();
    bilateral();
    integral();
    ramp();
    return wrong;
}
