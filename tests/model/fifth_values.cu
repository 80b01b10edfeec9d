// Fifth held-out set: families of distances, of angles and of divisors.
#include <cuda_fp16.h>

#include "families.cuh"

namespace {

// --- distances along streets between 1024 points and 1024 others, in 128 dimensions

constexpr int points = 1024, dimensions = 128;

__global__ void streets_global(const float* a, const float* b, float* out) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < dimensions; ++k) sum += fabsf(a[i * dimensions + k] - b[j * dimensions + k]);
    out[i * points + j] = sum;
}

__global__ void streets_shared(const float* a, const float* b, float* out) {
    __shared__ float left[16][17], right[16][17];
    const int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < dimensions; k += 16) {
        left[y][x] = a[(blockIdx.y * 16 + y) * dimensions + k + x];
        right[y][x] = b[(blockIdx.x * 16 + y) * dimensions + k + x];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 16; ++d) sum += fabsf(left[y][d] - right[x][d]);
        __syncthreads();
    }
    out[(blockIdx.y * 16 + y) * points + blockIdx.x * 16 + x] = sum;
}

// 64 x 64 distances a block, 4 x 4 a thread.
__global__ void streets_registers(const float* a, const float* b, float* out) {
    __shared__ float left[16][65], right[16][65];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sums[4][4] = {};
    for (int k = 0; k < dimensions; k += 16) {
        for (int r = y; r < 64; r += 16) {
            left[x][r] = a[(blockIdx.y * 64 + r) * dimensions + k + x];
            right[x][r] = b[(blockIdx.x * 64 + r) * dimensions + k + x];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 16; ++d)
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int c = 0; c < 4; ++c) sums[r][c] += fabsf(left[d][y + r * 16] - right[d][x + c * 16]);
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c)
            out[(blockIdx.y * 64 + y + r * 16) * points + blockIdx.x * 64 + x + c * 16] = sums[r][c];
}

void streets() {
    const auto a = filled<float>(points * dimensions, random_float),
               b = filled<float>(points * dimensions, [](unsigned i) { return random_float(~i); });
    float *da = to_device(a), *db = to_device(b), *out = empty_array<float>(points * points);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < dimensions; ++k)
            sum += std::fabs(a[i / points * dimensions + k] - b[i % points * dimensions + k]);
        return sum;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "1024^2 of 128", out, points * points, check, launch);
    };
    show("streets: global", [&] { streets_global<<<dim3(points / 32, points / 8), dim3(32, 8)>>>(da, db, out); });
    show("streets: shared", [&] { streets_shared<<<dim3(points / 16, points / 16), dim3(16, 16)>>>(da, db, out); });
    show("streets: registers", [&] { streets_registers<<<dim3(points / 64, points / 64), 256>>>(da, db, out); });
    for (float* each : {da, db, out}) CHECK(cudaFree(each));
}

// --- pairs of half precision turned by their position in a text (rotary embedding): 4096 of 64 heads of 32 pairs

constexpr int positions = 4096, heads = 64, pairs = 32, all_pairs = positions * heads * pairs;

__device__ inline __half2 turned(__half2 pair, float2 by) {
    const float2 p = __half22float2(pair);
    return __floats2half2_rn(p.x * by.x - p.y * by.y, p.x * by.y + p.y * by.x);
}

__global__ void rotary_functions(const __half2* in, __half2* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float angle = static_cast<float>(i / (heads * pairs)) * powf(10000, -static_cast<float>(i % pairs) / pairs);
    float2 by;
    sincosf(angle, &by.y, &by.x);
    out[i] = turned(in[i], by);
}

__global__ void rotary_table(const __half2* in, const float2* table, __half2* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = turned(in[i], table[i / (heads * pairs) * pairs + i % pairs]);
}

// Four pairs at once of all heads of a position, for which the table is read once.
__global__ void rotary_vectors(const uint4* in, const float4* table, uint4* out) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, first = i * heads * 8 + threadIdx.x % 8;
    const float4 low = table[i * 16 + threadIdx.x % 8 * 2], high = table[i * 16 + threadIdx.x % 8 * 2 + 1];
    const float2 by[4] = {{low.x, low.y}, {low.z, low.w}, {high.x, high.y}, {high.z, high.w}};
#pragma unroll 4
    for (int head = blockIdx.y * 4; head < blockIdx.y * 4 + 4; ++head) {
        uint4 four = in[first + head * 8];
        __half2* own = reinterpret_cast<__half2*>(&four);
#pragma unroll
        for (int k = 0; k < 4; ++k) own[k] = turned(own[k], by[k]);
        out[first + head * 8] = four;
    }
}

void rotary() {
    const auto in = filled<__half>(all_pairs * 2, [](unsigned i) { return __float2half(2 * random_float(i) - 1); });
    std::vector<float2> table(positions * pairs);
    for (int i = 0; i < positions * pairs; ++i) {
        const double angle = i / pairs * std::pow(10000.0, -double(i % pairs) / pairs);
        table[i] = make_float2(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
    }
    __half *din = to_device(in), *out = empty_array<__half>(all_pairs * 2);
    float2* dtable = to_device(table);
    const auto check = [&](std::size_t i) {
        const std::size_t pair = i / 2;
        const float2 by = table[pair / (heads * pairs) * pairs + pair % pairs];
        const float x = __half2float(in[pair * 2]), y = __half2float(in[pair * 2 + 1]);
        return i % 2 == 0 ? x * by.x - y * by.y : x * by.y + y * by.x;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "4096 x 64 x 32", out, all_pairs * 2, check, [&] { launch((__half2*)din, (__half2*)out); });
    };
    show("rotary: functions", [&](auto from, auto to) { rotary_functions<<<all_pairs / 256, 256>>>(from, to); });
    show("rotary: table", [&](auto from, auto to) { rotary_table<<<all_pairs / 256, 256>>>(from, dtable, to); });
    show("rotary: vectors", [&](auto from, auto to) {
        rotary_vectors<<<dim3(positions * 8 / 128, heads / 4), 128>>>((uint4*)from, (float4*)dtable, (uint4*)to);
    });
    for (void* each : {(void*)din, (void*)out, (void*)dtable}) CHECK(cudaFree(each));
}

// --- votes of 2^14 points for lines through them (Hough): 256 angles, 1280 distances

constexpr int voters = 1 << 14, angles = 256, distances = 1280;

// cosine and sine are in units of 2^-14.
__host__ __device__ inline int distance(int2 point, int2 angle) {
    return (((point.x * angle.x + point.y * angle.y) >> 14) + 1024) / 2;
}

__global__ void hough_global(const int2* point, const int2* angle, int* votes) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int2 own = point[i];
    for (int k = 0; k < angles; ++k) atomicAdd(votes + k * distances + distance(own, angle[k]), 1);
}

// A lane an angle: no two of a warp vote for the same line.
__global__ void hough_angles(const int2* point, const int2* angle, int* votes) {
    const int2 own = angle[threadIdx.x];
    for (int i = blockIdx.x * 32; i < blockIdx.x * 32 + 32; ++i)
        atomicAdd(votes + threadIdx.x * distances + distance(point[i], own), 1);
}

// A block has one angle and half of the points; votes are counted in shared memory first.
__global__ void hough_shared(const int2* point, const int2* angle, int* votes) {
    __shared__ int own[distances];
    for (int i = threadIdx.x; i < distances; i += blockDim.x) own[i] = 0;
    __syncthreads();
    const int2 by = angle[blockIdx.x];
    const int half = voters / 2, first = blockIdx.y * half;
    for (int i = first + threadIdx.x; i < first + half; i += blockDim.x) atomicAdd(own + distance(point[i], by), 1);
    __syncthreads();
    for (int i = threadIdx.x; i < distances; i += blockDim.x)
        if (own[i] > 0) atomicAdd(votes + blockIdx.x * distances + i, own[i]);
}

void hough() {
    const int n = angles * distances;
    std::vector<int2> point(voters), angle(angles);
    for (unsigned i = 0; i < voters; ++i) {
        point[i] = make_int2(hash(i) % 1024, hash(~i) % 1024);
        if (i % 2 == 0) point[i].y = (point[i].x * int(i % 16) / 16 + 100 * int(i % 10)) % 1024;  // on some lines
    }
    for (int k = 0; k < angles; ++k) {
        const double by = k * 3.14159265358979 / angles;
        angle[k] = make_int2(static_cast<int>(16384 * std::cos(by)), static_cast<int>(16384 * std::sin(by)));
    }
    std::vector<int> votes(n);
    for (int k = 0; k < angles; ++k)
        for (const int2 each : point) votes[k * distances + distance(each, angle[k])] += launches;
    int2 *dpoint = to_device(point), *dangle = to_device(angle);
    int* out = empty_array<int>(n);
    const auto check = [&](std::size_t i) { return votes[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^14, 256", out, n, check, launch); };
    show("hough: global", [&] { hough_global<<<voters / 64, 64>>>(dpoint, dangle, out); });
    show("hough: angles", [&] { hough_angles<<<voters / 32, angles>>>(dpoint, dangle, out); });
    show("hough: shared", [&] { hough_shared<<<dim3(angles, 2), 512>>>(dpoint, dangle, out); });
    for (void* each : {(void*)dpoint, (void*)dangle, (void*)out}) CHECK(cudaFree(each));
}

// --- the greatest common divisors of 2^20 pairs

constexpr int divided = 1 << 20;

__host__ __device__ inline unsigned euclid(unsigned a, unsigned b) {
    while (b != 0) {
        const unsigned rest = a % b;
        a = b, b = rest;
    }
    return a;
}

__global__ void divisor_euclid(const uint2* pair, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = euclid(pair[i].x, pair[i].y);
}

// Halves and subtracts, one bit at a time (Stein).
__global__ void divisor_halves(const uint2* pair, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = pair[i].x, b = pair[i].y, twos = 0;
    while (a != b) {
        if (a % 2 == 0 && b % 2 == 0)
            a /= 2, b /= 2, ++twos;
        else if (a % 2 == 0)
            a /= 2;
        else if (b % 2 == 0)
            b /= 2;
        else if (a > b)
            a = (a - b) / 2;
        else
            b = (b - a) / 2;
    }
    out[i] = a << twos;
}

// The same with all zeros at once and no branches.
__global__ void divisor_zeros(const uint2* pair, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = pair[i].x, b = pair[i].y;
    const int twos = __ffs(a | b) - 1;
    a >>= __ffs(a) - 1;
    while (b != 0) {
        b >>= __ffs(b) - 1;
        const unsigned low = min(a, b);
        b = max(a, b) - low;
        a = low;
    }
    out[i] = a << twos;
}

void divisors() {
    std::vector<uint2> pair(divided);
    for (unsigned i = 0; i < divided; ++i) {
        const unsigned common = 1 + hash(i) % 3000;
        pair[i] = make_uint2(common * (1 + hash(3 * i + 1) % 1000000), common * (1 + hash(~i) % 1000000));
    }
    uint2* dpair = to_device(pair);
    unsigned* out = empty_array<unsigned>(divided);
    const auto check = [&](std::size_t i) { return euclid(pair[i].x, pair[i].y); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^20", out, divided, check, launch); };
    show("divisor: euclid", [&] { divisor_euclid<<<divided / 256, 256>>>(dpair, out); });
    show("divisor: halves", [&] { divisor_halves<<<divided / 256, 256>>>(dpair, out); });
    show("divisor: zeros", [&] { divisor_zeros<<<divided / 256, 256>>>(dpair, out); });
    CHECK(cudaFree(dpair));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    streets();
    rotary();
    hough();
    divisors();
    return wrong;
}
