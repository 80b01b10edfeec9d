// Sixth held-out set: graphs.
#include "families.cuh"

namespace {

__global__ void empty() {}

constexpr int threads = 256;

int blocks(int n) { return (n + threads - 1) / threads; }

// The edges that leave vertex v are first[v] to first[v + 1] - 1.
struct Graph {
    std::vector<int> first, ends, weights;
};

// Edges are from x to y; z is the weight.
Graph graph_of(int n, const std::vector<int3>& edges) {
    Graph graph{std::vector<int>(n + 1), std::vector<int>(edges.size()), std::vector<int>(edges.size())};
    for (const int3& edge : edges) ++graph.first[edge.x + 1];
    for (int v = 0; v < n; ++v) graph.first[v + 1] += graph.first[v];
    std::vector<int> next = graph.first;
    for (const int3& edge : edges) {
        graph.ends[next[edge.x]] = edge.y;
        graph.weights[next[edge.x]++] = edge.z;
    }
    return graph;
}

// Each edge both ways.
Graph undirected(int n, int pairs) {
    std::vector<int3> edges;
    for (int i = 0; i < pairs; ++i) {
        const int a = hash(i) % n, b = hash(i + pairs) % n;
        if (a == b) continue;
        edges.push_back({a, b, 0});
        edges.push_back({b, a, 0});
    }
    return graph_of(n, edges);
}

// --- a round of Bellman and Ford: distances by one more of the edges of a graph of 2^17 vertices

constexpr int far = 1 << 20;

// An edge a thread; an atomic only where the distance becomes less.
__global__ void ford_edges(const int* begins, const int* ends, const int* weights, int count, const int* from,
                           int* to) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int v = ends[i], distance = from[begins[i]] + weights[i];
    if (distance < from[v]) atomicMin(&to[v], distance);
}

__global__ void ford_push(const int* first, const int* ends, const int* weights, int n, const int* from, int* to) {
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n || from[u] >= far) return;
    for (int i = first[u]; i < first[u + 1]; ++i) atomicMin(&to[ends[i]], from[u] + weights[i]);
}

// Along the edges that come in: no atomics.
__global__ void ford_pull(const int* first, const int* ends, const int* weights, int n, const int* from, int* to) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int best = from[v];
    for (int i = first[v]; i < first[v + 1]; ++i) best = min(best, from[ends[i]] + weights[i]);
    to[v] = best;
}

void ford() {
    const int n = 1 << 17;
    std::vector<int3> edges, back;
    for (int u = 0; u < n; ++u)
        for (unsigned k = 0; k < hash(u) % 16; ++k) {
            const unsigned id = u * 16 + k;
            edges.push_back({u, static_cast<int>(hash(id) % n), static_cast<int>(hash(~id) % 15 + 1)});
            back.push_back({edges.back().y, u, edges.back().z});
        }
    const int count = static_cast<int>(edges.size());
    std::vector<int> distances(n, far), before;
    distances[0] = distances[1] = 0;
    for (int round = 0; round < 6; ++round) {
        before = distances;
        for (const int3& edge : edges) distances[edge.y] = std::min(distances[edge.y], before[edge.x] + edge.z);
    }
    const Graph out_of = graph_of(n, edges), into = graph_of(n, back);
    const auto begins = filled<int>(count, [&](unsigned i) { return edges[i].x; });
    int *dof = to_device(out_of.first), *doe = to_device(out_of.ends), *dow = to_device(out_of.weights);
    int *dif = to_device(into.first), *die = to_device(into.ends), *diw = to_device(into.weights);
    int *db = to_device(begins), *from = to_device(before), *to = empty_array<int>(n);
    const auto check = [&](std::size_t i) { return distances[i]; };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^17, 2^20 edges", to, n, check, launch, from);
    };
    show("ford: edges", [&] { ford_edges<<<blocks(count), threads>>>(db, doe, dow, count, from, to); });
    show("ford: push", [&] { ford_push<<<blocks(n), threads>>>(dof, doe, dow, n, from, to); });
    show("ford: pull", [&] { ford_pull<<<blocks(n), threads>>>(dif, die, diw, n, from, to); });
    for (int* each : {dof, doe, dow, dif, die, diw, db, from, to}) CHECK(cudaFree(each));
}

// --- the levels of all vertices of a graph, a launch a level

constexpr int most_levels = 64;

__global__ void frontier_begin(int* levels, int n, int* queue, int* counts) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) levels[v] = v == 0 ? 0 : -1, queue[v] = 0;
    if (v < most_levels) counts[v] = v == 0;
}

// Each vertex of the level before marks its neighbours; what is marked gets its level in a second launch.
__global__ void frontier_push(const int* first, const int* ends, int n, const int* levels, int* marks, int level) {
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n || levels[u] != level - 1) return;
    for (int i = first[u]; i < first[u + 1]; ++i)
        if (levels[ends[i]] < 0) marks[ends[i]] = level;
}

__global__ void frontier_mark(int n, int* levels, const int* marks, int level) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && marks[v] == level) levels[v] = level;
}

// Each vertex that has no level looks for a neighbour of the level before.
__global__ void frontier_pull(const int* first, const int* ends, int n, const int* from, int* to, int level) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int mine = from[v];
    for (int i = first[v]; i < first[v + 1] && mine < 0; ++i)
        if (from[ends[i]] == level - 1) mine = level;
    to[v] = mine;
}

__global__ void frontier_queue(const int* first, const int* ends, int* levels, int level, const int* queue, int* next,
                               int* counts) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= counts[level - 1]) return;
    const int u = queue[at];
    for (int i = first[u]; i < first[u + 1]; ++i)
        if (atomicCAS(&levels[ends[i]], -1, level) == -1) next[atomicAdd(&counts[level], 1)] = ends[i];
}

// What a block finds goes to a queue in shared memory first.
__global__ void frontier_private(const int* first, const int* ends, int* levels, int level, const int* queue, int* next,
                                 int* counts) {
    constexpr int room = 2048;
    __shared__ int found[room], size, begin;
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < counts[level - 1]) {
        const int u = queue[at];
        for (int i = first[u]; i < first[u + 1]; ++i)
            if (atomicCAS(&levels[ends[i]], -1, level) == -1) {
                const int place = atomicAdd(&size, 1);
                if (place < room)
                    found[place] = ends[i];
                else
                    next[atomicAdd(&counts[level], 1)] = ends[i];
            }
    }
    __syncthreads();
    const int kept = min(size, room);
    if (threadIdx.x == 0) begin = atomicAdd(&counts[level], kept);
    __syncthreads();
    for (int i = threadIdx.x; i < kept; i += blockDim.x) next[begin + i] = found[i];
}

void frontier() {
    const int n = 1 << 16;
    const Graph graph = undirected(n, 4 * n);
    std::vector<int> levels(n, -1), sizes;
    levels[0] = 0;
    for (std::vector<int> queue{0}; !queue.empty();) {
        sizes.push_back(static_cast<int>(queue.size()));
        std::vector<int> next;
        for (const int u : queue)
            for (int i = graph.first[u]; i < graph.first[u + 1]; ++i)
                if (levels[graph.ends[i]] < 0) {
                    levels[graph.ends[i]] = static_cast<int>(sizes.size());
                    next.push_back(graph.ends[i]);
                }
        queue = next;
    }
    const int depth = static_cast<int>(sizes.size()) - 1;
    int *df = to_device(graph.first), *de = to_device(graph.ends), *out = empty_array<int>(n);
    int *queues[] = {empty_array<int>(n), empty_array<int>(n)}, *counts = empty_array<int>(most_levels);
    const auto check = [&](std::size_t i) { return levels[i]; };
    const auto show = [&](const char* what, auto step) {
        measure(what, "2^16, 2^19 edges", out, n, check, [&] {
            frontier_begin<<<blocks(n), threads>>>(out, n, queues[0], counts);
            for (int level = 1; level <= depth; ++level)
                step(level, sizes[level - 1], queues[(level + 1) % 2], queues[level % 2]);
        });
    };
    show("frontier: push", [&](int level, int, int*, int*) {
        frontier_push<<<blocks(n), threads>>>(df, de, n, out, queues[0], level);
        frontier_mark<<<blocks(n), threads>>>(n, out, queues[0], level);
    });
    measure("frontier: pull", "2^16, 2^19 edges", out, n, check, [&] {
        int* arrays[] = {out, queues[1]};
        frontier_begin<<<blocks(n), threads>>>(arrays[depth % 2], n, queues[0], counts);
        for (int level = 1; level <= depth; ++level)
            frontier_pull<<<blocks(n), threads>>>(df, de, n, arrays[(depth - level + 1) % 2],
                                                  arrays[(depth - level) % 2], level);
    });
    show("frontier: queue", [&](int level, int size, int* queue, int* next) {
        frontier_queue<<<blocks(size), threads>>>(df, de, out, level, queue, next, counts);
    });
    show("frontier: private", [&](int level, int size, int* queue, int* next) {
        frontier_private<<<blocks(size), threads>>>(df, de, out, level, queue, next, counts);
    });
    for (int* each : {df, de, out, queues[0], queues[1], counts}) CHECK(cudaFree(each));
}

// --- colours of a graph's vertices: a round gives one to those that are before all neighbours without any (Luby)

__device__ unsigned priority(unsigned x) {  // hash
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__global__ void colour_begin(int* colours, int* list, int n, int* counts) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) colours[v] = -1, list[v] = v;
    if (v < most_levels) counts[v] = v == 0 ? n : 0;
}

__global__ void colour_all(const int* first, const int* ends, int n, const int* from, int* to, int round) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int colour = from[v];
    if (colour < 0) {
        bool top = true;
        for (int i = first[v]; i < first[v + 1]; ++i)
            if (from[ends[i]] < 0 && priority(ends[i]) > priority(v)) top = false;
        if (top) colour = round;
    }
    to[v] = colour;
}

// Two colours a round: those after all of their neighbours get one as well.
__global__ void colour_two(const int* first, const int* ends, int n, const int* from, int* to, int round) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int colour = from[v];
    if (colour < 0) {
        const unsigned mine = priority(v);
        bool top = true, bottom = true;
        for (int i = first[v]; i < first[v + 1] && (top || bottom); ++i)
            if (from[ends[i]] < 0) (priority(ends[i]) > mine ? top : bottom) = false;
        if (top || bottom) colour = 2 * round + !top;
    }
    to[v] = colour;
}

// Only what has no colour yet, by a list; colours are given by colour_give, as all look at them here.
__global__ void colour_list(const int* first, const int* ends, const int* list, const int* counts, const int* colours,
                            int* tops, int round) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= counts[round]) return;
    const int v = list[at];
    const unsigned mine = priority(v);
    bool top = true;
    for (int i = first[v]; i < first[v + 1] && top; ++i) top = colours[ends[i]] >= 0 || priority(ends[i]) < mine;
    tops[at] = top;
}

__global__ void colour_give(const int* list, int* next, int* counts, int* colours, const int* tops, int round) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= counts[round]) return;
    if (tops[at])
        colours[list[at]] = round;
    else
        next[atomicAdd(&counts[round + 1], 1)] = list[at];
}

void colour() {
    const int n = 1 << 15;
    const Graph graph = undirected(n, 4 * n);
    std::vector<int> one(n, -1), two(n, -1), sizes;
    const auto rounds_of = [&](std::vector<int>& colours, int kinds) {
        int round = 0, left = n;
        for (; left > 0; ++round) {
            if (kinds == 1) sizes.push_back(left);
            const std::vector<int> before = colours;
            for (int v = 0; v < n; ++v) {
                if (before[v] >= 0) continue;
                bool top = true, bottom = true;
                for (int i = graph.first[v]; i < graph.first[v + 1]; ++i)
                    if (before[graph.ends[i]] < 0) (hash(graph.ends[i]) > hash(v) ? top : bottom) = false;
                if (!top && (kinds == 1 || !bottom)) continue;
                colours[v] = kinds * round + !top;
                --left;
            }
        }
        return round;
    };
    const int rounds = rounds_of(one, 1), rounds_two = rounds_of(two, 2);
    int *df = to_device(graph.first), *de = to_device(graph.ends), *out = empty_array<int>(n);
    int *other = empty_array<int>(n), *lists[] = {empty_array<int>(n), empty_array<int>(n)};
    int* counts = empty_array<int>(most_levels);
    const auto show = [&](const char* what, const std::vector<int>& colours, int last, auto step) {
        measure(
            what, "2^15, 2^18 edges", out, n, [&](std::size_t i) { return colours[i]; },
            [&] {
                colour_begin<<<blocks(n), threads>>>(last % 2 == 0 ? out : other, lists[0], n, counts);
                for (int round = 0; round < last; ++round)
                    (last - round) % 2 == 0 ? step(round, out, other) : step(round, other, out);
            });
    };
    show("colour: all", one, rounds,
         [&](int round, int* from, int* to) { colour_all<<<blocks(n), threads>>>(df, de, n, from, to, round); });
    show("colour: two", two, rounds_two,
         [&](int round, int* from, int* to) { colour_two<<<blocks(n), threads>>>(df, de, n, from, to, round); });
    measure(
        "colour: list", "2^15, 2^18 edges", out, n, [&](std::size_t i) { return one[i]; },
        [&] {
            colour_begin<<<blocks(n), threads>>>(out, lists[0], n, counts);
            for (int round = 0; round < rounds; ++round) {
                int *list = lists[round % 2], *next = lists[(round + 1) % 2];
                colour_list<<<blocks(sizes[round]), threads>>>(df, de, list, counts, out, other, round);
                colour_give<<<blocks(sizes[round]), threads>>>(list, next, counts, out, other, round);
            }
        });
    for (int* each : {df, de, out, other, lists[0], lists[1], counts}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    ford();
    frontier();
    colour();
    return wrong;
}
