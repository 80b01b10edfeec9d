// Third held-out set: families of kernels that go where data say.
#include "families.cuh"

namespace {

// A graph of 2^17 vertices: edge k from vertex v, offsets[v] <= k < offsets[v + 1], goes to ends[k].
constexpr int vertices = 1 << 17;

struct Graph {
    std::vector<int> offsets = std::vector<int>(vertices + 1), ends;

    Graph() {
        for (unsigned v = 0; v < vertices; ++v) {
            const unsigned degree = v % 512 == 9 ? 700 : 1 + hash(v) % 24;
            for (unsigned k = 0; k < degree; ++k) ends.push_back(hash(v * 1024 + k) % vertices);
            offsets[v + 1] = static_cast<int>(ends.size());
        }
    }
};

// --- one step of PageRank: each vertex shares its rank among those that it points to

// Edges backwards: offsets of what points to a vertex.
__global__ void pagerank_pull(const int* offsets, const int* begins, const float* share, float* out) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = offsets[v]; k < offsets[v + 1]; ++k) sum += share[begins[k]];
    out[v] = sum;
}

// Eight lanes a vertex.
__global__ void pagerank_lanes(const int* offsets, const int* begins, const float* share, float* out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, v = t / 8;
    float sum = 0;
    for (int k = offsets[v] + t % 8; k < offsets[v + 1]; k += 8) sum += share[begins[k]];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (t % 8 == 0) out[v] = sum;
}

__global__ void pagerank_push(const int* offsets, const int* ends, const float* share, float* out) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = offsets[v]; k < offsets[v + 1]; ++k) atomicAdd(&out[ends[k]], share[v]);
}

// A warp a vertex.
__global__ void pagerank_push_warp(const int* offsets, const int* ends, const float* share, float* out) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int k = offsets[v] + threadIdx.x % 32; k < offsets[v + 1]; k += 32) atomicAdd(&out[ends[k]], share[v]);
}

void pagerank(const Graph& graph) {
    const int n = vertices;
    const auto share =
        filled<float>(n, [&](unsigned v) { return random_float(v) / (graph.offsets[v + 1] - graph.offsets[v]); });
    std::vector<int> backwards(n + 1), begins(graph.ends.size());
    for (int end : graph.ends) ++backwards[end + 1];
    for (int v = 0; v < n; ++v) backwards[v + 1] += backwards[v];
    std::vector<int> next(backwards);
    std::vector<double> sums(n);
    for (int v = 0; v < n; ++v)
        for (int k = graph.offsets[v]; k < graph.offsets[v + 1]; ++k) {
            begins[next[graph.ends[k]]++] = v;
            sums[graph.ends[k]] += share[v];
        }
    int *doffsets = to_device(graph.offsets), *dends = to_device(graph.ends);
    int *dbackwards = to_device(backwards), *dbegins = to_device(begins);
    float *dshare = to_device(share), *out = empty_array<float>(n);
    const auto show = [&](const char* what, int times, auto launch) {
        measure(
            what, "2^17", out, n, [&](std::size_t i) { return times * sums[i]; }, launch);
    };
    show("pagerank: pull", 1, [&] { pagerank_pull<<<n / 256, 256>>>(dbackwards, dbegins, dshare, out); });
    show("pagerank: lanes", 1, [&] { pagerank_lanes<<<n / 32, 256>>>(dbackwards, dbegins, dshare, out); });
    show("pagerank: push", launches, [&] { pagerank_push<<<n / 256, 256>>>(doffsets, dends, dshare, out); });
    show("pagerank: push by warp", launches, [&] { pagerank_push_warp<<<n / 8, 256>>>(doffsets, dends, dshare, out); });
    for (void* each : {(void*)doffsets, (void*)dends, (void*)dbackwards, (void*)dbegins, (void*)dshare, (void*)out})
        CHECK(cudaFree(each));
}

// --- where random walks of 64 steps end

__host__ __device__ inline unsigned next_random(unsigned& state) {
    return (state = state * 1664525u + 1013904223u) >> 8;
}

__host__ __device__ inline int walk(const int* offsets, const int* ends, unsigned walker) {
    unsigned state = walker * 2654435761u;
    int v = walker % vertices;
    for (int k = 0; k < 64; ++k) {
        const int first = offsets[v];
        v = ends[first + next_random(state) % (offsets[v + 1] - first)];
    }
    return v;
}

__global__ void walks_each(const int* offsets, const int* ends, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = walk(offsets, ends, i);
}

// First edge and degree come as a pair.
__global__ void walks_pairs(const int2* vertex, const int* ends, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = i * 2654435761u;
    int v = i % vertices;
    for (int k = 0; k < 64; ++k) {
        const int2 own = vertex[v];
        v = ends[own.x + next_random(state) % own.y];
    }
    out[i] = v;
}

// Four walks a thread, one step of each in turn.
__global__ void walks_four(const int2* vertex, const int* ends, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    unsigned state[4];
    int v[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) state[w] = (i + w * stride) * 2654435761u, v[w] = (i + w * stride) % vertices;
    for (int k = 0; k < 64; ++k)
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            const int2 own = vertex[v[w]];
            v[w] = ends[own.x + next_random(state[w]) % own.y];
        }
#pragma unroll
    for (int w = 0; w < 4; ++w) out[i + w * stride] = v[w];
}

void walks(const Graph& graph) {
    const int n = 1 << 16;
    const auto pairs = filled<int2>(
        vertices, [&](unsigned v) { return make_int2(graph.offsets[v], graph.offsets[v + 1] - graph.offsets[v]); });
    int *doffsets = to_device(graph.offsets), *dends = to_device(graph.ends), *out = empty_array<int>(n);
    int2* dpairs = to_device(pairs);
    const auto check = [&](std::size_t i) { return walk(graph.offsets.data(), graph.ends.data(), i); };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^16 of 64", out, n, check, launch); };
    show("walks: each", [&] { walks_each<<<n / 128, 128>>>(doffsets, dends, out); });
    show("walks: pairs", [&] { walks_pairs<<<n / 128, 128>>>(dpairs, dends, out); });
    show("walks: four", [&] { walks_four<<<n / 4 / 128, 128>>>(dpairs, dends, out); });
    for (void* each : {(void*)doffsets, (void*)dends, (void*)dpairs, (void*)out}) CHECK(cudaFree(each));
}

// --- forces between particles that are less than 1 apart, by lists of the particles in cells of 1 x 1

constexpr int cells = 128;

__host__ __device__ inline float force(float2 a, float2 b) {
    const float dx = a.x - b.x, dy = a.y - b.y, rest = 1 - dx * dx - dy * dy;
    return rest > 0 ? rest * rest : 0;
}

// Particle k of the lists is at[list[k]], or at[k] if they are sorted.
__host__ __device__ inline float forces(float2 own, const int* starts, const float2* at, const int* list = nullptr) {
    const int x = static_cast<int>(own.x), y = static_cast<int>(own.y);
    float sum = 0;
    for (int cy = y > 0 ? y - 1 : 0; cy <= y + 1 && cy < cells; ++cy)
        for (int cx = x > 0 ? x - 1 : 0; cx <= x + 1 && cx < cells; ++cx)
            for (int k = starts[cy * cells + cx]; k < starts[cy * cells + cx + 1]; ++k)
                sum += force(own, at[list != nullptr ? list[k] : k]);
    return sum;
}

__global__ void cells_listed(const float2* at, const int* starts, const int* list, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = forces(at[i], starts, at, list);
}

__global__ void cells_sorted(const float2* sorted, const int* starts, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = forces(sorted[i], starts, sorted);
}

// A warp a cell, which takes the neighbours of three cells in a row in tiles of 32.
__global__ void cells_warp(const float2* sorted, const int* starts, float* out) {
    __shared__ float2 tiles[4][32];
    const int own = threadIdx.x / 32, lane = threadIdx.x % 32, cell = blockIdx.x * 4 + own;
    const int x = cell % cells, y = cell / cells, end = starts[cell + 1];
    for (int i = starts[cell] + lane; __any_sync(~0u, i < end); i += 32) {
        const float2 mine = i < end ? sorted[i] : make_float2(-9, -9);
        float sum = 0;
        for (int cy = max(y - 1, 0); cy <= min(y + 1, cells - 1); ++cy) {
            const int last = starts[cy * cells + min(x + 1, cells - 1) + 1];
            for (int k = starts[cy * cells + max(x - 1, 0)]; k < last; k += 32) {
                __syncwarp();
                if (k + lane < last) tiles[own][lane] = sorted[k + lane];
                __syncwarp();
                for (int j = 0; j < min(32, last - k); ++j) sum += force(mine, tiles[own][j]);
            }
        }
        if (i < end) out[i] = sum;
    }
}

void particle_cells() {
    const int n = 1 << 18;
    const auto at = filled<float2>(
        n, [](unsigned i) { return make_float2(random_float(2 * i) * cells, random_float(2 * i + 1) * cells); });
    std::vector<int> starts(cells * cells + 1), list(n);
    const auto cell = [&](int i) { return static_cast<int>(at[i].y) * cells + static_cast<int>(at[i].x); };
    for (int i = 0; i < n; ++i) ++starts[cell(i) + 1];
    for (int c = 0; c < cells * cells; ++c) starts[c + 1] += starts[c];
    std::vector<int> next(starts);
    for (int i = 0; i < n; ++i) list[next[cell(i)]++] = i;
    const auto sorted = filled<float2>(n, [&](unsigned k) { return at[list[k]]; });
    float2 *dat = to_device(at), *dsorted = to_device(sorted);
    int *dstarts = to_device(starts), *dlist = to_device(list);
    float* out = empty_array<float>(n);
    const auto check = [&](std::size_t i) { return forces(at[i], starts.data(), sorted.data()); };
    const auto check_sorted = [&](std::size_t k) { return check(list[k]); };
    const auto show = [&](const char* what, auto expected, auto launch) {
        measure(what, "2^18 in 128^2", out, n, expected, launch);
    };
    show("cells: listed", check, [&] { cells_listed<<<n / 256, 256>>>(dat, dstarts, dlist, out); });
    show("cells: sorted", check_sorted, [&] { cells_sorted<<<n / 256, 256>>>(dsorted, dstarts, out); });
    show("cells: warp", check_sorted, [&] { cells_warp<<<cells * cells / 4, 128>>>(dsorted, dstarts, out); });
    for (void* each : {(void*)dat, (void*)dsorted, (void*)dstarts, (void*)dlist, (void*)out}) CHECK(cudaFree(each));
}

// --- sparse triangular system by levels: 48 of 2048 rows, each with eight elements in the level before

constexpr int levels = 48, level_rows = 2048, row_elements = 8;

// Element k of row r is at r * 8 + k.
__device__ inline void solve_row(int r, const int* columns, const float* values, const float* b, float* x) {
    float sum = b[r];
    if (r >= level_rows)
        for (int k = r * row_elements; k < (r + 1) * row_elements; ++k) sum -= values[k] * x[columns[k]];
    x[r] = sum;
}

__global__ void level_threads(int first, const int* columns, const float* values, const float* b, float* x) {
    solve_row(first + blockIdx.x * blockDim.x + threadIdx.x, columns, values, b, x);
}

__global__ void level_lanes(int first, const int* columns, const float* values, const float* b, float* x) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, r = first + t / row_elements, k = first * row_elements + t;
    float sum = first > 0 ? values[k] * x[columns[k]] : 0;
    for (int d = row_elements / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (t % row_elements == 0) x[r] = b[r] - sum;
}

// One block does all levels.
__global__ void level_block(const int* columns, const float* values, const float* b, float* x) {
    for (int first = 0; first < levels * level_rows; first += level_rows) {
        for (int r = first + threadIdx.x; r < first + level_rows; r += blockDim.x) solve_row(r, columns, values, b, x);
        __syncthreads();
    }
}

void level_sets() {
    const int n = levels * level_rows;
    const auto columns = filled<int>(n * row_elements, [](unsigned k) {
        const unsigned level = k / row_elements / level_rows;
        return level == 0 ? 0 : (level - 1) * level_rows + hash(k) % level_rows;
    });
    const auto values = filled<float>(n * row_elements, [](unsigned k) { return random_float(k) / 8 - 0.1f; });
    const auto b = filled<float>(n, [](unsigned i) { return random_float(~i); });
    std::vector<double> solved(b.begin(), b.end());
    for (int k = level_rows * row_elements; k < n * row_elements; ++k)
        solved[k / row_elements] -= values[k] * solved[columns[k]];
    int* dcolumns = to_device(columns);
    float *dvalues = to_device(values), *db = to_device(b), *x = empty_array<float>(n);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "48 of 2048", x, n, [&](std::size_t i) { return solved[i]; }, launch);
    };
    show("levels: threads", [&] {
        for (int first = 0; first < n; first += level_rows)
            level_threads<<<level_rows / 128, 128>>>(first, dcolumns, dvalues, db, x);
    });
    show("levels: lanes", [&] {
        for (int first = 0; first < n; first += level_rows)
            level_lanes<<<level_rows * row_elements / 256, 256>>>(first, dcolumns, dvalues, db, x);
    });
    show("levels: one block", [&] { level_block<<<1, 1024>>>(dcolumns, dvalues, db, x); });
    for (void* each : {(void*)dcolumns, (void*)dvalues, (void*)db, (void*)x}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    const Graph graph;
    pagerank(graph);
    walks(graph);
    particle_cells();
    level_sets();
    return wrong;
}
