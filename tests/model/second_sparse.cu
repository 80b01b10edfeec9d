// Second held-out set: families of kernels whose work or addresses depend on data.
#include "families.cuh"

namespace {

// --- sums of segments of very different lengths

__global__ void segments_thread(const float* x, const int* offsets, float* out) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) sum += x[i];
    out[s] = sum;
}

__global__ void segments_warp(const float* x, const int* offsets, float* out) {
    const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = offsets[s] + lane; i < offsets[s + 1]; i += 32) sum += x[i];
    sum = warp_sum(sum);
    if (lane == 0) out[s] = sum;
}

__global__ void segments_block(const float* x, const int* offsets, float* out) {
    float sum = 0;
    for (int i = offsets[blockIdx.x] + threadIdx.x; i < offsets[blockIdx.x + 1]; i += 256) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

void segments() {
    const int n = 1 << 18;
    std::vector<int> offsets(n + 1);
    for (int s = 0; s < n; ++s) offsets[s + 1] = offsets[s] + 4 + static_cast<int>(hash(s) % (s % 64 == 0 ? 2048 : 64));
    const auto x = filled<float>(offsets[n], random_float);
    float *dx = to_device(x), *out = empty_array<float>(n);
    int* doffsets = to_device(offsets);
    const auto check = [&](std::size_t s) {
        double sum = 0;
        for (int i = offsets[s]; i < offsets[s + 1]; ++i) sum += x[i];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^18", out, n, check, launch); };
    show("segments: thread", [&] { segments_thread<<<n / 256, 256>>>(dx, doffsets, out); });
    show("segments: warp", [&] { segments_warp<<<n / 8, 256>>>(dx, doffsets, out); });
    show("segments: block", [&] { segments_block<<<n, 256>>>(dx, doffsets, out); });
    for (void* each : {(void*)dx, (void*)doffsets, (void*)out}) CHECK(cudaFree(each));
}

// --- what passes a filter goes to the next free places, in any order

__device__ inline bool passes(unsigned value) { return value % 3 == 0; }

__global__ void compact_each(const unsigned* in, unsigned* out, unsigned* count) {
    const unsigned value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (passes(value)) out[atomicAdd(count, 1)] = value;
}

__global__ void compact_warp(const unsigned* in, unsigned* out, unsigned* count) {
    const unsigned value = in[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x % 32;
    const unsigned ballot = __ballot_sync(~0u, passes(value));
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(count, __popc(ballot));
    first = __shfl_sync(~0u, first, 0);
    if (passes(value)) out[first + __popc(ballot & ((1u << lane) - 1))] = value;
}

// A block gathers what passes of 2048 elements in shared memory first.
__global__ void compact_block(const unsigned* in, unsigned* out, unsigned* count) {
    __shared__ unsigned gathered[2048], size, first;
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
        const unsigned value = in[blockIdx.x * 2048 + k * 256 + threadIdx.x];
        if (passes(value)) gathered[atomicAdd(&size, 1)] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, size);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < size; k += 256) out[first + k] = gathered[k];
}

void compact() {
    const int n = 1 << 24;
    const auto in = filled<unsigned>(n, hash);
    std::vector<unsigned> passing;
    for (unsigned value : in)
        if (value % 3 == 0) passing.push_back(value);
    std::sort(passing.begin(), passing.end());
    const std::size_t kept = passing.size();
    unsigned *din = to_device(in), *count = empty_array<unsigned>(1), *out = empty_array<unsigned>(kept * launches);
    const auto show = [&](const char* what, auto launch) {
        if (std::strstr(what, selected) == nullptr) return;
        measure(
            what, "2^24", count, 1, [&](std::size_t) { return kept * launches; }, launch);
        std::vector<unsigned> host(kept);  // of the first launch
        CHECK(cudaMemcpy(host.data(), out, kept * sizeof(unsigned), cudaMemcpyDeviceToHost));
        std::sort(host.begin(), host.end());
        if (host == passing) return;
        std::printf("%s: other elements than those that pass\n", what);
        wrong = true;
    };
    show("compact: each", [&] { compact_each<<<n / 256, 256>>>(din, out, count); });
    show("compact: warp", [&] { compact_warp<<<n / 256, 256>>>(din, out, count); });
    show("compact: block", [&] { compact_block<<<n / 2048, 256>>>(din, out, count); });
    for (unsigned* each : {din, count, out}) CHECK(cudaFree(each));
}

// --- sparse matrix times vector, of coordinates and of columns

__global__ void coo_each(const int* row, const int* column, const float* v, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[row[i]], v[i] * x[column[i]]);
}

// Lanes of one row add first.
__global__ void coo_rows(const int* row, const int* column, const float* v, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, own = row[i];
    float sum = v[i] * x[column[i]];
    for (int d = 1; d < 32; d *= 2) {
        const float before = __shfl_up_sync(~0u, sum, d);
        const int other = __shfl_up_sync(~0u, own, d);
        if (lane >= d && other == own) sum += before;
    }
    const int next = __shfl_down_sync(~0u, own, 1);
    if (lane == 31 || next != own) atomicAdd(&y[own], sum);
}

__global__ void csc_columns(const int* starts, const int* row, const float* v, const float* x, float* y) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = x[j];
    for (int i = starts[j]; i < starts[j + 1]; ++i) atomicAdd(&y[row[i]], v[i] * factor);
}

void coordinates() {
    const int n = 1 << 18, count = n * 16;
    // Sixteen a row; then the same by columns.
    const auto row = filled<int>(count, [](unsigned i) { return i / 16; });
    const auto column = filled<int>(count, [&](unsigned i) { return hash(i) % n; });
    const auto v = filled<float>(count, random_float),
               x = filled<float>(n, [](unsigned i) { return random_float(~i); });
    std::vector<int> starts(n + 1), next, by_column(count);
    for (int c : column) ++starts[c + 1];
    for (int j = 0; j < n; ++j) starts[j + 1] += starts[j];
    next = starts;
    for (int i = 0; i < count; ++i) by_column[next[column[i]]++] = i;
    const auto rows_by_column = filled<int>(count, [&](unsigned i) { return by_column[i] / 16; });
    const auto v_by_column = filled<float>(count, [&](unsigned i) { return v[by_column[i]]; });
    int *drow = to_device(row), *dcolumn = to_device(column), *dstarts = to_device(starts),
        *drows = to_device(rows_by_column);
    float *dv = to_device(v), *dvs = to_device(v_by_column), *dx = to_device(x), *y = empty_array<float>(n);
    const auto check = [&](std::size_t r) {
        double sum = 0;
        for (std::size_t i = r * 16; i < r * 16 + 16; ++i) sum += v[i] * x[column[i]];
        return sum * launches;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^18 rows", y, n, check, launch); };
    show("coordinates: each", [&] { coo_each<<<count / 256, 256>>>(drow, dcolumn, dv, dx, y); });
    show("coordinates: rows", [&] { coo_rows<<<count / 256, 256>>>(drow, dcolumn, dv, dx, y); });
    show("coordinates: columns", [&] { csc_columns<<<n / 256, 256>>>(dstarts, drows, dvs, dx, y); });
    for (int* each : {drow, dcolumn, dstarts, drows}) CHECK(cudaFree(each));
    for (float* each : {dv, dvs, dx, y}) CHECK(cudaFree(each));
}

// --- a step of breadth-first search: marks what is not reached yet beside the frontier

struct Graph {
    const int *starts, *ends;
    const unsigned char* state;  // 0: not reached, 1: frontier, 2: done
};

__global__ void bfs_vertices(Graph g, unsigned* out, unsigned round) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (g.state[v] != 1) return;
    for (int e = g.starts[v]; e < g.starts[v + 1]; ++e)
        if (g.state[g.ends[e]] == 0) atomicMax(&out[g.ends[e]], round);
}

// From a list of the frontier into the next one.
__global__ void bfs_list(Graph g, const int* list, int size, unsigned* out, unsigned round, int* next, int* added) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    for (int e = g.starts[list[i]]; e < g.starts[list[i] + 1]; ++e) {
        const int end = g.ends[e];
        if (g.state[end] == 0 && atomicExch(&out[end], round) != round) next[atomicAdd(added, 1)] = end;
    }
}

__global__ void bfs_warps(Graph g, const int* list, int size, unsigned* out, unsigned round, int* next, int* added) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= size) return;
    for (int e = g.starts[list[i]] + threadIdx.x % 32; e < g.starts[list[i] + 1]; e += 32) {
        const int end = g.ends[e];
        if (g.state[end] == 0 && atomicExch(&out[end], round) != round) next[atomicAdd(added, 1)] = end;
    }
}

// What is not reached looks for a neighbour in the frontier.
__global__ void bfs_upwards(Graph g, unsigned* out, unsigned round) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (g.state[v] != 0) return;
    for (int e = g.starts[v]; e < g.starts[v + 1]; ++e)
        if (g.state[g.ends[e]] == 1) {
            out[v] = round;
            return;
        }
}

void bfs() {
    const int n = 1 << 20;
    // Every edge goes both ways: it changes high bits of a vertex's place, whose low bits say how many edges it has.
    const unsigned factor = 0x9e3b5;
    unsigned inverse = 1;
    for (int k = 0; k < 5; ++k) inverse *= 2 - factor * inverse;
    std::vector<int> starts{0}, ends, list;
    for (unsigned v = 0; v < n; ++v) {
        const unsigned place = v * factor % n, degree = hash(place % 64) % 32 + 1;
        for (unsigned k = 0; k < degree; ++k) ends.push_back((place ^ (hash(k) % n & ~63u)) * inverse % n);
        starts.push_back(static_cast<int>(ends.size()));
    }
    const auto state = filled<unsigned char>(n, [](unsigned v) { return hash(~v) % 8 < 2 ? 1 + hash(~v) / 8 % 2 : 0; });
    for (int v = 0; v < n; ++v)
        if (state[v] == 1) list.push_back(v);
    const int size = static_cast<int>(list.size());
    int *dstarts = to_device(starts), *dends = to_device(ends), *dlist = to_device(list), *next = empty_array<int>(n),
        *added = empty_array<int>(launches);
    unsigned char* dstate = to_device(state);
    unsigned *out = empty_array<unsigned>(n), round = 0;
    const Graph g{dstarts, dends, dstate};
    const auto check = [&](std::size_t v) {
        bool reached = false;
        for (int e = starts[v]; e < starts[v + 1]; ++e) reached = reached || state[ends[e]] == 1;
        return reached && state[v] == 0 ? launches : 0;
    };
    const auto show = [&](const char* what, auto launch) {
        round = 0;
        CHECK(cudaMemset(added, 0, launches * sizeof(int)));
        measure(what, "2^20", out, n, check, launch);
    };
    show("bfs: vertices", [&] { bfs_vertices<<<n / 256, 256>>>(g, out, ++round); });
    show("bfs: list", [&] {
        bfs_list<<<(size + 127) / 128, 128>>>(g, dlist, size, out, round + 1, next, added + round);
        ++round;
    });
    show("bfs: warps", [&] {
        bfs_warps<<<(size + 7) / 8, 256>>>(g, dlist, size, out, round + 1, next, added + round);
        ++round;
    });
    show("bfs: upwards", [&] { bfs_upwards<<<n / 256, 256>>>(g, out, ++round); });
    for (void* each :
         {(void*)dstarts, (void*)dends, (void*)dlist, (void*)next, (void*)added, (void*)dstate, (void*)out})
        CHECK(cudaFree(each));
}

// --- values of keys in a table with open addresses, half full; half of the keys are not there

constexpr unsigned slots = 1 << 21, none = ~0u;

__global__ void lookup_arrays(const unsigned* keys, const unsigned* values, const unsigned* wanted, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned key = wanted[i];
    unsigned at = key * 2654435769u >> 11;
    while (keys[at] != key && keys[at] != none) at = (at + 1) % slots;
    out[i] = keys[at] == key ? values[at] : 0;
}

__global__ void lookup_pairs(const uint2* table, const unsigned* wanted, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned key = wanted[i];
    unsigned at = key * 2654435769u >> 11;
    uint2 pair = table[at];
    while (pair.x != key && pair.x != none) pair = table[at = (at + 1) % slots];
    out[i] = pair.x == key ? pair.y : 0;
}

// Four lanes look at four slots at once.
__global__ void lookup_lanes(const uint2* table, const unsigned* wanted, unsigned* out) {
    const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 4, lane = threadIdx.x % 4, key = wanted[i];
    const unsigned mine = 15u << (threadIdx.x % 32 / 4 * 4);
    for (unsigned at = key * 2654435769u >> 11;; at += 4) {
        const uint2 pair = table[(at + lane) % slots];
        const unsigned hit = __ballot_sync(mine, pair.x == key), end = __ballot_sync(mine, pair.x == none);
        if (pair.x == key) out[i] = pair.y;
        if (hit != 0) return;
        if (end == 0) continue;
        if (lane == 0) out[i] = 0;
        return;
    }
}

void lookup() {
    const int n = 1 << 22;
    const auto key = [](unsigned i) { return hash(i) & ~(1u << 31); };
    std::vector<uint2> table(slots, uint2{none, 0});
    for (unsigned i = 0; i < slots / 2; ++i) {
        unsigned at = key(i) * 2654435769u >> 11;
        while (table[at].x != none && table[at].x != key(i)) at = (at + 1) % slots;
        table[at] = {key(i), hash(key(i))};
    }
    // Other keys have the highest bit.
    const auto wanted = filled<unsigned>(n, [&](unsigned i) { return key(hash(i) % (slots / 2)) | (i * 7 & 8) << 28; });
    const auto keys = filled<unsigned>(slots, [&](unsigned i) { return table[i].x; });
    const auto values = filled<unsigned>(slots, [&](unsigned i) { return table[i].y; });
    unsigned *dkeys = to_device(keys), *dvalues = to_device(values), *dwanted = to_device(wanted),
             *out = empty_array<unsigned>(n);
    uint2* dtable = to_device(table);
    const auto check = [&](std::size_t i) { return wanted[i] >> 31 ? 0 : hash(wanted[i]); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^22 in 2^20", out, n, check, launch); };
    show("lookup: arrays", [&] { lookup_arrays<<<n / 256, 256>>>(dkeys, dvalues, dwanted, out); });
    show("lookup: pairs", [&] { lookup_pairs<<<n / 256, 256>>>(dtable, dwanted, out); });
    show("lookup: lanes", [&] { lookup_lanes<<<n / 64, 256>>>(dtable, dwanted, out); });
    for (void* each : {(void*)dkeys, (void*)dvalues, (void*)dwanted, (void*)out, (void*)dtable}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    segments();
    compact();
    coordinates();
    bfs();
    lookup();
    return wrong;
}
