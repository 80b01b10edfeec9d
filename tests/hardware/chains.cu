// How long loads take that wait for loads before them: through their address, or through the end of a loop.
// tests/model/h100.md has what it printed.
#include <cstdint>
#include <string>

#include "timing.cuh"

namespace {

using Index = std::uint32_t;
constexpr int threads = 256, blocks = 132 * 8;

Index *memory, *out;

// Each thread follows a chain of its own, which begins `apart` elements after its neighbour's.
__global__ void follow(const Index* next, Index apart, Index count, int steps, Index* last) {
    Index at = (blockIdx.x * blockDim.x + threadIdx.x) * apart % count;
    for (int i = 0; i < steps; ++i) at = next[at];
    if (at == ~0u) *last = at;
}

__global__ void follow_shared(const Index* next, int steps, Index* last) {
    __shared__ Index near[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) near[i] = next[i] % 1024;
    __syncthreads();
    Index at = threadIdx.x;
    for (int i = 0; i < steps; ++i) at = near[at];
    *last = at;
}

__global__ void follow_both(const Index* a, const Index* b, int steps, Index* last) {
    Index at = 0;
    for (int i = 0; i < steps; ++i) at = b[a[at]];
    *last = at;
}

// The loads of different turns do not wait for each other.
__global__ void gather(const Index* index, const Index* values, int steps, Index* last) {
    Index sum = 0;
    for (int i = 0; i < steps; ++i) sum += values[index[i * 32]];
    *last = sum;
}

__global__ void find(const Index* values, Index value, Index* last) {
    int i = 0;
    while (values[i * 8] != value) ++i;
    *last = i;
}

__global__ void bisect(const Index* sorted, Index count, Index* last) {
    const Index key = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u % count;
    Index low = 0, high = count;
    while (low < high) {
        const Index middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count + 1) *last = low;
}

// Each thread adds to a word of its own, or all to one.
__global__ void swap(Index* words, int apart, int steps, Index* last) {
    Index old = 0;
    for (int i = 0; i < steps; ++i) old = atomicCAS(words + threadIdx.x * apart, old, old + 1);
    *last = old;
}

__global__ void swap_shared(int steps, Index* last) {
    __shared__ Index words[1024];
    words[threadIdx.x] = 0;
    Index old = 0;
    for (int i = 0; i < steps; ++i) old = atomicCAS(words + threadIdx.x, old, old + 1);
    *last = old;
}

struct Node {
    Index key, left, right, other;
};

__global__ void descend(const Node* tree, Index count, Index* last) {
    const Index key = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u % count;
    Index at = count / 2;
    while (at < count && tree[at].key != key) at = key < tree[at].key ? tree[at].left : tree[at].right;
    if (at == ~0u) *last = at;
}

template <class Launch>
void measure(const char* what, const char* where, int mib, double loads, Launch launch) {
    char name[100];
    std::snprintf(name, sizeof name, where, mib);
    std::snprintf(name + std::char_traits<char>::length(name), 50, ", %s", what);
    row(name, "", kernel_ms(launch), 1e-9 * loads, "10^9 loads a second");
}

void copy_up(const std::vector<Index>& host, std::size_t at = 0) {
    CHECK(cudaMemcpy(memory + at, host.data(), host.size() * sizeof(Index), cudaMemcpyHostToDevice));
}

Index build(std::vector<Index>& nodes, Index begin, Index end) {
    if (begin == end) return ~0u;
    const Index at = (begin + end) / 2;
    nodes[at * 4] = at;
    nodes[at * 4 + 1] = build(nodes, begin, at);
    nodes[at * 4 + 2] = build(nodes, at + 1, end);
    return at;
}

void rows(int mib) {
    const Index count = Index(mib) << 18, lines = count / 32;
    std::vector<Index> host(count);
    for (Index i = 0; i < lines; ++i) host[i * 32] = (i * 5 + 12345) % lines * 32;
    copy_up(host);
    const auto row = [&](const char* what, double loads, auto launch) { measure(what, "%d MiB", mib, loads, launch); };
    row("a chain of one thread", 4096, [&] { follow<<<1, 1>>>(memory, 32, count, 4096, out); });
    row("chains of a warp", 32 * 1024, [&] { follow<<<1, 32>>>(memory, 32, count, 1024, out); });
    row("chains of all threads", 16.0 * blocks * threads,
        [&] { follow<<<blocks, threads>>>(memory, 32 * 101, count, 16, out); });
    row("two loads a turn", 4096, [&] { follow_both<<<1, 1>>>(memory, memory, 2048, out); });
    row("elements of indices", 8192, [&] { gather<<<1, 1>>>(memory, memory, 4096, out); });
    for (Index i = 0; i < count; ++i) host[i] = i;
    copy_up(host);
    row("until it is found", 4096, [&] { find<<<1, 1>>>(memory, 4095 * 8, out); });
    row("bisection", 1.0 * blocks * threads, [&] { bisect<<<blocks, threads>>>(memory, count, out); });
    build(host, 0, count / 4);
    copy_up(host);
    row("a tree", 1.0 * blocks * threads,
        [&] { descend<<<blocks, threads>>>(reinterpret_cast<Node*>(memory), count / 4, out); });
}

}  // namespace

int main() {
    CHECK(cudaMalloc(&memory, std::size_t{1} << 28));
    CHECK(cudaMalloc(&out, sizeof(Index)));
    std::vector<Index> near(1024);
    for (Index i = 0; i < 1024; ++i) near[i] = (i + 33) % 1024;
    copy_up(near);
    for (const int size : {1, 32, 256, 1024}) {
        char name[60];
        std::snprintf(name, sizeof name, "shared memory, chains of %d threads", size);
        row(name, "", kernel_ms([&] { follow_shared<<<1, size>>>(memory, 4096, out); }), 4.096e-6 * size,
            "10^9 loads a second");
    }
    row("compare and swap, one thread", "", kernel_ms([&] { swap<<<1, 1>>>(memory, 1, 4096, out); }));
    row("compare and swap, a warp", "", kernel_ms([&] { swap<<<1, 32>>>(memory, 8, 4096, out); }));
    row("shared compare and swap, one thread", "", kernel_ms([&] { swap_shared<<<1, 1>>>(4096, out); }));
    row("shared compare and swap, a warp", "", kernel_ms([&] { swap_shared<<<1, 32>>>(4096, out); }));
    for (const int mib : {1, 16, 256}) rows(mib);
    CHECK(cudaFree(memory));
    CHECK(cudaFree(out));
}
