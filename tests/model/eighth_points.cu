// Eighth held-out set: forces by a tree of squares, and the middles of clusters.
#include "families.cuh"

namespace {

// --- forces on 2^14 bodies in the plane by a tree of squares (Barnes and Hut)

constexpr int bodies = 1 << 14, leaf_size = 8;
constexpr float theta2 = 0.25f, soft = 1e-4f;

struct Square {
    float x, y, mass, size2;  // of its bodies together, and its side squared
    int skip;                 // the next square that is not within this one; the first within it is the next
    int first, count;         // bodies of a leaf
    int children[4];          // none: 0
};

__device__ __host__ inline bool far_enough(const Square& s, float x, float y) {
    const float dx = s.x - x, dy = s.y - y;
    return s.size2 < theta2 * fmaf(dx, dx, dy * dy);
}

__device__ inline void pull(float x, float y, float mass, float2 me, float2& force) {
    const float dx = x - me.x, dy = y - me.y, inverse = rsqrtf(dx * dx + dy * dy + soft);
    const float f = mass * inverse * inverse * inverse;
    force.x += f * dx, force.y += f * dy;
}

__device__ inline void pull_leaf(const Square& s, const float3* all, float2 me, float2& force) {
    for (int k = s.first; k < s.first + s.count; ++k) pull(all[k].x, all[k].y, all[k].z, me, force);
}

__device__ void hut_visit(const Square* tree, int at, const float3* all, float2 me, float2& force) {
    const Square& s = tree[at];
    if (s.count > 0) {
        pull_leaf(s, all, me, force);
    } else if (far_enough(s, me.x, me.y)) {
        pull(s.x, s.y, s.mass, me, force);
    } else {
        for (int k = 0; k < 4; ++k)
            if (s.children[k] > 0) hut_visit(tree, s.children[k], all, me, force);
    }
}

__global__ void hut_recursive(const Square* tree, const float3* all, const float2* at, float2* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 force = make_float2(0, 0);
    hut_visit(tree, 0, all, at[i], force);
    out[i] = force;
}

__global__ void hut_stack(const Square* tree, const float3* all, const float2* at, float2* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 me = at[i];
    float2 force = make_float2(0, 0);
    int stack[64], top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const Square& s = tree[stack[--top]];
        if (s.count > 0) {
            pull_leaf(s, all, me, force);
        } else if (far_enough(s, me.x, me.y)) {
            pull(s.x, s.y, s.mass, me, force);
        } else {
            for (int k = 0; k < 4; ++k)
                if (s.children[k] > 0) stack[top++] = s.children[k];
        }
    }
    out[i] = force;
}

// No stack: each square knows what comes after it.
__global__ void hut_ropes(const Square* tree, const float3* all, const float2* at, float2* out, int squares) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 me = at[i];
    float2 force = make_float2(0, 0);
    for (int node = 0; node < squares;) {
        const Square& s = tree[node];
        int next = s.skip;
        if (s.count > 0)
            pull_leaf(s, all, me, force);
        else if (far_enough(s, me.x, me.y))
            pull(s.x, s.y, s.mass, me, force);
        else
            next = node + 1;
        node = next;
    }
    out[i] = force;
}

// All lanes go the same way: into a square that is too near for one of them.
__global__ void hut_warp(const Square* tree, const float3* all, const float2* at, float2* out, int squares) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 me = at[i];
    float2 force = make_float2(0, 0);
    for (int node = 0; node < squares;) {
        const Square& s = tree[node];
        int next = s.skip;
        if (s.count > 0)
            pull_leaf(s, all, me, force);
        else if (__all_sync(~0u, far_enough(s, me.x, me.y)))
            pull(s.x, s.y, s.mass, me, force);
        else
            next = node + 1;
        node = next;
    }
    out[i] = force;
}

// The square of bodies `first` to `last`, which are put in its order; its corner, its side.
void build(std::vector<Square>& tree, std::vector<float3>& all, int first, int last, float x, float y, float side) {
    const std::size_t at = tree.size();
    Square square = {0, 0, 0, side * side, 0, first, last - first, {}};
    for (int k = first; k < last; ++k) {
        square.x += all[k].x * all[k].z, square.y += all[k].y * all[k].z;
        square.mass += all[k].z;
    }
    square.x /= square.mass, square.y /= square.mass;
    tree.push_back(square);
    if (last - first > leaf_size) {
        const float half = side / 2;
        square.count = 0;
        for (int k = 0; k < 4; ++k) {
            const auto within = [&](const float3& b) { return (b.x >= x + half) + 2 * (b.y >= y + half) == k; };
            const auto end = std::stable_partition(all.begin() + first, all.begin() + last, within);
            const int next = static_cast<int>(end - all.begin());
            if (next == first) continue;
            square.children[k] = static_cast<int>(tree.size());
            build(tree, all, first, next, x + k % 2 * half, y + k / 2 * half, half);
            first = next;
        }
    }
    square.skip = static_cast<int>(tree.size());
    tree[at] = square;
}

void hut() {
    // More of them in the middle; first in no order, then in the tree's.
    std::vector<float3> all(bodies);
    std::vector<float2> mixed(bodies), sorted(bodies);
    for (unsigned i = 0; i < bodies; ++i) {
        const float x = (random_float(4 * i) + random_float(4 * i + 1)) / 2;
        mixed[i] = make_float2(x, (random_float(4 * i + 2) + random_float(4 * i + 3)) / 2);
        all[i] = make_float3(x, mixed[i].y, (0.5f + random_float(~i)) / bodies);
    }
    std::vector<Square> tree;
    build(tree, all, 0, bodies, 0, 0, 1);
    for (int i = 0; i < bodies; ++i) sorted[i] = make_float2(all[i].x, all[i].y);
    const int squares = static_cast<int>(tree.size());
    Square* dt = to_device(tree);
    float3* da = to_device(all);
    float2 *dm = to_device(mixed), *ds = to_device(sorted), *out = empty_array<float2>(bodies);
    // Coordinate `i` of all forces, `group` bodies go the same way.
    const auto force = [&](const std::vector<float2>& at, int group, std::size_t i) {
        const std::size_t first = i / 2 / group * group;
        const float2 me = at[i / 2];
        double sum = 0;
        const auto add = [&](double x, double y, double mass) {
            const double dx = x - me.x, dy = y - me.y;
            sum += mass * std::pow(dx * dx + dy * dy + soft, -1.5) * (i % 2 ? dy : dx);
        };
        for (int node = 0; node < squares;) {
            const Square& s = tree[node];
            bool accepted = true;
            for (int k = 0; k < group; ++k) accepted &= far_enough(s, at[first + k].x, at[first + k].y);
            for (int k = s.first; k < s.first + s.count; ++k) add(all[k].x, all[k].y, all[k].z);
            if (s.count == 0 && accepted) add(s.x, s.y, s.mass);
            node = s.count > 0 || accepted ? s.skip : node + 1;
        }
        return sum;
    };
    const auto show = [&](const char* what, const std::vector<float2>& at, int group, auto launch) {
        measure(
            what, "2^14", &out->x, 2 * bodies, [&](std::size_t i) { return force(at, group, i); }, launch);
    };
    const int blocks = bodies / 128;
    show("hut: recursive", mixed, 1, [&] { hut_recursive<<<blocks, 128>>>(dt, da, dm, out); });
    show("hut: stack", mixed, 1, [&] { hut_stack<<<blocks, 128>>>(dt, da, dm, out); });
    show("hut: ropes", sorted, 1, [&] { hut_ropes<<<blocks, 128>>>(dt, da, ds, out, squares); });
    show("hut: warp", sorted, 32, [&] { hut_warp<<<blocks, 128>>>(dt, da, ds, out, squares); });
    for (float2* each : {dm, ds, out}) CHECK(cudaFree(each));
    CHECK(cudaFree(dt));
    CHECK(cudaFree(da));
}

// --- the middles of 32 clusters after one step of k-means with 2^18 points of eight coordinates

constexpr int points = 1 << 18, parts = 8, clusters = 32;
__constant__ float middles[clusters * parts];

__global__ void means_clear(float* sums, int* counts) {
    sums[threadIdx.x] = 0;
    if (threadIdx.x < clusters) counts[threadIdx.x] = 0;
}

__global__ void means_divide(const float* sums, const int* counts, float* out) {
    out[threadIdx.x] = sums[threadIdx.x] / counts[threadIdx.x / parts];
}

// The cluster whose middle is nearest to `point`.
__device__ inline int nearest(const float* from, const float* point) {
    float best = INFINITY;
    int cluster = 0;
    for (int c = 0; c < clusters; ++c) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < parts; ++k) sum += (point[k] - from[c * parts + k]) * (point[k] - from[c * parts + k]);
        if (sum < best) best = sum, cluster = c;
    }
    return cluster;
}

__global__ void means_global(const float* in, const float* from, float* sums, int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int cluster = nearest(from, in + i * parts);
    for (int k = 0; k < parts; ++k) atomicAdd(&sums[cluster * parts + k], in[i * parts + k]);
    atomicAdd(&counts[cluster], 1);
}

// From here on, a point's coordinates are `points` floats apart.
__device__ inline void load_point(const float* in, int i, float* point) {
#pragma unroll
    for (int k = 0; k < parts; ++k) point[k] = in[k * points + i];
}

// Each block sums in shared memory.
__global__ void means_shared(const float* in, const float* from, float* sums, int* counts) {
    __shared__ float near[clusters * parts], block_sums[clusters * parts];
    __shared__ int block_counts[clusters];
    near[threadIdx.x] = from[threadIdx.x];
    block_sums[threadIdx.x] = 0;
    if (threadIdx.x < clusters) block_counts[threadIdx.x] = 0;
    __syncthreads();
    FOR_GRID(i, points) {
        float point[parts];
        load_point(in, i, point);
        const int cluster = nearest(near, point);
#pragma unroll
        for (int k = 0; k < parts; ++k) atomicAdd(&block_sums[cluster * parts + k], point[k]);
        atomicAdd(&block_counts[cluster], 1);
    }
    __syncthreads();
    atomicAdd(&sums[threadIdx.x], block_sums[threadIdx.x]);
    if (threadIdx.x < clusters) atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

__global__ void means_label(const float* in, unsigned char* labels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float point[parts];
    load_point(in, i, point);
    labels[i] = nearest(middles, point);
}

// A block a cluster looks for the points with its label.
__global__ void means_gather(const float* in, const unsigned char* labels, float* out) {
    float sums[parts] = {}, count = 0;
    for (int i = threadIdx.x; i < points; i += blockDim.x) {
        if (labels[i] != blockIdx.x) continue;
        ++count;
#pragma unroll
        for (int k = 0; k < parts; ++k) sums[k] += in[k * points + i];
    }
    count = block_sum(count);
#pragma unroll
    for (int k = 0; k < parts; ++k) {
        const float sum = block_sum(sums[k]);
        if (threadIdx.x == 0) out[blockIdx.x * parts + k] = sum / count;
    }
}

void means() {
    const auto together = filled<float>(points * parts, [](unsigned i) { return random_float(i); });
    const auto from = filled<float>(clusters * parts, [](unsigned i) { return random_float(~i); });
    std::vector<float> apart(points * parts);
    std::vector<double> sums(clusters * parts), counts(clusters);
    for (int i = 0; i < points; ++i) {
        double best = 1e30;
        int cluster = 0;
        for (int c = 0; c < clusters; ++c) {
            double sum = 0;
            for (int k = 0; k < parts; ++k) {
                const double d = together[i * parts + k] - from[c * parts + k];
                sum += d * d;
            }
            if (sum < best) best = sum, cluster = c;
        }
        ++counts[cluster];
        for (int k = 0; k < parts; ++k) {
            apart[k * points + i] = together[i * parts + k];
            sums[cluster * parts + k] += together[i * parts + k];
        }
    }
    CHECK(cudaMemcpyToSymbol(middles, from.data(), sizeof middles));
    float *dt = to_device(together), *da = to_device(apart), *df = to_device(from);
    float *ds = empty_array<float>(clusters * parts), *out = empty_array<float>(clusters * parts);
    int* dc = empty_array<int>(clusters);
    unsigned char* labels = empty_array<unsigned char>(points);
    const auto check = [&](std::size_t i) { return sums[i] / counts[i / parts]; };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^18 x 8, 32", out, clusters * parts, check, launch);
    };
    show("means: global", [&] {
        means_clear<<<1, clusters * parts>>>(ds, dc);
        means_global<<<points / 256, 256>>>(dt, df, ds, dc);
        means_divide<<<1, clusters * parts>>>(ds, dc, out);
    });
    show("means: shared", [&] {
        means_clear<<<1, clusters * parts>>>(ds, dc);
        means_shared<<<264, clusters * parts>>>(da, df, ds, dc);
        means_divide<<<1, clusters * parts>>>(ds, dc, out);
    });
    show("means: gather", [&] {
        means_label<<<points / 256, 256>>>(da, labels);
        means_gather<<<clusters, 256>>>(da, labels, out);
    });
    for (float* each : {dt, da, df, ds, out}) CHECK(cudaFree(each));
    CHECK(cudaFree(dc));
    CHECK(cudaFree(labels));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    hut();
    means();
    return wrong;
}
