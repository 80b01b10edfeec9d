// Eighth held-out set: running sums of segments, the largest of a list, and sums of two.
#include "families.cuh"

namespace {

// --- running sums of 2^22 whole numbers that begin anew at some 16384 places

constexpr int piece = 512;  // elements a block

struct Part {
    int begins, sum;  // whether a segment begins in it, and what is summed since the last one that does
};

__device__ inline Part joined(Part a, Part b) { return {a.begins | b.begins, b.begins ? b.sum : a.sum + b.sum}; }

__global__ void segments_thread(const int* in, const int* starts, int* out, int segments) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    int sum = 0;
    for (int i = starts[s]; i < starts[s + 1]; ++i) out[i] = sum += in[i];
}

// Sums within a block; `firsts` is where a segment begins first in each.
__global__ void segments_steps(const int* in, const unsigned char* begins, int* out, Part* parts, int* firsts) {
    __shared__ Part v[piece];
    __shared__ int first;
    const int t = threadIdx.x, i = blockIdx.x * piece + t;
    if (t == 0) first = piece;
    __syncthreads();
    v[t] = {begins[i], in[i]};
    if (begins[i]) atomicMin(&first, t);
    for (int d = 1; d < piece; d *= 2) {
        __syncthreads();
        Part mine = v[t];
        if (t >= d) mine = joined(v[t - d], mine);
        __syncthreads();
        v[t] = mine;
    }
    out[i] = v[t].sum;
    if (t == piece - 1) parts[blockIdx.x] = v[t], firsts[blockIdx.x] = first;
}

__device__ inline Part joined_warp(Part mine) {
    for (int d = 1; d < 32; d *= 2) {
        const Part other = {__shfl_up_sync(~0u, mine.begins, d), __shfl_up_sync(~0u, mine.sum, d)};
        if (threadIdx.x % 32 >= d) mine = joined(other, mine);
    }
    return mine;
}

// What is before the thread's warp in a block of `warps` warps.
template <int warps>
__device__ Part before_warp(Part last) {
    __shared__ Part lasts[warps];
    if (threadIdx.x % 32 == 31) lasts[threadIdx.x / 32] = last;
    __syncthreads();
    Part before = {0, 0};
    for (int w = 0; w < threadIdx.x / 32; ++w) before = joined(before, lasts[w]);
    return before;
}

__global__ void segments_warps(const int* in, const unsigned char* begins, int* out, Part* parts, int* firsts) {
    __shared__ int first;
    const int t = threadIdx.x, i = blockIdx.x * piece + t;
    if (t == 0) first = piece;
    __syncthreads();
    const bool begin = begins[i];
    const unsigned ballot = __ballot_sync(~0u, begin);
    if (t % 32 == 0 && ballot) atomicMin(&first, t + __ffs(ballot) - 1);
    const Part warp = joined_warp({begin, in[i]});
    const Part mine = joined(before_warp<piece / 32>(warp), warp);
    out[i] = mine.sum;
    if (t == piece - 1) parts[blockIdx.x] = mine, firsts[blockIdx.x] = first;
}

// Four elements a thread.
__global__ void segments_four(const int4* in, const uchar4* begins, int4* out, Part* parts, int* firsts) {
    __shared__ int first;
    const int t = threadIdx.x, i = blockIdx.x * (piece / 4) + t;
    if (t == 0) first = piece;
    __syncthreads();
    const uchar4 b = begins[i];
    const int4 x = in[i];
    const Part p0 = {b.x, x.x}, p1 = joined(p0, {b.y, x.y}), p2 = joined(p1, {b.z, x.z}), p3 = joined(p2, {b.w, x.w});
    if (p3.begins) atomicMin(&first, 4 * t + (b.x ? 0 : b.y ? 1 : b.z ? 2 : 3));
    const Part warp = joined_warp(p3);
    Part before = {__shfl_up_sync(~0u, warp.begins, 1), __shfl_up_sync(~0u, warp.sum, 1)};
    if (t % 32 == 0) before = {0, 0};
    before = joined(before_warp<piece / 128>(warp), before);
    const Part last = joined(before, p3);
    out[i] = make_int4(joined(before, p0).sum, joined(before, p1).sum, joined(before, p2).sum, last.sum);
    if (t == piece / 4 - 1) parts[blockIdx.x] = last, firsts[blockIdx.x] = first;
}

// What comes into each block, by one block of 1024.
__global__ void segments_carry(const Part* parts, int* carries, int count) {
    const int each = count / 1024, from = threadIdx.x * each;
    Part mine = {0, 0};
    for (int k = 0; k < each; ++k) mine = joined(mine, parts[from + k]);
    const Part warp = joined_warp(mine);
    Part before = {__shfl_up_sync(~0u, warp.begins, 1), __shfl_up_sync(~0u, warp.sum, 1)};
    if (threadIdx.x % 32 == 0) before = {0, 0};
    before = joined(before_warp<32>(warp), before);
    for (int k = 0; k < each; ++k) {
        carries[from + k] = before.sum;
        before = joined(before, parts[from + k]);
    }
}

__global__ void segments_add(const int* carries, const int* firsts, int* out) {
    if (threadIdx.x < firsts[blockIdx.x]) out[blockIdx.x * piece + threadIdx.x] += carries[blockIdx.x];
}

void segmented() {
    const int n = 1 << 22, blocks = n / piece;
    const auto in = filled<int>(n, [](unsigned i) { return hash(i) % 10; });
    const auto begins = filled<unsigned char>(n, [](unsigned i) { return i == 0 || hash(~i) % 256 == 0; });
    std::vector<int> starts, want(n);
    for (int i = 0; i < n; ++i) {
        if (begins[i]) starts.push_back(i);
        want[i] = in[i] + (begins[i] ? 0 : want[i - 1]);
    }
    const int segments = static_cast<int>(starts.size());
    starts.push_back(n);
    int *din = to_device(in), *ds = to_device(starts), *firsts = empty_array<int>(blocks);
    int *carries = empty_array<int>(blocks), *out = empty_array<int>(n);
    unsigned char* db = to_device(begins);
    Part* parts = empty_array<Part>(blocks);
    const auto check = [&](std::size_t i) { return want[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22", out, n, check, launch); };
    const auto finish = [&] {
        segments_carry<<<1, 1024>>>(parts, carries, blocks);
        segments_add<<<blocks, piece>>>(carries, firsts, out);
    };
    show("segmented: thread", [&] { segments_thread<<<segments / 128 + 1, 128>>>(din, ds, out, segments); });
    show("segmented: steps", [&] {
        segments_steps<<<blocks, piece>>>(din, db, out, parts, firsts);
        finish();
    });
    show("segmented: warps", [&] {
        segments_warps<<<blocks, piece>>>(din, db, out, parts, firsts);
        finish();
    });
    show("segmented: four", [&] {
        segments_four<<<blocks, piece / 4>>>(reinterpret_cast<int4*>(din), reinterpret_cast<uchar4*>(db),
                                             reinterpret_cast<int4*>(out), parts, firsts);
        finish();
    });
    for (int* each : {din, ds, firsts, carries, out}) CHECK(cudaFree(each));
    CHECK(cudaFree(db));
    CHECK(cudaFree(parts));
}

// --- where the largest of 2^23 floats is first, none of which is negative

struct Place {
    unsigned long long key;  // the float's bits, then those of the place, each inverted
    operator double() const { return static_cast<unsigned>(~key); }
};

__device__ inline unsigned long long place_key(float value, unsigned i) {
    return static_cast<unsigned long long>(__float_as_uint(value)) << 32 | static_cast<unsigned>(~i);
}

// Values and places of twice as many elements as there are threads; without `places`, all are where they are.
__global__ void largest_tree(const float* values, const int* places, float* out, int* out_places) {
    __shared__ float v[256];
    __shared__ int at[256];
    const int t = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + t, j = i + blockDim.x;
    const bool first = values[i] >= values[j];
    v[t] = first ? values[i] : values[j];
    at[t] = places == nullptr ? (first ? i : j) : places[first ? i : j];
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d && (v[t + d] > v[t] || (v[t + d] == v[t] && at[t + d] < at[t]))) v[t] = v[t + d], at[t] = at[t + d];
    }
    if (t == 0) out[blockIdx.x] = v[0], out_places[blockIdx.x] = at[0];
}

__global__ void largest_clear(unsigned long long* best) { *best = 0; }

__global__ void largest_atomics(const float* in, unsigned long long* best, int n) {
    unsigned long long mine = 0;
    FOR_GRID(i, n) mine = max(mine, place_key(in[i], i));
    atomicMax(best, mine);
}

__global__ void largest_warps(const float4* in, unsigned long long* best, int vectors) {
    __shared__ unsigned long long warps[8];
    float value = 0;
    int place = 0;
    FOR_GRID(i, vectors) {
        const float4 v = in[i];
        const float high = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
        if (high <= value) continue;
        value = high;
        place = 4 * i + (high == v.x ? 0 : high == v.y ? 1 : high == v.z ? 2 : 3);
    }
    unsigned long long mine = place_key(value, place);
    for (int d = 16; d > 0; d /= 2) mine = max(mine, __shfl_down_sync(~0u, mine, d));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < 8; ++w) mine = max(mine, warps[w]);
    atomicMax(best, mine);
}

__global__ void largest_begin(int* value, int* place) { *value = 0, *place = 0x7fffffff; }

// Of floats that are not negative, the bits are in order too.
__global__ void largest_value(const float* in, int* value, int n) {
    float mine = 0;
    FOR_GRID(i, n) mine = fmaxf(mine, in[i]);
    mine = warp_max(mine);
    if (threadIdx.x % 32 == 0) atomicMax(value, __float_as_int(mine));
}

__global__ void largest_find(const float* in, const int* value, int* place, int n) {
    const float wanted = __int_as_float(*value);
    FOR_GRID(i, n) if (in[i] == wanted) atomicMin(place, i);
}

void largest() {
    const int n = 1 << 23;
    const auto in = filled<float>(n, random_float);
    const auto place = std::max_element(in.begin(), in.end()) - in.begin();
    float *din = to_device(in), *first = empty_array<float>(n / 512), *second = empty_array<float>(n / 512);
    int *first_at = empty_array<int>(n / 512), *second_at = empty_array<int>(n / 512), *at = empty_array<int>(2);
    Place* best = empty_array<Place>(1);
    unsigned long long* key = &best->key;
    const auto check = [&](std::size_t) { return place; };
    measure("largest: tree", "2^23", at, 1, check, [&] {
        largest_tree<<<n / 512, 256>>>(din, nullptr, first, first_at);
        largest_tree<<<n / 512 / 512, 256>>>(first, first_at, second, second_at);
        largest_tree<<<1, n / 512 / 512 / 2>>>(second, second_at, first, at);
    });
    measure("largest: atomics", "2^23", best, 1, check, [&] {
        largest_clear<<<1, 1>>>(key);
        largest_atomics<<<1056, 256>>>(din, key, n);
    });
    measure("largest: warps", "2^23", best, 1, check, [&] {
        largest_clear<<<1, 1>>>(key);
        largest_warps<<<1056, 256>>>(reinterpret_cast<float4*>(din), key, n / 4);
    });
    measure("largest: value first", "2^23", at, 1, check, [&] {
        largest_begin<<<1, 1>>>(at + 1, at);
        largest_value<<<1056, 256>>>(din, at + 1, n);
        largest_find<<<1056, 256>>>(din, at + 1, at, n);
    });
    for (float* each : {din, first, second}) CHECK(cudaFree(each));
    for (int* each : {first_at, second_at, at}) CHECK(cudaFree(each));
    CHECK(cudaFree(best));
}

// --- sums of two lists of 2^22 doubles

__global__ void add_element(const double* a, const double* b, double* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

__global__ void add_neighbours(const double* a, const double* b, double* out, int n) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    for (int k = i; k < i + 4; ++k)
        if (k < n) out[k] = a[k] + b[k];
}

// A thread's four are a block apart.
__global__ void add_sections(const double* a, const double* b, double* out, int n) {
    int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; ++k, i += blockDim.x)
        if (i < n) out[i] = a[i] + b[i];
}

void add() {
    const int n = 1 << 22;
    const auto a = filled<double>(n, random_float);
    const auto b = filled<double>(n, [](unsigned i) { return random_float(~i); });
    double *da = to_device(a), *db = to_device(b), *out = empty_array<double>(n);
    const auto check = [&](std::size_t i) { return a[i] + b[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22 doubles", out, n, check, launch); };
    show("add: element", [&] { add_element<<<n / 256, 256>>>(da, db, out, n); });
    show("add: neighbours", [&] { add_neighbours<<<n / 1024, 256>>>(da, db, out, n); });
    show("add: sections", [&] { add_sections<<<n / 1024, 256>>>(da, db, out, n); });
    for (double* each : {da, db, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    segmented();
    largest();
    add();
    return wrong;
}
