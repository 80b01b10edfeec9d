// Ninth held-out set: scans of segments, a histogram that saturates, a hash table with open addressing.
#include <cooperative_groups.h>

#include "families.cuh"

namespace {

namespace cg = cooperative_groups;

__global__ void zero(unsigned* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0;
}

// --- inclusive scans of segments of 1024 of 2^22 floats

constexpr int section = 1024;

__global__ void kogge_stone(const float* x, float* y) {
    __shared__ float v[section];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    v[t] = x[i];
    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();
        float sum = 0;
        if (t >= stride) sum = v[t] + v[t - stride];
        __syncthreads();
        if (t >= stride) v[t] = sum;
    }
    y[i] = v[t];
}

__global__ void kogge_stone_two(const float* x, float* y) {
    __shared__ float one[section], two[section];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float *from = one, *to = two;
    from[t] = x[i];
    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();
        to[t] = t >= stride ? from[t] + from[t - stride] : from[t];
        float* other = from;
        from = to;
        to = other;
    }
    y[i] = from[t];
}

__global__ void brent_kung(const float* x, float* y) {
    __shared__ float v[section];
    const int t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
    v[t] = x[i];
    v[t + blockDim.x] = x[i + blockDim.x];
    for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        const unsigned index = (t + 1) * 2 * stride - 1;
        if (index < section) v[index] += v[index - stride];
    }
    for (int stride = section / 4; stride > 0; stride /= 2) {
        __syncthreads();
        const int index = (t + 1) * stride * 2 - 1;
        if (index + stride < section) v[index + stride] += v[index];
    }
    __syncthreads();
    y[i] = v[t];
    y[i + blockDim.x] = v[t + blockDim.x];
}

// Four neighbours a thread, then the last of each four.
__global__ void scan_coarsened(const float* x, float* y) {
    __shared__ float v[section], last[section / 4];
    const int t = threadIdx.x, first = blockIdx.x * section;
    for (int k = t; k < section; k += section / 4) v[k] = x[first + k];
    __syncthreads();
    for (int k = 1; k < 4; ++k) v[4 * t + k] += v[4 * t + k - 1];
    last[t] = v[4 * t + 3];
    for (int stride = 1; stride < section / 4; stride *= 2) {
        __syncthreads();
        float sum = last[t];
        if (t >= stride) sum += last[t - stride];
        __syncthreads();
        last[t] = sum;
    }
    __syncthreads();
    if (t > 0)
        for (int k = 0; k < 4; ++k) v[4 * t + k] += last[t - 1];
    __syncthreads();
    for (int k = t; k < section; k += section / 4) y[first + k] = v[k];
}

void prefix() {
    const int n = 1 << 22;
    const auto in = filled<float>(n, random_float);
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = i / section * section; k <= i; ++k) sum += in[k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22 by 1024", out, n, check, launch); };
    show("prefix: Kogge-Stone", [&] { kogge_stone<<<n / section, section>>>(din, out); });
    show("prefix: two buffers", [&] { kogge_stone_two<<<n / section, section>>>(din, out); });
    show("prefix: Brent-Kung", [&] { brent_kung<<<n / section, section / 2>>>(din, out); });
    show("prefix: coarsened", [&] { scan_coarsened<<<n / section, section / 4>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- 2^22 numbers in 4096 bins, none of which counts further than 127; those in the middle are frequent

constexpr int bin_count = 4096;
constexpr unsigned full = 127;

__global__ void histogram_global(const unsigned* in, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1);
}

__global__ void histogram_shared(const unsigned* in, unsigned* bins, int n) {
    __shared__ unsigned own[bin_count];
    for (int k = threadIdx.x; k < bin_count; k += blockDim.x) own[k] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < bin_count; k += blockDim.x) atomicAdd(&bins[k], own[k]);
}

// Few blocks, and a bin that is full is left alone.
__global__ void histogram_early(const unsigned* in, unsigned* bins, int n) {
    __shared__ unsigned own[bin_count];
    for (int k = threadIdx.x; k < bin_count; k += blockDim.x) own[k] = 0;
    __syncthreads();
    FOR_GRID(i, n) {
        const unsigned bin = in[i];
        if (own[bin] < full) atomicAdd(&own[bin], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < bin_count; k += blockDim.x)
        if (own[k] > 0) atomicAdd(&bins[k], own[k]);
}

__global__ void clamp(unsigned* bins) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bin_count && bins[i] > full) bins[i] = full;
}

void saturate() {
    const int n = 1 << 22;
    const auto in = filled<unsigned>(n, [](unsigned i) {
        unsigned sum = 0;
        for (unsigned k = 0; k < 4; ++k) sum += hash(4 * i + k) % 1024;
        return sum;
    });
    std::vector<unsigned> count(bin_count);
    for (unsigned v : in) ++count[v];
    unsigned *din = to_device(in), *bins = empty_array<unsigned>(bin_count);
    const auto check = [&](std::size_t i) { return std::min(count[i], full); };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^22 in 4096", bins, bin_count, check, [&] {
            zero<<<bin_count / 256, 256>>>(bins, bin_count);
            launch();
            clamp<<<bin_count / 256, 256>>>(bins);
        });
    };
    show("saturate: global", [&] { histogram_global<<<n / 256, 256>>>(din, bins, n); });
    show("saturate: shared", [&] { histogram_shared<<<n / 1024, 1024>>>(din, bins, n); });
    show("saturate: early", [&] { histogram_early<<<264, 512>>>(din, bins, n); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(bins));
}

// --- 2^19 keys with values put into an empty table, then as many queries, of which every other finds nothing

using Pair = unsigned long long;  // the key above, the value below; 0 where nothing is

constexpr int keys = 1 << 19, slots = 1 << 20, prime = 1000003;

__global__ void insert_arrays(const unsigned* key, const unsigned* value, unsigned* table_keys,
                              unsigned* table_values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int slot = key[i] % prime;
    while (atomicCAS(&table_keys[slot], 0u, key[i]) != 0) slot = (slot + 1) % prime;
    table_values[slot] = value[i];
}

__global__ void query_arrays(const unsigned* query, const unsigned* table_keys, const unsigned* table_values,
                             unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int slot = query[i] % prime;
    out[i] = 0;
    while (table_keys[slot] != 0) {
        if (table_keys[slot] == query[i]) {
            out[i] = table_values[slot];
            break;
        }
        slot = (slot + 1) % prime;
    }
}

__device__ inline unsigned home(unsigned key) { return key * 2654435769u >> 12; }

__device__ inline Pair pair_of(unsigned key, unsigned value) { return static_cast<Pair>(key) << 32 | value; }

__global__ void insert_pairs(const unsigned* key, const unsigned* value, Pair* table) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Pair pair = pair_of(key[i], value[i]);
    unsigned slot = home(key[i]);
    while (atomicCAS(&table[slot], 0ull, pair) != 0) slot = (slot + 1) & (slots - 1);
}

__global__ void query_pairs(const unsigned* query, const Pair* table, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned key = query[i];
    unsigned found = 0;
    for (unsigned slot = home(key);; slot = (slot + 1) & (slots - 1)) {
        const Pair pair = table[slot];
        if (pair == 0) break;
        if (pair >> 32 != key) continue;
        found = static_cast<unsigned>(pair);
        break;
    }
    out[i] = found;
}

// Eight threads look at eight slots in a row, which 64 bytes hold.
__global__ void insert_tiles(const unsigned* key, const unsigned* value, Pair* table) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = tile.thread_rank();
    const Pair pair = pair_of(key[i], value[i]);
    for (unsigned window = home(key[i]) & ~7u;; window = (window + 8) & (slots - 1)) {
        Pair* own = &table[window + lane];
        unsigned free = tile.ballot(*own == 0);
        while (free != 0) {
            const int chosen = __ffs(free) - 1;
            bool done = false;
            if (lane == chosen) done = atomicCAS(own, 0ull, pair) == 0;
            if (tile.any(done)) return;
            free &= free - 1;
        }
    }
}

__global__ void query_tiles(const unsigned* query, const Pair* table, unsigned* out) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = tile.thread_rank();
    const unsigned key = query[i];
    for (unsigned window = home(key) & ~7u;; window = (window + 8) & (slots - 1)) {
        const Pair pair = table[window + lane];
        const unsigned hit = tile.ballot(pair >> 32 == key), free = tile.ballot(pair == 0);
        if (hit != 0) {
            if (lane == __ffs(hit) - 1) out[i] = static_cast<unsigned>(pair);
            return;
        }
        if (free != 0) {
            if (lane == 0) out[i] = 0;
            return;
        }
    }
}

void table() {
    const auto key = filled<unsigned>(keys, [](unsigned i) { return hash(i + 1); });
    const auto value = filled<unsigned>(keys, [](unsigned i) { return i % 1000 + 1; });
    const auto query = filled<unsigned>(keys, [](unsigned i) { return hash(i + 1 + i % 2 * keys); });
    unsigned *dk = to_device(key), *dv = to_device(value), *dq = to_device(query);
    unsigned *words = empty_array<unsigned>(2 * slots), *out = empty_array<unsigned>(keys);
    Pair* pairs = reinterpret_cast<Pair*>(words);
    const auto check = [&](std::size_t i) { return i % 2 > 0 ? 0 : value[i]; };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^19 keys", out, keys, check, [&] {
            zero<<<2 * slots / 256, 256>>>(words, 2 * slots);
            launch();
        });
    };
    show("table: two arrays", [&] {
        insert_arrays<<<keys / 256, 256>>>(dk, dv, words, words + slots);
        query_arrays<<<keys / 256, 256>>>(dq, words, words + slots, out);
    });
    show("table: pairs", [&] {
        insert_pairs<<<keys / 256, 256>>>(dk, dv, pairs);
        query_pairs<<<keys / 256, 256>>>(dq, pairs, out);
    });
    show("table: tiles", [&] {
        insert_tiles<<<keys / 32, 256>>>(dk, dv, pairs);
        query_tiles<<<keys / 32, 256>>>(dq, pairs, out);
    });
    for (unsigned* each : {dk, dv, dq, words, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    prefix();
    saturate();
    table();
    return wrong;
}
