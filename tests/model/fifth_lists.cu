// Fifth held-out set: families of keys, of text and of graphs.
#include "families.cuh"

namespace {

// --- a pass of radix sort: 2^20 keys by their four lowest bits, those of one digit as they were

constexpr int keys = 1 << 20, tile = 1024, tiles = keys / tile;

__global__ void radix_count(const unsigned* key, int* counts) {
    __shared__ int own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < tile; i += 256) atomicAdd(own + key[blockIdx.x * tile + i] % 16, 1);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * tiles + blockIdx.x] = own[threadIdx.x];
}

// One block: each count becomes the sum of those before.
__global__ void radix_scan(int* counts) {
    __shared__ int warps[32];
    const int t = threadIdx.x, lane = t % 32;
    int own[16], sum = 0;
    for (int k = 0; k < 16; ++k) own[k] = counts[t * 16 + k], sum += own[k];
    int before = sum;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, before, d);
        if (lane >= d) before += other;
    }
    if (lane == 31) warps[t / 32] = before;
    __syncthreads();
    before -= sum;
    for (int k = 0; k < t / 32; ++k) before += warps[k];
    for (int k = 0; k < 16; ++k) counts[t * 16 + k] = before, before += own[k];
}

// A thread has four keys that follow each other, and a counter for each digit.
__global__ void radix_counters(const unsigned* key, const int* starts, unsigned* out) {
    __shared__ int counters[16][257];
    const int t = threadIdx.x, lane = t % 32;
    const uint4 four = reinterpret_cast<const uint4*>(key + blockIdx.x * tile)[t];
    const unsigned own[4] = {four.x, four.y, four.z, four.w};
    for (int d = 0; d < 16; ++d) counters[d][t] = 0;
    for (int k = 0; k < 4; ++k) ++counters[own[k] % 16][t];
    __syncthreads();
    for (int d = t / 32; d < 16; d += 8) {
        int before = starts[d * tiles + blockIdx.x];
        for (int k = 0; k < 256; k += 32) {
            const int count = counters[d][k + lane];
            int sum = count;
            for (int s = 1; s < 32; s *= 2) {
                const int other = __shfl_up_sync(~0u, sum, s);
                if (lane >= s) sum += other;
            }
            counters[d][k + lane] = before + sum - count;
            before += __shfl_sync(~0u, sum, 31);
        }
    }
    __syncthreads();
    for (int k = 0; k < 4; ++k) out[counters[own[k] % 16][t]++] = own[k];
}

// Lanes of a warp that have the same digit as this one.
template <bool match>
__device__ inline unsigned peers_of(unsigned digit) {
    if (match) return __match_any_sync(~0u, digit);
    unsigned peers = ~0u;
    for (int bit = 1; bit < 16; bit *= 2) {
        const unsigned set = __ballot_sync(~0u, digit & bit);
        peers &= digit & bit ? set : ~set;
    }
    return peers;
}

// A warp has 128 keys; their places in the tile come from how many peers are in lower lanes. With `gather` keys are
// first put in order in shared memory, so that neighbours go to neighbours.
template <bool match, bool gather>
__global__ void radix_warp(const unsigned* key, const int* starts, unsigned* out) {
    __shared__ int counts[16][8], first[16];
    __shared__ unsigned sorted[gather ? tile : 1];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < 128) counts[t / 8][t % 8] = 0;
    __syncthreads();
    unsigned own[4];
    int rank[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        own[k] = key[blockIdx.x * tile + warp * 128 + k * 32 + lane];
        const unsigned digit = own[k] % 16, peers = peers_of<match>(digit);
        const int before = counts[digit][warp];
        __syncwarp();
        rank[k] = before + __popc(peers & ((1u << lane) - 1));
        if (lane == __ffs(peers) - 1) counts[digit][warp] = before + __popc(peers);
        __syncwarp();
    }
    __syncthreads();
    if (warp == 0) {
        int sum = 0;
        for (int w = 0; w < 8 && lane < 16; ++w) {
            const int count = counts[lane][w];
            counts[lane][w] = sum, sum += count;
        }
        int before = sum;
        for (int d = 1; d < 16; d *= 2) {
            const int other = __shfl_up_sync(~0u, before, d);
            if (lane >= d) before += other;
        }
        if (lane < 16) first[lane] = gather ? before - sum : starts[lane * tiles + blockIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int to = first[own[k] % 16] + counts[own[k] % 16][warp] + rank[k];
        if (gather)
            sorted[to] = own[k];
        else
            out[to] = own[k];
    }
    if (!gather) return;
    __syncthreads();
    for (int i = t; i < tile; i += 256) {
        const unsigned digit = sorted[i] % 16;
        out[starts[digit * tiles + blockIdx.x] + i - first[digit]] = sorted[i];
    }
}

void radix() {
    const auto key = filled<unsigned>(keys, hash);
    auto sorted = key;
    std::stable_sort(sorted.begin(), sorted.end(), [](unsigned a, unsigned b) { return a % 16 < b % 16; });
    unsigned *dkey = to_device(key), *out = empty_array<unsigned>(keys);
    int* counts = empty_array<int>(16 * tiles);
    const auto check = [&](std::size_t i) { return sorted[i]; };
    const auto show = [&](const char* what, auto scatter) {
        measure(what, "2^20, 4 bits", out, keys, check, [&] {
            radix_count<<<tiles, 256>>>(dkey, counts);
            radix_scan<<<1, 1024>>>(counts);
            scatter<<<tiles, 256>>>(dkey, counts, out);
        });
    };
    show("radix: counters", radix_counters);
    show("radix: ballot", radix_warp<false, false>);
    show("radix: match", radix_warp<true, false>);
    show("radix: gathered", radix_warp<true, true>);
    for (void* each : {(void*)dkey, (void*)out, (void*)counts}) CHECK(cudaFree(each));
}

// --- where a word of twelve letters is in 32 MiB of text of four letters: how often in each part of 2^18

constexpr int text_size = 1 << 25, word_size = 12, part = 1 << 18, stretch = 256;
__constant__ __align__(4) char word[word_size];
__constant__ unsigned char skip[256];

__device__ inline bool is_word(const char* text) {
    for (int k = 0; k < word_size; ++k)
        if (text[k] != word[k]) return false;
    return true;
}

__global__ void search_each(const char* text, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= text_size - word_size && is_word(text + i)) atomicAdd(out + i / part, 1);
}

// By the last letter alone, as far as it allows (Horspool): a thread has 256 places.
__global__ void search_skip(const char* text, int* out) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * stretch,
              end = min(first + stretch, text_size - word_size + 1);
    int found = 0;
    for (int i = first; i < end;) {
        const unsigned char last = text[i + word_size - 1];
        found += is_word(text + i);
        i += skip[last];
    }
    if (found > 0) atomicAdd(out + first / part, found);
}

// By a sum of the letters that moves with the place (Rabin and Karp).
__global__ void search_rolling(const char* text, int* out, unsigned wanted, unsigned highest) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * stretch,
              end = min(first + stretch, text_size - word_size + 1);
    unsigned sum = 0;
    int found = 0;
    for (int k = 0; k < word_size; ++k) sum = sum * 257 + text[first + k];
    for (int i = first; i < end; ++i) {
        if (sum == wanted) found += is_word(text + i);
        if (i + 1 < end) sum = (sum - text[i] * highest) * 257 + text[i + word_size];
    }
    if (found > 0) atomicAdd(out + first / part, found);
}

// Sixteen places a thread, by whole words of four letters.
__global__ void search_words(const uint4* text, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 own = text[i], none = {};
    const uint4 next = (i + 1) * 16 < text_size ? text[i + 1] : none;
    const unsigned all[8] = {own.x, own.y, own.z, own.w, next.x, next.y, next.z, next.w};
    const unsigned* wanted = reinterpret_cast<const unsigned*>(word);
    int found = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        bool same = true;
#pragma unroll
        for (int w = 0; w < 3; ++w)
            same &= __funnelshift_r(all[k / 4 + w], k / 4 + w < 7 ? all[k / 4 + w + 1] : 0, k % 4 * 8) == wanted[w];
        found += same;
    }
    found = __reduce_add_sync(~0u, found);
    if (found > 0 && threadIdx.x % 32 == 0) atomicAdd(out + i / (part / 16), found);
}

void search() {
    const char* wanted = "GATTACAGATCC";
    auto text = filled<char>(text_size, [](unsigned i) { return "ACGT"[hash(i) % 4]; });
    for (int i = 0; i < text_size; i += 2048) std::copy_n(wanted, word_size, text.begin() + i + hash(i) % 2000);
    std::vector<unsigned char> skips(256, word_size);
    for (int k = 0; k < word_size - 1; ++k) skips[wanted[k]] = static_cast<unsigned char>(word_size - 1 - k);
    unsigned sum = 0, highest = 1;
    for (int k = 0; k < word_size; ++k) sum = sum * 257 + wanted[k], highest *= k > 0 ? 257 : 1;
    CHECK(cudaMemcpyToSymbol(word, wanted, sizeof word));
    CHECK(cudaMemcpyToSymbol(skip, skips.data(), sizeof skip));
    std::vector<int> found(text_size / part);
    for (auto i = text.begin(); (i = std::search(i, text.end(), wanted, wanted + word_size)) != text.end(); ++i)
        ++found[(i - text.begin()) / part];
    char* dtext = to_device(text);
    int* out = empty_array<int>(found.size());
    const auto check = [&](std::size_t i) { return found[i] * launches; };
    const auto show = [&](const char* what, auto launch) { measure(what, "32 MiB", out, found.size(), check, launch); };
    show("search: each", [&] { search_each<<<text_size / 256, 256>>>(dtext, out); });
    show("search: skip", [&] { search_skip<<<text_size / stretch / 128, 128>>>(dtext, out); });
    show("search: rolling", [&] { search_rolling<<<text_size / stretch / 128, 128>>>(dtext, out, sum, highest); });
    show("search: words", [&] { search_words<<<text_size / 16 / 256, 256>>>((uint4*)dtext, out); });
    for (void* each : {(void*)dtext, (void*)out}) CHECK(cudaFree(each));
}

// --- how many triangles each edge of a graph of 2^14 vertices is in, by sorted lists of neighbours

constexpr int vertices = 1 << 14;

__global__ void triangles_merge(const int* first, const int2* edge, const int* to, int edges, int* out) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const int u = edge[e].x, v = edge[e].y;
    int i = first[u], j = first[v], count = 0;
    while (i < first[u + 1] && j < first[v + 1]) {
        const int a = to[i], b = to[j];
        count += a == b;
        i += a <= b, j += b <= a;
    }
    out[e] = count;
}

// A warp an edge: each lane looks for neighbours of one end among those of the other.
__global__ void triangles_search(const int* first, const int2* edge, const int* to, int edges, int* out) {
    const int e = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (e >= edges) return;
    const int u = edge[e].x, v = edge[e].y;
    int count = 0;
    for (int i = first[u] + lane; i < first[u + 1]; i += 32) {
        int low = first[v], high = first[v + 1];
        while (low < high) {
            const int middle = (low + high) / 2;
            if (to[middle] < to[i])
                low = middle + 1;
            else
                high = middle;
        }
        count += low < first[v + 1] && to[low] == to[i];
    }
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) out[e] = count;
}

// A block a vertex: a bit for each of its neighbours, and a warp for each edge.
__global__ void triangles_bits(const int* first, const int* to, int* out) {
    __shared__ unsigned bits[vertices / 32];
    for (int i = threadIdx.x; i < vertices / 32; i += blockDim.x) bits[i] = 0;
    __syncthreads();
    const int begin = first[blockIdx.x], end = first[blockIdx.x + 1], lane = threadIdx.x % 32;
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) atomicOr(bits + to[i] / 32, 1u << to[i] % 32);
    __syncthreads();
    for (int e = begin + threadIdx.x / 32; e < end; e += blockDim.x / 32) {
        int count = 0;
        for (int j = first[to[e]] + lane; j < first[to[e] + 1]; j += 32) count += bits[to[j] / 32] >> to[j] % 32 & 1;
        count = __reduce_add_sync(~0u, count);
        if (lane == 0) out[e] = count;
    }
}

void triangles() {
    std::vector<int2> edge;
    for (int u = 0; u < vertices; ++u)
        for (unsigned k = 0; k < 8 + (u % 61 == 0) * 120u; ++k) {
            const int v = static_cast<int>(hash(u * 131 + k) % (k % 2 ? 128 : vertices)) ^ (k % 2 ? u & -128 : 0);
            if (u != v) edge.push_back({u, v}), edge.push_back({v, u});
        }
    const auto less = [](int2 a, int2 b) { return a.x != b.x ? a.x < b.x : a.y < b.y; };
    std::sort(edge.begin(), edge.end(), less);
    edge.erase(std::unique(edge.begin(), edge.end(), [](int2 a, int2 b) { return a.x == b.x && a.y == b.y; }),
               edge.end());
    const int edges = static_cast<int>(edge.size());
    std::vector<int> first(vertices + 1), to(edges);
    for (int e = 0; e < edges; ++e) to[e] = edge[e].y, ++first[edge[e].x + 1];
    for (int u = 0; u < vertices; ++u) first[u + 1] += first[u];
    int *dfirst = to_device(first), *dto = to_device(to), *out = empty_array<int>(edges);
    int2* dedge = to_device(edge);
    const auto check = [&](std::size_t e) {
        int count = 0;
        for (int i = first[edge[e].x]; i < first[edge[e].x + 1]; ++i)
            count += std::binary_search(to.begin() + first[edge[e].y], to.begin() + first[edge[e].y + 1], to[i]);
        return count;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^14", out, edges, check, launch); };
    show("triangles: merge", [&] { triangles_merge<<<edges / 128 + 1, 128>>>(dfirst, dedge, dto, edges, out); });
    show("triangles: search", [&] { triangles_search<<<edges / 8 + 1, 256>>>(dfirst, dedge, dto, edges, out); });
    show("triangles: bits", [&] { triangles_bits<<<vertices, 256>>>(dfirst, dto, out); });
    for (void* each : {(void*)dfirst, (void*)dto, (void*)out, (void*)dedge}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    radix();
    search();
    triangles();
    return wrong;
}
