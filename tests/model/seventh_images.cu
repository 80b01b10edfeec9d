// Seventh held-out set: filters of images.
#include "families.cuh"

namespace {

__global__ void empty() {}

__device__ __host__ inline int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

// --- how like a template of 13 x 13 each place of 640 x 480 pixels is, by normalized cross-correlation; edges repeated

constexpr int reach = 6, side = 2 * reach + 1, match_wide = 640, match_high = 480;
__constant__ float pattern[side * side];  // less its mean, of length one

__global__ void match_global(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float mean = 0;
    for (int dy = -reach; dy <= reach; ++dy)
        for (int dx = -reach; dx <= reach; ++dx)
            mean += in[inside(y + dy, match_high) * match_wide + inside(x + dx, match_wide)];
    mean /= side * side;
    float product = 0, squares = 0;
    for (int dy = -reach; dy <= reach; ++dy)
        for (int dx = -reach; dx <= reach; ++dx) {
            const float v = in[inside(y + dy, match_high) * match_wide + inside(x + dx, match_wide)] - mean;
            product += v * pattern[(dy + reach) * side + dx + reach];
            squares += v * v;
        }
    out[y * match_wide + x] = product / sqrtf(squares);
}

template <int high>
__device__ void load_tile(const float* in, float (*tile)[32 + 2 * reach]) {
    const int x = blockIdx.x * 32 - reach, y = blockIdx.y * high - reach;
    for (int r = threadIdx.y; r < high + 2 * reach; r += 8)
        for (int c = threadIdx.x; c < 32 + 2 * reach; c += 32)
            tile[r][c] = in[inside(y + r, match_high) * match_wide + inside(x + c, match_wide)];
    __syncthreads();
}

__global__ void match_shared(const float* in, float* out) {
    __shared__ float tile[8 + 2 * reach][32 + 2 * reach];
    load_tile<8>(in, tile);
    float mean = 0;
    for (int r = 0; r < side; ++r)
        for (int c = 0; c < side; ++c) mean += tile[threadIdx.y + r][threadIdx.x + c];
    mean /= side * side;
    float product = 0, squares = 0;
    for (int r = 0; r < side; ++r)
        for (int c = 0; c < side; ++c) {
            const float v = tile[threadIdx.y + r][threadIdx.x + c] - mean;
            product += v * pattern[r * side + c];
            squares += v * v;
        }
    out[(blockIdx.y * 8 + threadIdx.y) * match_wide + blockIdx.x * 32 + threadIdx.x] = product / sqrtf(squares);
}

// One pass: the mean is taken off at the end. Three pixels a thread, eight rows apart.
__global__ void match_once(const float* in, float* out) {
    __shared__ float tile[24 + 2 * reach][32 + 2 * reach];
    load_tile<24>(in, tile);
    float sums[3] = {}, products[3] = {}, squares[3] = {};
    for (int r = 0; r < side; ++r)
#pragma unroll
        for (int c = 0; c < side; ++c) {
            const float weight = pattern[r * side + c];
#pragma unroll
            for (int k = 0; k < 3; ++k) {
                const float v = tile[threadIdx.y + 8 * k + r][threadIdx.x + c];
                sums[k] += v;
                products[k] += v * weight;
                squares[k] += v * v;
            }
        }
#pragma unroll
    for (int k = 0; k < 3; ++k)
        out[(blockIdx.y * 24 + 8 * k + threadIdx.y) * match_wide + blockIdx.x * 32 + threadIdx.x] =
            products[k] / sqrtf(squares[k] - sums[k] * sums[k] / (side * side));
}

void match() {
    const int n = match_wide * match_high;
    const auto in = filled<float>(n, random_float);
    auto weights = filled<float>(side * side, [](unsigned i) { return random_float(i + n); });
    double mean = 0, squares = 0;
    for (const float w : weights) mean += w / (side * side);
    for (const float w : weights) squares += (w - mean) * (w - mean);
    for (float& w : weights) w = static_cast<float>((w - mean) / std::sqrt(squares));
    CHECK(cudaMemcpyToSymbol(pattern, weights.data(), sizeof pattern));
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto check = [&](std::size_t at) {
        const int x = at % match_wide, y = at / match_wide;
        double sum = 0, product = 0, square = 0;
        for (int k = 0; k < side * side; ++k) {
            const int row = inside(y + k / side - reach, match_high), column = inside(x + k % side - reach, match_wide);
            const double v = in[row * match_wide + column];
            sum += v, product += v * weights[k], square += v * v;
        }
        return product / std::sqrt(square - sum * sum / (side * side));
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "640 x 480, 13^2", out, n, check, launch); };
    const dim3 flat(32, 8), tiles(match_wide / 32, match_high / 8);
    show("match: global", [&] { match_global<<<tiles, flat>>>(din, out); });
    show("match: shared", [&] { match_shared<<<tiles, flat>>>(din, out); });
    show("match: one pass", [&] { match_once<<<dim3(match_wide / 32, match_high / 24), flat>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- hue, saturation and value of 1920 x 1080 colours

__device__ __host__ inline void to_hsv(float r, float g, float b, float& h, float& s, float& v) {
    const float high = fmaxf(r, fmaxf(g, b)), low = fminf(r, fminf(g, b)), range = high - low;
    v = high;
    s = high > 0 ? range / high : 0;
    if (range <= 0)
        h = 0;
    else if (high == r)
        h = (g - b) / range + (g < b ? 6.0f : 0.0f);
    else if (high == g)
        h = (b - r) / range + 2;
    else
        h = (r - g) / range + 4;
    h *= 60;
}

__global__ void hsv_structs(const float3* in, float3* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float3 c = in[i];
    to_hsv(c.x, c.y, c.z, out[i].x, out[i].y, out[i].z);
}

__global__ void hsv_planes(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float h, s, v;
    to_hsv(in[i], in[n + i], in[2 * n + i], h, s, v);
    out[i] = h, out[n + i] = s, out[2 * n + i] = v;
}

// Colours of a block go through shared memory.
__global__ void hsv_shared(const float* in, float* out) {
    __shared__ float colours[3 * 256];
    for (int k = threadIdx.x; k < 768; k += 256) colours[k] = in[blockIdx.x * 768 + k];
    __syncthreads();
    float* c = colours + 3 * threadIdx.x;
    to_hsv(c[0], c[1], c[2], c[0], c[1], c[2]);
    __syncthreads();
    for (int k = threadIdx.x; k < 768; k += 256) out[blockIdx.x * 768 + k] = colours[k];
}

void hsv() {
    const int n = 1920 * 1080;
    const auto in = filled<float>(3 * n, random_float);
    const auto planes = filled<float>(3 * n, [&](unsigned i) { return in[i % n * 3 + i / n]; });
    float *din = to_device(in), *dp = to_device(planes), *out = empty_array<float>(3 * n);
    const auto check = [&](std::size_t i) {
        float to[3];
        const float* c = &in[i / 3 * 3];
        to_hsv(c[0], c[1], c[2], to[0], to[1], to[2]);
        return to[i % 3];
    };
    const auto check_planes = [&](std::size_t i) { return check(i % n * 3 + i / n); };
    const auto show = [&](const char* what, auto expected, auto launch) {
        measure(what, "1920 x 1080", out, 3 * n, expected, launch);
    };
    show("hsv: structs", check,
         [&] { hsv_structs<<<n / 256, 256>>>(reinterpret_cast<float3*>(din), reinterpret_cast<float3*>(out)); });
    show("hsv: planes", check_planes, [&] { hsv_planes<<<n / 256, 256>>>(dp, out, n); });
    show("hsv: shared", check, [&] { hsv_shared<<<n / 256, 256>>>(din, out); });
    for (float* each : {din, dp, out}) CHECK(cudaFree(each));
}

// --- grey values of 2048^2 bytes spread evenly by their histogram

constexpr int pixels = 1 << 22;

__global__ void spread_clear(unsigned* counts) { counts[threadIdx.x] = 0; }

__global__ void spread_global(const unsigned char* in, unsigned* counts) {
    atomicAdd(&counts[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

__global__ void spread_shared(const unsigned char* in, unsigned* counts) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    FOR_GRID(i, pixels) atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// Four pixels a load, counts for each warp.
__global__ void spread_warps(const unsigned* in, unsigned* counts) {
    __shared__ unsigned mine[8][256];
    for (int w = 0; w < 8; ++w) mine[w][threadIdx.x] = 0;
    __syncthreads();
    FOR_GRID(i, pixels / 4) {
        const unsigned four = in[i];
        for (int k = 0; k < 32; k += 8) atomicAdd(&mine[threadIdx.x / 32][four >> k & 255], 1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += mine[w][threadIdx.x];
    atomicAdd(&counts[threadIdx.x], sum);
}

// Counts become new values.
__global__ void spread_sums(const unsigned* counts, unsigned char* values) {
    __shared__ unsigned v[256];
    const int t = threadIdx.x;
    v[t] = counts[t];
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        const unsigned other = t >= d ? v[t - d] : 0;
        __syncthreads();
        v[t] += other;
    }
    values[t] = v[t] * 255u / pixels;
}

__global__ void spread_apply(const unsigned char* in, const unsigned char* values, unsigned char* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = values[in[i]];
}

__global__ void spread_words(const unsigned* in, const unsigned char* values, unsigned* out) {
    __shared__ unsigned char mine[256];
    mine[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    FOR_GRID(i, pixels / 4) {
        const unsigned four = in[i];
        unsigned result = 0;
        for (int k = 0; k < 32; k += 8) result |= mine[four >> k & 255] << k;
        out[i] = result;
    }
}

void spread() {
    const auto in = filled<unsigned char>(pixels, [](unsigned i) {
        const unsigned h = hash(i);
        return 40 + ((h & 63) + (h >> 6 & 63) + (h >> 12 & 31));
    });
    std::vector<unsigned> upto(256);
    for (const unsigned char v : in) ++upto[v];
    for (int v = 1; v < 256; ++v) upto[v] += upto[v - 1];
    unsigned char *din = to_device(in), *out = empty_array<unsigned char>(pixels),
                  *values = empty_array<unsigned char>(256);
    unsigned* counts = empty_array<unsigned>(256);
    const auto in4 = reinterpret_cast<unsigned*>(din), out4 = reinterpret_cast<unsigned*>(out);
    const auto check = [&](std::size_t i) { return upto[in[i]] * 255u / pixels; };
    const auto show = [&](const char* what, auto count, auto apply) {
        measure(what, "2048^2", out, pixels, check, [&] {
            spread_clear<<<1, 256>>>(counts);
            count();
            spread_sums<<<1, 256>>>(counts, values);
            apply();
        });
    };
    const auto apply = [&] { spread_apply<<<pixels / 256, 256>>>(din, values, out); };
    const auto words = [&] { spread_words<<<1024, 256>>>(in4, values, out4); };
    show(
        "spread: global", [&] { spread_global<<<pixels / 256, 256>>>(din, counts); }, apply);
    show(
        "spread: shared", [&] { spread_shared<<<1024, 256>>>(din, counts); }, apply);
    show(
        "spread: warps", [&] { spread_warps<<<512, 256>>>(in4, counts); }, words);
    for (unsigned char* each : {din, out, values}) CHECK(cudaFree(each));
    CHECK(cudaFree(counts));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    match();
    hsv();
    spread();
    return wrong;
}
