// Eighth held-out set: the cheapest paths down a grid, averages over random paths, and a shorter tour.
#include "families.cuh"

namespace {

// --- the cheapest path down 64 rows to each of 2^17 places of the last, to one of three places with each step

constexpr int deep = 64, wide = 1 << 17, far = 1 << 28;
constexpr int ghost = 16;  // most steps a launch

__global__ void valley_step(const int* costs, const int* in, int* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    int best = in[x];
    if (x > 0) best = min(best, in[x - 1]);
    if (x < wide - 1) best = min(best, in[x + 1]);
    out[x] = best + costs[x];
}

// `steps` steps of 256 places, after which that many on each side are wrong.
__global__ void valley_shared(const int* costs, const int* in, int* out, int steps) {
    __shared__ int v[256];
    const int t = threadIdx.x, x = blockIdx.x * (256 - 2 * steps) + t - steps;
    const bool valid = x >= 0 && x < wide;
    v[t] = valid ? in[x] : far;
    for (int s = 0; s < steps; ++s) {
        int next = far;
        __syncthreads();
        if (valid && t > s && t < 255 - s) next = min(v[t], min(v[t - 1], v[t + 1])) + costs[s * wide + x];
        __syncthreads();
        v[t] = next;
    }
    if (valid && t >= steps && t < 256 - steps) out[x] = v[t];
}

// The same of 128 places in the registers of a warp.
__global__ void valley_warp(const int4* costs, const int4* in, int4* out, int steps) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int x = (warp * (128 - 2 * ghost) - ghost) / 4 + lane;
    const bool valid = x >= 0 && x < wide / 4;
    int4 v = valid ? in[x] : make_int4(far, far, far, far);
    for (int s = 0; s < steps; ++s) {
        const int left = __shfl_up_sync(~0u, v.w, 1), right = __shfl_down_sync(~0u, v.x, 1);
        if (!valid) continue;
        const int4 c = costs[s * (wide / 4) + x];
        const int middle = min(v.y, v.z);
        v = make_int4(min(left, min(v.x, v.y)) + c.x, min(v.x, middle) + c.y, min(middle, v.w) + c.z,
                      min(min(v.z, v.w), right) + c.w);
    }
    if (valid && lane >= ghost / 4 && lane < 32 - ghost / 4) out[x] = v;
}

void valley() {
    const auto costs = filled<int>(deep * wide, [](unsigned i) { return hash(i) % 10; });
    int *dc = to_device(costs), *other = empty_array<int>(wide), *out = empty_array<int>(wide);
    std::vector<int> want(costs.begin(), costs.begin() + wide), last;
    for (int r = 1; r < deep; ++r) {
        last = want;
        for (int x = 0; x < wide; ++x)
            want[x] = costs[r * wide + x] +
                      std::min(last[x], std::min(last[x > 0 ? x - 1 : x], last[x < wide - 1 ? x + 1 : x]));
    }
    const auto check = [&](std::size_t i) { return want[i]; };
    // `start` starts a launch for `steps` rows from `row` on; an odd count of launches ends in `out`.
    const auto show = [&](const char* what, int most, auto start) {
        measure(what, "64 x 2^17", out, wide, check, [&] {
            int launch = (deep - 1 + most - 1) / most % 2;
            const int* from = dc;
            for (int row = 1; row < deep; row += most, launch ^= 1) {
                int* to = launch ? out : other;
                start(dc + row * wide, from, to, std::min(most, deep - row));
                from = to;
            }
        });
    };
    show("valley: steps", 1,
         [&](const int* costs, const int* from, int* to, int) { valley_step<<<wide / 256, 256>>>(costs, from, to); });
    show("valley: shared", ghost, [&](const int* costs, const int* from, int* to, int steps) {
        valley_shared<<<wide / (256 - 2 * steps) + 1, 256>>>(costs, from, to, steps);
    });
    show("valley: warps", ghost, [&](const int* costs, const int* from, int* to, int steps) {
        valley_warp<<<wide / (128 - 2 * ghost) / 4 + 1, 128>>>(reinterpret_cast<const int4*>(costs),
                                                               reinterpret_cast<const int4*>(from),
                                                               reinterpret_cast<int4*>(to), steps);
    });
    for (int* each : {dc, other, out}) CHECK(cudaFree(each));
}

// --- what an option on two assets pays, for each of 2^17 paths of 50 steps or on average; random numbers are given

constexpr int paths = 1 << 17, steps = 50;
__constant__ float drift, volatility, correlation, independence, discount;

struct Assets {
    float a = 1, b = 1;

    __device__ void step(float x, float y) {
        a *= drift + volatility * x;
        b *= drift + volatility * (correlation * x + independence * y);
    }
    __device__ float payoff() const { return discount * fmaxf(fmaxf(a, b) - 1, 0); }
};

__global__ void averages_own(const float* z, float* out) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    Assets assets;
    for (int k = 0; k < steps; ++k) assets.step(z[path * 2 * steps + 2 * k], z[path * 2 * steps + 2 * k + 1]);
    out[path] = assets.payoff();
}

__global__ void averages_beside(const float* z, float* out) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    Assets assets;
    for (int k = 0; k < steps; ++k) assets.step(z[2 * k * paths + path], z[(2 * k + 1) * paths + path]);
    out[path] = assets.payoff();
}

// The block reads ten steps of all of its paths in order.
__global__ void averages_staged(const float* z, float* out) {
    __shared__ float tile[128][21];
    const int first = blockIdx.x * 128;
    Assets assets;
    for (int from = 0; from < 2 * steps; from += 20) {
        for (int k = threadIdx.x; k < 128 * 20; k += 128)
            tile[k / 20][k % 20] = z[(first + k / 20) * 2 * steps + from + k % 20];
        __syncthreads();
        for (int k = 0; k < 20; k += 2) assets.step(tile[threadIdx.x][k], tile[threadIdx.x][k + 1]);
        __syncthreads();
    }
    out[first + threadIdx.x] = assets.payoff();
}

__global__ void averages_clear(float* out) { *out = 0; }

__global__ void averages_sum(const float* z, float* out) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    Assets assets;
#pragma unroll 10
    for (int k = 0; k < steps; ++k) assets.step(z[2 * k * paths + path], z[(2 * k + 1) * paths + path]);
    const float sum = block_sum(assets.payoff());
    if (threadIdx.x == 0) atomicAdd(out, sum / paths);
}

template <class T>
void to_constant(const T& symbol, float value) {
    CHECK(cudaMemcpyToSymbol(symbol, &value, sizeof value));
}

void averages() {
    const int n = 2 * steps * paths;
    const float time = 1.0f / steps, rate = 0.05f, sigma = 0.3f, rho = 0.5f;
    const float grows = 1 + rate * time, varies = sigma * std::sqrt(time), rest = std::sqrt(1 - rho * rho);
    to_constant(drift, grows);
    to_constant(volatility, varies);
    to_constant(correlation, rho);
    to_constant(independence, rest);
    to_constant(discount, std::exp(-rate));
    const auto own = filled<float>(
        n, [](unsigned i) { return 2 * (random_float(i) + random_float(~i) + random_float(i ^ 0x55555555u) - 1.5f); });
    std::vector<float> beside(n);
    for (int i = 0; i < n; ++i) beside[i % (2 * steps) * paths + i / (2 * steps)] = own[i];
    float *dz = to_device(own), *db = to_device(beside), *out = empty_array<float>(paths);
    const auto check = [&](std::size_t i) {
        double a = 1, b = 1;
        for (int k = 0; k < steps; ++k) {
            const double x = own[i * 2 * steps + 2 * k], y = own[i * 2 * steps + 2 * k + 1];
            a *= grows + varies * x;
            b *= grows + varies * (rho * x + rest * y);
        }
        return std::exp(-double(rate)) * std::fmax(std::fmax(a, b) - 1, 0);
    };
    const auto average = [&](std::size_t) {
        double sum = 0;
        for (int i = 0; i < paths; ++i) sum += check(i);
        return sum / paths;
    };
    const char* size = "2^17 x 50";
    measure("averages: own", size, out, paths, check, [&] { averages_own<<<paths / 64, 64>>>(dz, out); });
    measure("averages: beside", size, out, paths, check, [&] { averages_beside<<<paths / 64, 64>>>(db, out); });
    measure("averages: staged", size, out, paths, check, [&] { averages_staged<<<paths / 128, 128>>>(dz, out); });
    measure("averages: sum", size, out, 1, average, [&] {
        averages_clear<<<1, 1>>>(out);
        averages_sum<<<paths / 256, 256>>>(db, out);
    });
    for (float* each : {dz, db, out}) CHECK(cudaFree(each));
}

// --- what the best exchange of two steps of a tour of 3072 cities gains (2-opt), of all pairs of steps

constexpr int cities = 3072;

struct Exchange {
    unsigned long long key;  // the gain's bits, the two steps
    operator double() const {
        const unsigned bits = key >> 32;
        float gain;
        std::memcpy(&gain, &bits, sizeof gain);
        return gain;
    }
};

__device__ __host__ inline float distance(float2 a, float2 b) {
    return sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

__device__ inline unsigned long long exchange_key(float gain, int i, int j) {
    return gain > 0 ? static_cast<unsigned long long>(__float_as_uint(gain)) << 32 | (i << 16 | j) : 0;
}

__device__ inline float tour_gain(const float2* tour, int i, int j) {
    const int after = j + 1 < cities ? j + 1 : 0;
    return distance(tour[i], tour[i + 1]) + distance(tour[j], tour[after]) - distance(tour[i], tour[j]) -
           distance(tour[i + 1], tour[after]);
}

__global__ void tour_clear(unsigned long long* best) { *best = 0; }

// A thread a pair, of which more than half have nothing to do.
__global__ void tour_pairs(const float2* tour, unsigned long long* best) {
    __shared__ unsigned long long block_best;
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    const bool first = threadIdx.x == 0 && threadIdx.y == 0;
    if (first) block_best = 0;
    __syncthreads();
    if (j >= i + 2) atomicMax(&block_best, exchange_key(tour_gain(tour, i, j), i, j));
    __syncthreads();
    if (first && block_best > 0) atomicMax(best, block_best);
}

__global__ void tour_cities(const float2* tour, unsigned long long* best) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float gain = 0;
    int with = 0;
    for (int j = i + 2; j < cities; ++j) {
        const float other = tour_gain(tour, i, j);
        if (other > gain) gain = other, with = j;
    }
    atomicMax(best, exchange_key(gain, i, with));
}

// 128 steps with 128 others, whose cities and lengths are in shared memory.
__global__ void tour_tiles(const float2* tour, unsigned long long* best) {
    if (blockIdx.x < blockIdx.y) return;
    __shared__ float2 others[129];
    __shared__ float lengths[128];
    const int t = threadIdx.x, i = blockIdx.y * 128 + t, first = blockIdx.x * 128;
    others[t] = tour[first + t];
    if (t == 0) others[128] = tour[first + 128 < cities ? first + 128 : 0];
    __syncthreads();
    lengths[t] = distance(others[t], others[t + 1]);
    __syncthreads();
    const float2 from = tour[i], to = tour[i + 1 < cities ? i + 1 : 0];
    const float length = distance(from, to);
    float gain = 0;
    int with = 0;
    for (int k = 0; k < 128; ++k) {
        const float other = length + lengths[k] - distance(from, others[k]) - distance(to, others[k + 1]);
        if (first + k >= i + 2 && other > gain) gain = other, with = first + k;
    }
    unsigned long long mine = exchange_key(gain, i, with);
    for (int d = 16; d > 0; d /= 2) mine = max(mine, __shfl_xor_sync(~0u, mine, d));
    if (t % 32 == 0) atomicMax(best, mine);
}

// All distances are known: a block a row of them.
__global__ void tour_table(const float* table, unsigned long long* best) {
    const int i = blockIdx.x;
    const float *row = table + i * cities, *next = row + cities;
    const float length = row[i + 1];
    float gain = 0;
    int with = 0;
    for (int j = i + 2 + threadIdx.x; j < cities; j += blockDim.x) {
        const int after = j + 1 < cities ? j + 1 : 0;
        const float other = length + table[j * cities + after] - row[j] - next[after];
        if (other > gain) gain = other, with = j;
    }
    unsigned long long mine = exchange_key(gain, i, with);
    for (int d = 16; d > 0; d /= 2) mine = max(mine, __shfl_xor_sync(~0u, mine, d));
    if (threadIdx.x % 32 == 0) atomicMax(best, mine);
}

void exchange() {
    const auto tour = filled<float2>(cities, [](unsigned i) {
        const float turn = 6.2831853f * i / cities, far = 1 + 0.2f * random_float(i);
        return make_float2(far * std::cos(turn), far * std::sin(turn) + 0.1f * random_float(~i));
    });
    std::vector<float> table(cities * cities);
    for (int k = 0; k < cities * cities; ++k) table[k] = distance(tour[k / cities], tour[k % cities]);
    const auto check = [&](std::size_t) {
        float best = 0;
        for (int i = 0; i < cities; ++i)
            for (int j = i + 2; j < cities; ++j) {
                const int after = (j + 1) % cities;
                best = std::max(best, table[i * cities + i + 1] + table[j * cities + after] - table[i * cities + j] -
                                          table[(i + 1) * cities + after]);
            }
        return best;
    };
    float2* dt = to_device(tour);
    float* distances = to_device(table);
    Exchange* out = empty_array<Exchange>(1);
    const auto show = [&](const char* what, auto launch) {
        measure(what, "3072", out, 1, check, [&] {
            tour_clear<<<1, 1>>>(&out->key);
            launch();
        });
    };
    show("exchange: pairs", [&] { tour_pairs<<<dim3(cities / 16, cities / 16), dim3(16, 16)>>>(dt, &out->key); });
    show("exchange: cities", [&] { tour_cities<<<cities / 64, 64>>>(dt, &out->key); });
    show("exchange: tiles", [&] { tour_tiles<<<dim3(cities / 128, cities / 128), 128>>>(dt, &out->key); });
    show("exchange: table", [&] { tour_table<<<cities - 2, 256>>>(distances, &out->key); });
    CHECK(cudaFree(dt));
    CHECK(cudaFree(distances));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    valley();
    averages();
    exchange();
    return wrong;
}
