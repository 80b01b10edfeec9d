// Fifth held-out set: families of signals and of tables.
#include "families.cuh"

namespace {

// --- autocorrelation of 2^15 samples at 1024 lags

constexpr int samples = 1 << 15, lags = 1024, chunk = 1024, chunks = samples / chunk;

__global__ void correlate_thread(const float* x, float* out) {
    const int lag = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < samples - lag; ++i) sum += x[i] * x[i + lag];
    out[lag] = sum;
}

__global__ void correlate_block(const float* x, float* out) {
    float sum = 0;
    for (int i = threadIdx.x; i < samples - int(blockIdx.x); i += 256) sum += x[i] * x[i + blockIdx.x];
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// 1024 samples at all lags, four lags a thread; what is beyond the end is zero.
__global__ void correlate_chunk(const float* x, float* parts) {
    __shared__ float own[chunk + lags];
    const int first = blockIdx.x * chunk, t = threadIdx.x;
    for (int i = t; i < chunk + lags; i += 256) own[i] = first + i < samples ? x[first + i] : 0;
    __syncthreads();
    float sums[4] = {};
    for (int i = 0; i < chunk; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[k] += own[i] * own[i + k * 256 + t];
    for (int k = 0; k < 4; ++k) parts[blockIdx.x * lags + k * 256 + t] = sums[k];
}

__global__ void correlate_parts(const float* parts, float* out) {
    const int lag = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < chunks; ++k) sum += parts[k * lags + lag];
    out[lag] = sum;
}

void correlate() {
    const auto x = filled<float>(samples, random_float);
    float *dx = to_device(x), *parts = empty_array<float>(chunks * lags), *out = empty_array<float>(lags);
    const auto check = [&](std::size_t lag) {
        double sum = 0;
        for (std::size_t i = 0; i + lag < samples; ++i) sum += x[i] * x[i + lag];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^15, 1024", out, lags, check, launch); };
    show("correlate: thread", [&] { correlate_thread<<<lags / 64, 64>>>(dx, out); });
    show("correlate: block", [&] { correlate_block<<<lags, 256>>>(dx, out); });
    show("correlate: chunks", [&] {
        correlate_chunk<<<chunks, 256>>>(dx, parts);
        correlate_parts<<<lags / 128, 128>>>(parts, out);
    });
    for (float* each : {dx, parts, out}) CHECK(cudaFree(each));
}

// --- transforms of 1024 numbers modulo the prime 998244353, results in the order of reversed bits: 2048 of them

constexpr unsigned prime = 998244353;
constexpr int points = 1024, transforms = 2048;

__host__ __device__ inline unsigned times_modulo(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b % prime);
}

__device__ inline unsigned plus_modulo(unsigned a, unsigned b) { return min(a + b, a + b - prime); }

__device__ inline unsigned minus_modulo(unsigned a, unsigned b) { return min(a - b, a - b + prime); }

// root.y is 2^32 root.x / prime (Shoup).
__device__ inline unsigned times_root(unsigned a, uint2 root) {
    const unsigned rest = a * root.x - __umulhi(a, root.y) * prime;
    return min(rest, rest - prime);
}

template <bool remainder>
__global__ void ntt_shared(const unsigned* in, const uint2* roots, unsigned* out) {
    __shared__ unsigned own[points];
    const int t = threadIdx.x;
    for (int i = t; i < points; i += 512) own[i] = in[blockIdx.x * points + i];
    for (int half = points / 2; half > 0; half /= 2) {
        __syncthreads();
        const int j = t % half, low = t / half * half * 2 + j;
        const unsigned a = own[low], b = own[low + half], less = minus_modulo(a, b);
        const uint2 root = roots[j * (points / 2 / half)];
        own[low] = plus_modulo(a, b);
        own[low + half] = remainder ? times_modulo(less, root.x) : times_root(less, root);
    }
    __syncthreads();
    for (int i = t; i < points; i += 512) out[blockIdx.x * points + i] = own[i];
}

// A warp each, 32 numbers a lane.
__global__ void ntt_warp(const unsigned* in, const uint2* roots, unsigned* out) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * points + lane;
    unsigned a[32];
#pragma unroll
    for (int r = 0; r < 32; ++r) a[r] = in[first + r * 32];
#pragma unroll
    for (int half = 16; half > 0; half /= 2)
#pragma unroll
        for (int r = 0; r < 32; ++r) {
            if (r & half) continue;
            const unsigned less = minus_modulo(a[r], a[r + half]);
            a[r] = plus_modulo(a[r], a[r + half]);
            a[r + half] = times_root(less, roots[(r % half * 32 + lane) * (16 / half)]);
        }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        const uint2 root = roots[lane % half * (points / 2 / half)];
#pragma unroll
        for (int r = 0; r < 32; ++r) {
            const unsigned other = __shfl_xor_sync(~0u, a[r], half);
            a[r] = lane & half ? times_root(minus_modulo(other, a[r]), root) : plus_modulo(a[r], other);
        }
    }
#pragma unroll
    for (int r = 0; r < 32; ++r) out[first + r * 32] = a[r];
}

void ntt() {
    const int n = points * transforms;
    const auto in = filled<unsigned>(n, [](unsigned i) { return hash(i) % prime; });
    unsigned root = 1, power = 1;
    for (unsigned k = 0; k < (prime - 1) / points; ++k) root = times_modulo(root, 3);
    std::vector<uint2> roots(points / 2);
    for (uint2& each : roots) {
        each = make_uint2(power, static_cast<unsigned>((static_cast<unsigned long long>(power) << 32) / prime));
        power = times_modulo(power, root);
    }
    unsigned *din = to_device(in), *out = empty_array<unsigned>(n);
    uint2* droots = to_device(roots);
    const auto check = [&](std::size_t i) {
        unsigned sum = 0, place = 0, step = 1, factor = 1;
        for (int bit = 1; bit < points; bit *= 2) place = place * 2 + (i & bit ? 1 : 0);
        for (unsigned k = 0; k < place; ++k) step = times_modulo(step, root);
        for (int k = 0; k < points; ++k, factor = times_modulo(factor, step))
            sum = (sum + times_modulo(in[i / points * points + k], factor)) % prime;
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048 of 1024", out, n, check, launch); };
    show("ntt: remainder", [&] { ntt_shared<true><<<transforms, 512>>>(din, droots, out); });
    show("ntt: shared", [&] { ntt_shared<false><<<transforms, 512>>>(din, droots, out); });
    show("ntt: warp", [&] { ntt_warp<<<transforms / 4, 128>>>(din, droots, out); });
    for (void* each : {(void*)din, (void*)out, (void*)droots}) CHECK(cudaFree(each));
}

// --- a level of the 5/3 wavelet transform of 2048^2 whole numbers; beyond its ends an image is mirrored

constexpr int wide = 2048, halved = wide / 2;

__host__ __device__ inline int mirrored(int i) { return i < 0 ? -i : i >= wide ? 2 * wide - 2 - i : i; }

// The low and the high part of five numbers about the middle and the next.
__host__ __device__ inline int2 lift(int a, int b, int c, int d, int e) {
    const int high = d - ((c + e) >> 1);
    return make_int2(c + ((b - ((a + c) >> 1) + high + 2) >> 2), high);
}

// At `step` and along it; lines are `across` apart. Two numbers a thread.
__global__ void wavelet_line(const int* in, int* out, int step, int across) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = step == 1 ? x : y, line = (step == 1 ? y : x) * across;
    int v[5];
#pragma unroll
    for (int k = 0; k < 5; ++k) v[k] = in[line + mirrored(2 * i - 2 + k) * step];
    const int2 both = lift(v[0], v[1], v[2], v[3], v[4]);
    out[line + i * step] = both.x;
    out[line + (i + halved) * step] = both.y;
}

// Rows and columns of 32 x 32 pixels in shared memory; 16 x 16 threads.
__global__ void wavelet_tile(const int* in, int* out) {
    __shared__ int tile[35][36], low[35][17], high[35][17];
    const int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32 - 2, top = blockIdx.y * 32 - 2;
    for (int i = y * 16 + x; i < 35 * 35; i += 256)
        tile[i / 35][i % 35] = in[mirrored(top + i / 35) * wide + mirrored(left + i % 35)];
    __syncthreads();
    for (int r = y; r < 35; r += 16) {
        const int* v = tile[r] + 2 * x;
        const int2 both = lift(v[0], v[1], v[2], v[3], v[4]);
        low[r][x] = both.x, high[r][x] = both.y;
    }
    __syncthreads();
    const int to = (blockIdx.y * 16 + y) * wide + blockIdx.x * 16 + x, r = 2 * y;
    const int2 l = lift(low[r][x], low[r + 1][x], low[r + 2][x], low[r + 3][x], low[r + 4][x]);
    const int2 h = lift(high[r][x], high[r + 1][x], high[r + 2][x], high[r + 3][x], high[r + 4][x]);
    out[to] = l.x, out[to + halved * wide] = l.y;
    out[to + halved] = h.x, out[to + halved * wide + halved] = h.y;
}

__device__ inline int2 lift_row(const int* in, int x, int y) {
    const int* row = in + mirrored(y) * wide;
    const int2 middle = *reinterpret_cast<const int2*>(row + 2 * x);
    return lift(row[mirrored(2 * x - 2)], row[mirrored(2 * x - 1)], middle.x, middle.y, row[mirrored(2 * x + 2)]);
}

// A thread goes down 64 rows of two columns and keeps what the next two need.
__global__ void wavelet_sliding(const int* in, int* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 32;
    int2 v[5];
#pragma unroll
    for (int k = 0; k < 3; ++k) v[k] = lift_row(in, x, 2 * top - 2 + k);
    for (int y = top; y < top + 32; ++y) {
        v[3] = lift_row(in, x, 2 * y + 1), v[4] = lift_row(in, x, 2 * y + 2);
        const int2 l = lift(v[0].x, v[1].x, v[2].x, v[3].x, v[4].x), h = lift(v[0].y, v[1].y, v[2].y, v[3].y, v[4].y);
        int* to = out + y * wide + x;
        to[0] = l.x, to[halved * wide] = l.y, to[halved] = h.x, to[halved * wide + halved] = h.y;
#pragma unroll
        for (int k = 0; k < 3; ++k) v[k] = v[k + 2];
    }
}

void wavelet() {
    const int n = wide * wide;
    const auto in = filled<int>(n, [](unsigned i) { return hash(i) % 4096; });
    int *din = to_device(in), *between = empty_array<int>(n), *out = empty_array<int>(n);
    const auto check = [&](std::size_t i) {
        const int x = static_cast<int>(i % wide), y = static_cast<int>(i / wide);
        int v[5];
        for (int k = 0; k < 5; ++k) {
            const auto at = [&](int d) {
                return in[mirrored(y % halved * 2 - 2 + k) * wide + mirrored(x % halved * 2 - 2 + d)];
            };
            const int2 both = lift(at(0), at(1), at(2), at(3), at(4));
            v[k] = x < halved ? both.x : both.y;
        }
        const int2 both = lift(v[0], v[1], v[2], v[3], v[4]);
        return y < halved ? both.x : both.y;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, n, check, launch); };
    show("wavelet: lines", [&] {
        wavelet_line<<<dim3(halved / 256, wide), 256>>>(din, between, 1, wide);
        wavelet_line<<<dim3(wide / 32, halved / 8), dim3(32, 8)>>>(between, out, wide, 1);
    });
    show("wavelet: tile", [&] { wavelet_tile<<<dim3(wide / 32, wide / 32), dim3(16, 16)>>>(din, out); });
    show("wavelet: sliding", [&] { wavelet_sliding<<<dim3(halved / 128, wide / 64), 128>>>(din, out); });
    for (int* each : {din, between, out}) CHECK(cudaFree(each));
}

// --- the best value for each weight below 2048 that 64 things can make (knapsack), 256 times

constexpr int bags = 256, things = 64, room = 2048;

// One row of the table for each thing, in global memory.
__global__ void knapsack_global(const int2* thing, int* table, int* out) {
    int* row = table + blockIdx.x * (things + 1) * room;
    for (int w = threadIdx.x; w < room; w += blockDim.x) row[w] = 0;
    for (int k = 0; k < things; ++k, row += room) {
        __syncthreads();
        const int2 own = thing[blockIdx.x * things + k];
        for (int w = threadIdx.x; w < room; w += blockDim.x)
            row[room + w] = w < own.x ? row[w] : max(row[w], row[w - own.x] + own.y);
    }
    for (int w = threadIdx.x; w < room; w += blockDim.x) out[blockIdx.x * room + w] = row[w];
}

__global__ void knapsack_shared(const int2* thing, int* out) {
    __shared__ int rows[2][room];
    for (int w = threadIdx.x; w < room; w += blockDim.x) rows[0][w] = 0;
    for (int k = 0; k < things; ++k) {
        __syncthreads();
        const int2 own = thing[blockIdx.x * things + k];
        const int* from = rows[k % 2];
        int* to = rows[1 - k % 2];
        for (int w = threadIdx.x; w < room; w += blockDim.x)
            to[w] = w < own.x ? from[w] : max(from[w], from[w - own.x] + own.y);
    }
    for (int w = threadIdx.x; w < room; w += blockDim.x) out[blockIdx.x * room + w] = rows[0][w];
}

// A thread of 256 keeps its eight results; only what others need of them is in shared memory.
__global__ void knapsack_registers(const int2* thing, int* out) {
    __shared__ int row[room];
    int best[8] = {};
    for (int k = 0; k < things; ++k) {
        const int2 own = thing[blockIdx.x * things + k];
#pragma unroll
        for (int r = 0; r < 8; ++r) row[r * 256 + threadIdx.x] = best[r];
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 8; ++r) {
            const int w = r * 256 + static_cast<int>(threadIdx.x) - own.x;
            if (w >= 0) best[r] = max(best[r], row[w] + own.y);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) out[blockIdx.x * room + r * 256 + threadIdx.x] = best[r];
}

void knapsack() {
    std::vector<int2> thing(bags * things);
    for (unsigned i = 0; i < thing.size(); ++i) thing[i] = make_int2(1 + hash(i) % 200, 1 + hash(~i) % 1000);
    int2* dthing = to_device(thing);
    int *table = empty_array<int>(bags * (things + 1) * room), *out = empty_array<int>(bags * room);
    const auto check = [&](std::size_t i) {
        std::vector<int> best(room);
        for (int k = 0; k < things; ++k) {
            const int2 own = thing[i / room * things + k];
            for (int w = room - 1; w >= own.x; --w) best[w] = std::max(best[w], best[w - own.x] + own.y);
        }
        return best[i % room];
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "256 of 64 in 2048", out, bags * room, check, launch);
    };
    show("knapsack: global", [&] { knapsack_global<<<bags, 256>>>(dthing, table, out); });
    show("knapsack: shared", [&] { knapsack_shared<<<bags, 512>>>(dthing, out); });
    show("knapsack: registers", [&] { knapsack_registers<<<bags, 256>>>(dthing, out); });
    for (void* each : {(void*)dthing, (void*)table, (void*)out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    correlate();
    ntt();
    wavelet();
    knapsack();
    return wrong;
}
