// Seventh held-out set: sums, running sums and merges of long lists.
#include "families.cuh"

namespace {

// --- the sum of 2^23 whole numbers by trees in blocks of up to 256, launch after launch until one is left

constexpr int block = 256;

__global__ void sum_divergent(const int* in, int* out) {
    __shared__ int v[block];
    v[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * d) == 0) v[threadIdx.x] += v[threadIdx.x + d];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = v[0];
}

// Threads side by side work, on elements that are far apart.
__global__ void sum_strided(const int* in, int* out) {
    __shared__ int v[block];
    v[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        const unsigned at = 2 * d * threadIdx.x;
        if (at < blockDim.x) v[at] += v[at + d];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = v[0];
}

__global__ void sum_halves(const int* in, int* out) {
    __shared__ int v[block];
    v[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) v[threadIdx.x] += v[threadIdx.x + d];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = v[0];
}

// `each` elements a thread first; the last warp needs no barrier of the block.
template <int each>
__global__ void sum_coarse(const int* in, int* out) {
    __shared__ int v[block];
    int sum = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) sum += in[(blockIdx.x * each + k) * block + threadIdx.x];
    v[threadIdx.x] = sum;
    for (int d = block / 2; d >= 32; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) v[threadIdx.x] += v[threadIdx.x + d];
    }
    if (threadIdx.x >= 32) return;
    sum = v[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

void sum() {
    const int n = 1 << 23;
    const auto in = filled<int>(n, [](unsigned i) { return hash(i) % 100; });
    long total = 0;
    for (const int each : in) total += each;
    int *din = to_device(in), *first = empty_array<int>(n / block), *second = empty_array<int>(n / block);
    int* out = empty_array<int>(1);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^23", out, 1, [&](std::size_t) { return total; }, launch);
    };
    // 32768, 128, 1
    show("sum: divergent", [&] {
        sum_divergent<<<n / 256, 256>>>(din, first);
        sum_divergent<<<n / 65536, 256>>>(first, second);
        sum_divergent<<<1, 128>>>(second, out);
    });
    show("sum: strided", [&] {
        sum_strided<<<n / 256, 256>>>(din, first);
        sum_strided<<<n / 65536, 256>>>(first, second);
        sum_strided<<<1, 128>>>(second, out);
    });
    show("sum: halves", [&] {
        sum_halves<<<n / 256, 256>>>(din, first);
        sum_halves<<<n / 65536, 256>>>(first, second);
        sum_halves<<<1, 128>>>(second, out);
    });
    show("sum: coarse", [&] {
        sum_coarse<8><<<n / 2048, 256>>>(din, first);
        sum_coarse<16><<<1, 256>>>(first, out);
    });
    for (int* each : {din, first, second, out}) CHECK(cudaFree(each));
}

// --- for each of 2^22 whole numbers, the sum of all before it

constexpr int part = 1024;  // elements a block

// The tree of a block in shared memory, up and down; `total` of each part goes to the next launch.
template <bool padded>
__global__ void before_tree(const int* in, int* out, int* totals) {
    __shared__ int v[part + (padded ? part / 32 : 0)];
    const auto place = [](int i) { return padded ? i + i / 32 : i; };
    const int t = threadIdx.x, first = blockIdx.x * part;
    v[place(t)] = in[first + t];
    v[place(t + part / 2)] = in[first + t + part / 2];
    int d = 1;
    for (int active = part / 2; active > 0; active /= 2, d *= 2) {
        __syncthreads();
        if (t < active) v[place(d * (2 * t + 2) - 1)] += v[place(d * (2 * t + 1) - 1)];
    }
    __syncthreads();
    if (t == 0) totals[blockIdx.x] = v[place(part - 1)], v[place(part - 1)] = 0;
    for (int active = 1; active < part; active *= 2) {
        d /= 2;
        __syncthreads();
        if (t < active) {
            const int low = place(d * (2 * t + 1) - 1), high = place(d * (2 * t + 2) - 1), kept = v[low];
            v[low] = v[high];
            v[high] += kept;
        }
    }
    __syncthreads();
    out[first + t] = v[place(t)];
    out[first + t + part / 2] = v[place(t + part / 2)];
}

// What `sum` of all threads before is, in a block of `threads`.
template <int threads>
__device__ int before_block(int sum, int* all = nullptr) {
    __shared__ int warps[threads / 32];
    const int lane = threadIdx.x % 32;
    int upto = sum;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, upto, d);
        if (lane >= d) upto += other;
    }
    if (lane == 31) warps[threadIdx.x / 32] = upto;
    __syncthreads();
    int before = upto - sum, total = 0;
    for (int w = 0; w < threads / 32; ++w) {
        if (w == threadIdx.x / 32) before += total;
        total += warps[w];
    }
    if (all != nullptr) *all = total;
    return before;
}

// Four elements a thread.
__global__ void before_shuffles(const int4* in, int4* out, int* totals) {
    const int at = blockIdx.x * 256 + threadIdx.x;
    const int4 v = in[at];
    int total;
    const int before = before_block<256>(v.x + v.y + v.z + v.w, &total);
    out[at] = make_int4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// 4096 totals become what is before each part: one block.
__global__ void before_totals(int* totals) {
    int4* mine = reinterpret_cast<int4*>(totals) + threadIdx.x;
    const int4 v = *mine;
    const int before = before_block<1024>(v.x + v.y + v.z + v.w);
    *mine = make_int4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
}

__global__ void before_add(int* out, const int* totals) {
    const int first = blockIdx.x * part;
    for (int k = threadIdx.x; k < part; k += 256) out[first + k] += totals[blockIdx.x];
}

// Only sums at first; then all is read again.
__global__ void before_reduce(const int4* in, int* totals) {
    const int4 v = in[blockIdx.x * 256 + threadIdx.x];
    int total;
    before_block<256>(v.x + v.y + v.z + v.w, &total);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

__global__ void before_again(const int4* in, int4* out, const int* totals) {
    const int at = blockIdx.x * 256 + threadIdx.x;
    const int4 v = in[at];
    const int before = before_block<256>(v.x + v.y + v.z + v.w) + totals[blockIdx.x];
    out[at] = make_int4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
}

void before() {
    const int n = 1 << 22, parts = n / part;
    const auto in = filled<int>(n, [](unsigned i) { return hash(i) % 64; });
    std::vector<int> sums(n);
    for (int i = 1; i < n; ++i) sums[i] = sums[i - 1] + in[i - 1];
    int *din = to_device(in), *out = empty_array<int>(n), *totals = empty_array<int>(parts);
    const auto in4 = reinterpret_cast<int4*>(din), out4 = reinterpret_cast<int4*>(out);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^22", out, n, [&](std::size_t i) { return sums[i]; }, launch);
    };
    const auto finish = [&] {
        before_totals<<<1, 1024>>>(totals);
        before_add<<<parts, 256>>>(out, totals);
    };
    show("before: tree", [&] { before_tree<false><<<parts, part / 2>>>(din, out, totals), finish(); });
    show("before: padded tree", [&] { before_tree<true><<<parts, part / 2>>>(din, out, totals), finish(); });
    show("before: shuffles", [&] { before_shuffles<<<parts, 256>>>(in4, out4, totals), finish(); });
    show("before: read again", [&] {
        before_reduce<<<parts, 256>>>(in4, totals);
        before_totals<<<1, 1024>>>(totals);
        before_again<<<parts, 256>>>(in4, out4, totals);
    });
    for (int* each : {din, out, totals}) CHECK(cudaFree(each));
}

// --- a stage of bitonic sort of 2^21 keys: runs of 2^13, every other one turned round, become runs of 2^14

constexpr int merged = 1 << 14;

__device__ void order(unsigned& a, unsigned& b, bool up) {
    const unsigned low = min(a, b), high = max(a, b);
    a = up ? low : high, b = up ? high : low;
}

__global__ void stage_step(const unsigned* in, unsigned* out, int d) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, at = (i & ~(d - 1)) * 2 + (i & (d - 1));
    unsigned a = in[at], b = in[at + d];
    order(a, b, (at & merged) == 0);
    out[at] = a, out[at + d] = b;
}

// All steps within 2048 keys.
__global__ void stage_shared(unsigned* keys) {
    __shared__ unsigned v[2048];
    const int first = blockIdx.x * 2048, t = threadIdx.x;
    v[t] = keys[first + t], v[t + 1024] = keys[first + t + 1024];
    for (int d = 1024; d > 0; d /= 2) {
        __syncthreads();
        const int at = (t & ~(d - 1)) * 2 + (t & (d - 1));
        order(v[at], v[at + d], (first & merged) == 0);
    }
    __syncthreads();
    keys[first + t] = v[t], keys[first + t + 1024] = v[t + 1024];
}

// Three steps in registers: eight keys a thread, `d` apart.
__global__ void stage_eight(const unsigned* in, unsigned* out, int d) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, at = (i & ~(d - 1)) * 8 + (i & (d - 1));
    unsigned v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = in[at + k * d];
#pragma unroll
    for (int e = 4; e > 0; e /= 2)
#pragma unroll
        for (int k = 0; k < 8; ++k)
            if ((k & e) == 0) order(v[k], v[k + e], (at & merged) == 0);
#pragma unroll
    for (int k = 0; k < 8; ++k) out[at + k * d] = v[k];
}

void stage() {
    const int n = 1 << 21;
    auto in = filled<unsigned>(n, [](unsigned i) { return hash(i) >> 8; });
    for (int i = 0; i < n; i += merged) {
        std::sort(in.begin() + i, in.begin() + i + merged / 2);
        std::sort(in.begin() + i + merged / 2, in.begin() + i + merged);
        std::reverse(in.begin() + i + merged / 2, in.begin() + i + merged);
    }
    auto sorted = in;
    for (int i = 0; i < n; i += merged) {
        std::sort(sorted.begin() + i, sorted.begin() + i + merged);
        if (i & merged) std::reverse(sorted.begin() + i, sorted.begin() + i + merged);
    }
    unsigned *din = to_device(in), *out = empty_array<unsigned>(n);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^21, 2^14 a run", out, n, [&](std::size_t i) { return sorted[i]; }, launch);
    };
    const auto steps = [&](int last) {
        for (int d = merged / 2; d >= last; d /= 2) stage_step<<<n / 512, 256>>>(d == merged / 2 ? din : out, out, d);
    };
    show("stage: steps", [&] { steps(1); });
    show("stage: shared", [&] { steps(2048), stage_shared<<<n / 2048, 1024>>>(out); });
    show("stage: eight", [&] {
        stage_eight<<<n / 2048, 256>>>(din, out, 2048);
        stage_shared<<<n / 2048, 1024>>>(out);
    });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    sum();
    before();
    stage();
    return wrong;
}
