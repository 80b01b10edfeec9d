// Sixth held-out set: scans and what is made of them, and small sorts.
#include "families.cuh"

namespace {

// --- inclusive sums of sections of 1024, each for itself

constexpr int section = 1024;

__global__ void section_kogge(const float* in, float* out) {
    __shared__ float sums[section];
    const int i = blockIdx.x * section + threadIdx.x;
    sums[threadIdx.x] = in[i];
    for (int d = 1; d < section; d *= 2) {
        __syncthreads();
        float sum = sums[threadIdx.x];
        if (threadIdx.x >= d) sum += sums[threadIdx.x - d];
        __syncthreads();
        sums[threadIdx.x] = sum;
    }
    out[i] = sums[threadIdx.x];
}

// Two buffers, so one barrier a step.
__global__ void section_double(const float* in, float* out) {
    __shared__ float sums[2][section];
    const int i = blockIdx.x * section + threadIdx.x;
    int now = 0;
    sums[0][threadIdx.x] = in[i];
    for (int d = 1; d < section; d *= 2) {
        __syncthreads();
        float sum = sums[now][threadIdx.x];
        if (threadIdx.x >= d) sum += sums[now][threadIdx.x - d];
        now = 1 - now;
        sums[now][threadIdx.x] = sum;
    }
    out[i] = sums[now][threadIdx.x];
}

// Brent and Kung: a tree up and down, half as many threads.
__global__ void section_brent(const float* in, float* out) {
    __shared__ float sums[section];
    const int begin = blockIdx.x * section, half = section / 2;
    sums[threadIdx.x] = in[begin + threadIdx.x];
    sums[threadIdx.x + half] = in[begin + threadIdx.x + half];
    for (unsigned d = 1; d <= half; d *= 2) {
        __syncthreads();
        const unsigned at = (threadIdx.x + 1) * 2 * d - 1;
        if (at < section) sums[at] += sums[at - d];
    }
    for (unsigned d = section / 4; d > 0; d /= 2) {
        __syncthreads();
        const unsigned at = (threadIdx.x + 1) * 2 * d - 1;
        if (at + d < section) sums[at + d] += sums[at];
    }
    __syncthreads();
    out[begin + threadIdx.x] = sums[threadIdx.x];
    out[begin + threadIdx.x + half] = sums[threadIdx.x + half];
}

// Eight numbers a thread one after the other, then the threads' sums.
__global__ void section_coarse(const float* in, float* out) {
    constexpr int each = 8, threads = section / each;
    __shared__ float values[section], ends[threads];
    const int begin = blockIdx.x * section;
    for (int k = threadIdx.x; k < section; k += threads) values[k] = in[begin + k];
    __syncthreads();
    float* const mine = values + threadIdx.x * each;
    for (int k = 1; k < each; ++k) mine[k] += mine[k - 1];
    ends[threadIdx.x] = mine[each - 1];
    for (int d = 1; d < threads; d *= 2) {
        __syncthreads();
        const float other = threadIdx.x >= d ? ends[threadIdx.x - d] : 0;
        __syncthreads();
        ends[threadIdx.x] += other;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        for (int k = 0; k < each; ++k) mine[k] += ends[threadIdx.x - 1];
    __syncthreads();
    for (int k = threadIdx.x; k < section; k += threads) out[begin + k] = values[k];
}

void sections() {
    const int n = 1 << 22, blocks = n / section;
    const auto in = filled<float>(n, random_float);
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = i / section * section; k <= i; ++k) sum += in[k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22", out, n, check, launch); };
    show("sections: kogge", [&] { section_kogge<<<blocks, section>>>(din, out); });
    show("sections: double", [&] { section_double<<<blocks, section>>>(din, out); });
    show("sections: brent", [&] { section_brent<<<blocks, section / 2>>>(din, out); });
    show("sections: coarse", [&] { section_coarse<<<blocks, section / 8>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

// --- the places of all of 2^20 numbers that are like the next one, in order

constexpr int width = 1024;  // of a block

__device__ bool repeated(const int* in, int i, int n) { return i + 1 < n && in[i] == in[i + 1]; }

__global__ void repeat_flags(const int* in, int* flags, int* sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] = flags[i] = repeated(in, i, n);
}

__global__ void repeat_up(int* sums, int n, int d) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * d;
    if (i < n) sums[i + 2 * d - 1] += sums[i + d - 1];
}

__global__ void repeat_clear(int* sums, int n) { sums[n - 1] = 0; }

__global__ void repeat_down(int* sums, int n, int d) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * d;
    if (i >= n) return;
    const int left = sums[i + d - 1];
    sums[i + d - 1] = sums[i + 2 * d - 1];
    sums[i + 2 * d - 1] += left;
}

__global__ void repeat_scatter(const int* flags, const int* sums, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i]) out[sums[i]] = i;
}

// Inclusive sums over a block.
__device__ int block_scan(int value, int* shared) {
    shared[threadIdx.x] = value;
    for (int d = 1; d < width; d *= 2) {
        __syncthreads();
        const int other = threadIdx.x >= d ? shared[threadIdx.x - d] : 0;
        __syncthreads();
        shared[threadIdx.x] += other;
    }
    return shared[threadIdx.x];
}

__global__ void repeat_blocks(const int* in, int* places, int* totals, int n) {
    __shared__ int shared[width];
    const int i = blockIdx.x * width + threadIdx.x;
    const int sum = block_scan(repeated(in, i, n), shared);
    places[i] = sum;
    if (threadIdx.x == width - 1) totals[blockIdx.x] = sum;
}

// By one block: where each block begins.
__global__ void repeat_totals(int* totals) {
    __shared__ int shared[width];
    const int total = totals[threadIdx.x];
    totals[threadIdx.x] = block_scan(total, shared) - total;
}

__global__ void repeat_place(const int* in, const int* places, const int* totals, int* out, int n) {
    const int i = blockIdx.x * width + threadIdx.x;
    if (repeated(in, i, n)) out[totals[blockIdx.x] + places[i] - 1] = i;
}

__global__ void repeat_count(const int* in, int* totals, int n) {
    const int count = __syncthreads_count(repeated(in, blockIdx.x * width + threadIdx.x, n));
    if (threadIdx.x == 0) totals[blockIdx.x] = count;
}

// Looks again; a warp's ballot has what its lanes need.
__global__ void repeat_ballot(const int* in, const int* totals, int* out, int n) {
    __shared__ int begins[32];
    const int i = blockIdx.x * width + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool mine = repeated(in, i, n);
    const unsigned all = __ballot_sync(~0u, mine);
    if (lane == 0) begins[warp] = __popc(all);
    __syncthreads();
    if (warp == 0) {
        const int count = begins[lane];
        int sum = count;
        for (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += other;
        }
        begins[lane] = sum - count;
    }
    __syncthreads();
    if (mine) out[totals[blockIdx.x] + begins[warp] + __popc(all & ((1u << lane) - 1))] = i;
}

void repeats() {
    const int n = 1 << 20, blocks = n / width;
    const auto in = filled<int>(n, [](unsigned i) { return hash(i) % 4; });
    std::vector<int> found;
    for (int i = 0; i + 1 < n; ++i)
        if (in[i] == in[i + 1]) found.push_back(i);
    int *din = to_device(in), *flags = empty_array<int>(n), *sums = empty_array<int>(n);
    int *totals = empty_array<int>(blocks), *out = empty_array<int>(found.size());
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^20", out, found.size(), [&](std::size_t i) { return found[i]; }, launch);
    };
    show("repeats: sweeps", [&] {
        const auto grid = [&](int d) { return std::max(n / (2 * d) / 256, 1); };
        repeat_flags<<<n / 256, 256>>>(din, flags, sums, n);
        for (int d = 1; d < n / 2; d *= 2) repeat_up<<<grid(d), 256>>>(sums, n, d);
        repeat_clear<<<1, 1>>>(sums, n);
        for (int d = n / 2; d > 0; d /= 2) repeat_down<<<grid(d), std::min(n / (2 * d), 256)>>>(sums, n, d);
        repeat_scatter<<<n / 256, 256>>>(flags, sums, out, n);
    });
    show("repeats: blocks", [&] {
        repeat_blocks<<<blocks, width>>>(din, sums, totals, n);
        repeat_totals<<<1, width>>>(totals);
        repeat_place<<<blocks, width>>>(din, sums, totals, out, n);
    });
    show("repeats: ballots", [&] {
        repeat_count<<<blocks, width>>>(din, totals, n);
        repeat_totals<<<1, width>>>(totals);
        repeat_ballot<<<blocks, width>>>(din, totals, out, n);
    });
    for (int* each : {din, flags, sums, totals, out}) CHECK(cudaFree(each));
}

// --- what run lengths stand for: 2^17 runs of 1 to 63 like numbers; begins has where each of them starts

__global__ void run_thread(const int* begins, const int* values, int runs, int* out) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= runs) return;
    for (int i = begins[r]; i < begins[r + 1]; ++i) out[i] = values[r];
}

__global__ void run_warp(const int* begins, const int* values, int runs, int* out) {
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= runs) return;
    const int value = values[r], end = begins[r + 1];
    for (int i = begins[r] + threadIdx.x % 32; i < end; i += 32) out[i] = value;
}

// The last run that begins at i or before.
__device__ int run_of(const int* begins, int runs, int i) {
    int low = 0, high = runs;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (begins[middle] <= i ? low : high) = middle;
    }
    return low;
}

__global__ void run_search(const int* begins, const int* values, int runs, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = values[run_of(begins, runs, i)];
}

// 1024 numbers a block of 256: one search, marks where runs begin, and the last mark before each.
__global__ void run_block(const int* begins, const int* values, int runs, int* out, int n) {
    __shared__ int marks[1024], tops[8], before;
    const int begin = blockIdx.x * 1024, end = min(begin + 1024, n), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) before = run_of(begins, runs, begin);
    for (int k = threadIdx.x; k < 1024; k += 256) marks[k] = 0;
    __syncthreads();
    for (int r = before + threadIdx.x; r < runs && begins[r] < end; r += 256) marks[max(begins[r] - begin, 0)] = r;
    __syncthreads();
    int last[4], top = 0;
    for (int k = 0; k < 4; ++k) last[k] = top = max(top, marks[threadIdx.x * 4 + k]);
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, top, d);
        if (lane >= d) top = max(top, other);
    }
    if (lane == 31) tops[warp] = top;
    int left = __shfl_up_sync(~0u, top, 1);
    if (lane == 0) left = 0;
    __syncthreads();
    for (int w = 0; w < warp; ++w) left = max(left, tops[w]);
    for (int k = 0; k < 4; ++k) marks[threadIdx.x * 4 + k] = max(left, last[k]);
    __syncthreads();
    for (int i = begin + threadIdx.x; i < end; i += 256) out[i] = values[marks[i - begin]];
}

void runs() {
    const int count = 1 << 17;
    std::vector<int> begins{0}, all;
    const auto values = filled<int>(count, [](unsigned r) { return hash(~r) % 1000; });
    for (int r = 0; r < count; ++r) {
        all.insert(all.end(), hash(r) % 63 + 1, values[r]);
        begins.push_back(static_cast<int>(all.size()));
    }
    const int n = begins.back();
    int *db = to_device(begins), *dv = to_device(values), *out = empty_array<int>(n);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^17 runs", out, n, [&](std::size_t i) { return all[i]; }, launch);
    };
    show("runs: thread", [&] { run_thread<<<count / 256, 256>>>(db, dv, count, out); });
    show("runs: warp", [&] { run_warp<<<count / 8, 256>>>(db, dv, count, out); });
    show("runs: search", [&] { run_search<<<(n + 255) / 256, 256>>>(db, dv, count, out, n); });
    show("runs: block", [&] { run_block<<<(n + 1023) / 1024, 256>>>(db, dv, count, out, n); });
    for (int* each : {db, dv, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    sections();
    repeats();
    runs();
    return wrong;
}
