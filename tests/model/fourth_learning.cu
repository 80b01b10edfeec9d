// Fourth held-out set: families of machine learning.
#include <cuda_fp16.h>

#include "families.cuh"

namespace {

// --- bags of words: the sum of 32 rows of a table of 2^16 rows of 64 numbers, 2^14 times

constexpr int vocabulary = 1 << 16, width = 64, bags = 1 << 14, bag = 32;

__global__ void embed_elements(const int* words, const float* table, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, first = i / width * bag, d = i % width;
    float sum = 0;
    for (int k = 0; k < bag; ++k) sum += table[words[first + k] * width + d];
    out[i] = sum;
}

// A warp a bag: each lane reads one word and shows it to the others.
template <class Pair, class Add>
__device__ inline void embed_warp(const int* words, const Pair* table, float2* out, Add add) {
    const int lane = threadIdx.x % 32, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int own = words[i * bag + lane];
    float2 sum = make_float2(0, 0);
#pragma unroll 8
    for (int k = 0; k < bag; ++k) add(sum, table[__shfl_sync(~0u, own, k) * 32 + lane]);
    out[i * 32 + lane] = sum;
}

__global__ void embed_pairs(const int* words, const float2* table, float2* out) {
    embed_warp(words, table, out, [](float2& sum, float2 row) { sum.x += row.x, sum.y += row.y; });
}

__global__ void embed_halves(const int* words, const __half2* table, float2* out) {
    embed_warp(words, table, out, [](float2& sum, __half2 row) {
        const float2 pair = __half22float2(row);
        sum.x += pair.x, sum.y += pair.y;
    });
}

void embed() {
    const int n = bags * width, size = vocabulary * width;
    // A few words are frequent.
    const auto words = filled<int>(bags * bag, [](unsigned i) {
        const float x = random_float(i);
        return x * x * x * vocabulary;
    });
    const auto table = filled<float>(size, [](unsigned i) { return random_float(~i); });
    const auto halves = filled<__half>(size, [&](unsigned i) { return __float2half(table[i]); });
    int* dw = to_device(words);
    float *dt = to_device(table), *out = empty_array<float>(n);
    __half* dh = to_device(halves);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < bag; ++k) sum += table[words[i / width * bag + k] * width + i % width];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^14 of 32 x 64", out, n, check, launch); };
    show("embed: elements", [&] { embed_elements<<<n / 256, 256>>>(dw, dt, out); });
    show("embed: pairs", [&] { embed_pairs<<<bags / 8, 256>>>(dw, (float2*)dt, (float2*)out); });
    show("embed: halves", [&] { embed_halves<<<bags / 8, 256>>>(dw, (__half2*)dh, (float2*)out); });
    for (void* each : {(void*)dw, (void*)dt, (void*)dh, (void*)out}) CHECK(cudaFree(each));
}

// --- the nearest of 64 centres to each of 2^18 points of eight dimensions (k-means)

constexpr int members = 1 << 18, centres = 64, dimensions = 8;
__constant__ float fixed_centres[centres * dimensions];

// The point is in registers, the centres anywhere.
__device__ inline int nearest(const float* point, const float* centre) {
    float least = 1e30f;
    int which = 0;
    for (int c = 0; c < centres; ++c) {
        float sum = 0;
#pragma unroll
        for (int d = 0; d < dimensions; ++d) {
            const float apart = point[d] - centre[c * dimensions + d];
            sum += apart * apart;
        }
        if (sum < least) least = sum, which = c;
    }
    return which;
}

// A point's dimensions are beside one another.
__global__ void nearest_global(const float* points, const float* centre, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float least = 1e30f;
    for (int c = 0; c < centres; ++c) {
        float sum = 0;
        for (int d = 0; d < dimensions; ++d) {
            const float apart = points[i * dimensions + d] - centre[c * dimensions + d];
            sum += apart * apart;
        }
        if (sum < least) least = sum, out[i] = c;
    }
}

// Each dimension is an array of its own.
__global__ void nearest_constant(const float* points, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float point[dimensions];
#pragma unroll
    for (int d = 0; d < dimensions; ++d) point[d] = points[d * members + i];
    out[i] = nearest(point, fixed_centres);
}

__global__ void nearest_shared(const float* points, const float* centre, int* out) {
    __shared__ float copy[centres * dimensions];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < centres * dimensions; k += blockDim.x) copy[k] = centre[k];
    float point[dimensions];
#pragma unroll
    for (int d = 0; d < dimensions; ++d) point[d] = points[d * members + i];
    __syncthreads();
    out[i] = nearest(point, copy);
}

// A warp has eight points, four lanes a point, each with every fourth centre.
__global__ void nearest_lanes(const float4* points, const float4* centre, int* out) {
    __shared__ float4 copy[centres * 2];
    const int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / 4, part = at % 4;
    if (threadIdx.x < centres * 2) copy[threadIdx.x] = centre[threadIdx.x];
    const float4 a = points[i * 2], b = points[i * 2 + 1];
    __syncthreads();
    float least = 1e30f;
    int which = 0;
    for (int c = part; c < centres; c += 4) {
        const float4 p = copy[c * 2], q = copy[c * 2 + 1];
        const float sum = (a.x - p.x) * (a.x - p.x) + (a.y - p.y) * (a.y - p.y) + (a.z - p.z) * (a.z - p.z) +
                          (a.w - p.w) * (a.w - p.w) + (b.x - q.x) * (b.x - q.x) + (b.y - q.y) * (b.y - q.y) +
                          (b.z - q.z) * (b.z - q.z) + (b.w - q.w) * (b.w - q.w);
        if (sum < least) least = sum, which = c;
    }
    for (int d = 1; d < 4; d *= 2) {
        const float other = __shfl_xor_sync(~0u, least, d);
        const int its = __shfl_xor_sync(~0u, which, d);
        if (other < least || (other == least && its < which)) least = other, which = its;
    }
    if (part == 0) out[i] = which;
}

void nearest_centres() {
    // Sums of these are exact.
    const auto points = filled<float>(members * dimensions, [](unsigned i) { return hash(i) % 256 / 16.0f; });
    const auto centre = filled<float>(centres * dimensions, [](unsigned i) { return hash(~i) % 256 / 16.0f; });
    const auto turned =
        filled<float>(members * dimensions, [&](unsigned i) { return points[i % members * dimensions + i / members]; });
    CHECK(cudaMemcpyToSymbol(fixed_centres, centre.data(), sizeof fixed_centres));
    float *dp = to_device(points), *dt = to_device(turned), *dc = to_device(centre);
    int* out = empty_array<int>(members);
    const auto check = [&](std::size_t i) {
        std::vector<float> apart(centres);
        for (int k = 0; k < centres * dimensions; ++k) {
            const float each = points[i * dimensions + k % dimensions] - centre[k];
            apart[k / dimensions] += each * each;
        }
        return std::min_element(apart.begin(), apart.end()) - apart.begin();
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^18, 64", out, members, check, launch); };
    show("nearest: global", [&] { nearest_global<<<members / 256, 256>>>(dp, dc, out); });
    show("nearest: constant", [&] { nearest_constant<<<members / 256, 256>>>(dt, out); });
    show("nearest: shared", [&] { nearest_shared<<<members / 256, 256>>>(dt, dc, out); });
    show("nearest: lanes", [&] { nearest_lanes<<<members / 64, 256>>>((float4*)dp, (float4*)dc, out); });
    for (void* each : {(void*)dp, (void*)dt, (void*)dc, (void*)out}) CHECK(cudaFree(each));
}

// --- products of signed bytes: 1024 x 512 times 512 x 1024, whose columns lie in one piece

constexpr int order = 1024, depth = 512, words = depth / 4;

__global__ void bytes_single(const signed char* a, const signed char* b, int* c) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    int sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[j * depth + k];
    c[i * order + j] = sum;
}

// Four products an instruction.
__global__ void bytes_words(const int* a, const int* b, int* c) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    int sum = 0;
    for (int k = 0; k < words; ++k) sum = __dp4a(a[i * words + k], b[j * words + k], sum);
    c[i * order + j] = sum;
}

// Tiles of 64 x 64 results by 16 x 16 threads, 16 of each; 16 words deep.
__global__ void bytes_tiles(const int* a, const int* b, int* c) {
    __shared__ int left[16][65], right[16][65];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    int sums[4][4] = {};
    for (int first = 0; first < words; first += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            left[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * words + first + i % 16];
            right[i % 16][i / 16] = b[(blockIdx.x * 64 + i / 16) * words + first + i % 16];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sums[i][j] = __dp4a(left[k][y + i * 16], right[k][x + j * 16], sums[i][j]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            c[(blockIdx.y * 64 + y + i * 16) * order + blockIdx.x * 64 + x + j * 16] = sums[i][j];
}

void bytes() {
    const int n = order * order;
    const auto a = filled<signed char>(order * depth, [](unsigned i) { return static_cast<int>(hash(i) % 255) - 127; });
    const auto b =
        filled<signed char>(order * depth, [](unsigned i) { return static_cast<int>(hash(~i) % 255) - 127; });
    signed char *da = to_device(a), *db = to_device(b);
    int* out = empty_array<int>(n);
    const auto check = [&](std::size_t i) {
        int sum = 0;
        for (int k = 0; k < depth; ++k) sum += a[i / order * depth + k] * b[i % order * depth + k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "1024^2 x 512", out, n, check, launch); };
    const dim3 blocks(order / 16, order / 16), tiles(order / 64, order / 64), threads(16, 16);
    show("bytes: single", [&] { bytes_single<<<blocks, threads>>>(da, db, out); });
    show("bytes: words", [&] { bytes_words<<<blocks, threads>>>((int*)da, (int*)db, out); });
    show("bytes: tiles", [&] { bytes_tiles<<<tiles, threads>>>((int*)da, (int*)db, out); });
    for (void* each : {(void*)da, (void*)db, (void*)out}) CHECK(cudaFree(each));
}

// --- patches of 3 x 3 of 256 planes of 64 x 64 (im2col); zero outside

constexpr int planes = 256, side = 64, plane = side * side;

__host__ __device__ inline float patch_pixel(const float* in, int y, int x) {
    return y >= 0 && y < side && x >= 0 && x < side ? in[y * side + x] : 0;
}

// A thread a result: pixel (y + k / 3 - 1, x + k % 3 - 1) is at (p * 9 + k) * plane + y * side + x.
__global__ void patches_out(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = i / plane % 9, y = i / side % side, x = i % side;
    out[i] = patch_pixel(in + i / plane / 9 * plane, y + k / 3 - 1, x + k % 3 - 1);
}

// A thread a pixel, which goes to nine places.
__global__ void patches_nine(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, p = i / plane, y = i / side % side, x = i % side;
#pragma unroll
    for (int k = 0; k < 9; ++k)
        out[(p * 9 + k) * plane + y * side + x] = patch_pixel(in + p * plane, y + k / 3 - 1, x + k % 3 - 1);
}

// The nine of a patch side by side: patch after patch, as some layouts want them.
__global__ void patches_beside(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, p = i / plane, y = i / side % side, x = i % side;
    for (int k = 0; k < 9; ++k) out[i * 9 + k] = patch_pixel(in + p * plane, y + k / 3 - 1, x + k % 3 - 1);
}

void patches() {
    const int n = planes * plane * 9;
    const auto in = filled<float>(planes * plane, random_float);
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto pixel = [&](std::size_t p, std::size_t k, std::size_t i) {
        const int y = static_cast<int>(i / side + k / 3) - 1, x = static_cast<int>(i % side + k % 3) - 1;
        return patch_pixel(in.data() + p * plane, y, x);
    };
    const auto check = [&](std::size_t i) { return pixel(i / plane / 9, i / plane % 9, i % plane); };
    const auto check_beside = [&](std::size_t i) { return pixel(i / 9 / plane, i % 9, i / 9 % plane); };
    const char* size = "256 of 64^2";
    measure("patches: results", size, out, n, check, [&] { patches_out<<<n / 256, 256>>>(din, out); });
    measure("patches: pixels", size, out, n, check, [&] { patches_nine<<<n / 9 / 256, 256>>>(din, out); });
    measure("patches: beside", size, out, n, check_beside, [&] { patches_beside<<<n / 9 / 256, 256>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    embed();
    nearest_centres();
    bytes();
    patches();
    return wrong;
}
