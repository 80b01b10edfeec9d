// Fourth held-out set: families of sorted lists, of particles, of rays and of random paths.
#include "families.cuh"

namespace {

// Byte k of the results in little endian. Neighbours in a sorted list differ by less than measure() sees in numbers.
inline unsigned byte_of(const std::vector<unsigned>& results, std::size_t k) {
    return results[k / 4] >> k % 4 * 8 & 255;
}

// --- two sorted lists of 2^21 numbers become one of 2^22

constexpr int half = 1 << 21, whole = 2 * half;

// How many of the n numbers are less than x, or, if `same`, not more than it.
__host__ __device__ inline int rank_of(const unsigned* list, int n, unsigned x, bool same) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < x || (same && list[middle] == x)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// How many of the first `sum` numbers of both lists, merged, are of `a`.
__device__ inline int split(const unsigned* a, int na, const unsigned* b, int nb, int sum) {
    int low = max(0, sum - nb), high = min(sum, na);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[sum - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// A thread a number, which looks for its place.
__global__ void merge_ranks(const unsigned* a, const unsigned* b, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half) {
        out[i + rank_of(b, half, a[i], false)] = a[i];
    } else {
        out[i - half + rank_of(a, half, b[i - half], true)] = b[i - half];
    }
}

__device__ inline void merge_some(const unsigned* a, int na, const unsigned* b, int nb, int first, int n,
                                  unsigned* out) {
    int i = split(a, na, b, nb, first), j = first - i;
    for (int k = 0; k < n; ++k) out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

// Sixteen results a thread.
__global__ void merge_pieces(const unsigned* a, const unsigned* b, unsigned* out) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    merge_some(a, half, b, half, first, 16, out + first);
}

// 2048 results a block, by way of shared memory.
__global__ void merge_tiles(const unsigned* a, const unsigned* b, unsigned* out) {
    __shared__ unsigned tile[2048];
    __shared__ int ends[2];
    const int first = blockIdx.x * 2048, t = threadIdx.x;
    if (t < 2) ends[t] = split(a, half, b, half, first + t * 2048);
    __syncthreads();
    const int from_a = ends[0], na = ends[1] - ends[0], from_b = first - from_a, nb = 2048 - na;
    for (int i = t; i < 2048; i += 256) tile[i] = i < na ? a[from_a + i] : b[from_b + i - na];
    __syncthreads();
    unsigned merged[8];
    merge_some(tile, na, tile + na, nb, t * 8, 8, merged);
    __syncthreads();
    for (int k = 0; k < 8; ++k) tile[t * 8 + k] = merged[k];
    __syncthreads();
    for (int i = t; i < 2048; i += 256) out[first + i] = tile[i];
}

void merge() {
    auto a = filled<unsigned>(half, hash), b = filled<unsigned>(half, [](unsigned i) { return hash(~i) / 2; });
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<unsigned> both(whole);
    std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin());
    unsigned *da = to_device(a), *db = to_device(b), *out = empty_array<unsigned>(whole);
    const auto check = [&](std::size_t k) { return byte_of(both, k); };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^22", (unsigned char*)out, whole * 4, check, launch);
    };
    show("merge: ranks", [&] { merge_ranks<<<whole / 256, 256>>>(da, db, out); });
    show("merge: pieces", [&] { merge_pieces<<<whole / 16 / 128, 128>>>(da, db, out); });
    show("merge: tiles", [&] { merge_tiles<<<whole / 2048, 256>>>(da, db, out); });
    for (unsigned* each : {da, db, out}) CHECK(cudaFree(each));
}

// --- the next larger of 2^22 - 1 sorted numbers for each of 2^20 others

constexpr int levels = 22, sorted = (1 << levels) - 1, wanted = 1 << 20;

__global__ void next_binary(const unsigned* list, const unsigned* x, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, at = rank_of(list, sorted, x[i], false);
    out[i] = at < sorted ? list[at] : ~0u;
}

// The first ten levels of the search are in shared memory.
__global__ void next_shared(const unsigned* list, const unsigned* x, unsigned* out) {
    constexpr int step = 1 << (levels - 10);
    __shared__ unsigned heads[1023];
    for (int k = threadIdx.x; k < 1023; k += blockDim.x) heads[k] = list[(k + 1) * step - 1];
    __syncthreads();
    FOR_GRID(i, wanted) {
        const int part = rank_of(heads, 1023, x[i], false) * step;
        const int at = part + rank_of(list + part, step - 1, x[i], false);
        out[i] = at < sorted ? list[at] : ~0u;
    }
}

// The list is a tree: below number k are numbers 2k and 2k + 1.
__global__ void next_tree(const unsigned* tree, const unsigned* x, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned own = x[i];
    int k = 1;
    for (int level = 0; level < levels; ++level) k = 2 * k + (tree[k] < own);
    k >>= __ffs(~k);  // back to where it last went left
    out[i] = k > 0 ? tree[k] : ~0u;
}

void next_larger() {
    auto list = filled<unsigned>(sorted, hash);
    std::sort(list.begin(), list.end());
    // On level l, place p is in the middle of a part of 2^(levels - l).
    const auto tree = filled<unsigned>(sorted + 1, [&](unsigned k) {
        if (k == 0) return 0u;
        const int level = 31 - __builtin_clz(k), size = 1 << (levels - level);
        return list[(k - (1u << level)) * size + size / 2 - 1];
    });
    const auto x = filled<unsigned>(wanted, [](unsigned i) { return hash(~i); });
    unsigned *dl = to_device(list), *dt = to_device(tree), *dx = to_device(x), *out = empty_array<unsigned>(wanted);
    const auto next = filled<unsigned>(wanted, [&](unsigned i) {
        const auto at = std::lower_bound(list.begin(), list.end(), x[i]);
        return at == list.end() ? ~0u : *at;
    });
    const auto check = [&](std::size_t k) { return byte_of(next, k); };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "2^20 of 2^22", (unsigned char*)out, wanted * 4, check, launch);
    };
    show("next: binary", [&] { next_binary<<<wanted / 256, 256>>>(dl, dx, out); });
    show("next: shared", [&] { next_shared<<<528, 256>>>(dl, dx, out); });
    show("next: tree", [&] { next_tree<<<wanted / 256, 256>>>(dt, dx, out); });
    for (unsigned* each : {dl, dt, dx, out}) CHECK(cudaFree(each));
}

// --- energies of 2^17 atoms with 64 neighbours each (Lennard and Jones), as far as 2.5

constexpr int atoms = 1 << 17, neighbours = 64;

__host__ __device__ inline float energy(float4 a, float4 b) {
    const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, r2 = dx * dx + dy * dy + dz * dz;
    if (r2 > 6.25f) return 0;
    const float inverse = 1 / r2, r6 = inverse * inverse * inverse;
    return 4 * (r6 * r6 - r6);
}

// Neighbour k of atom i is at i * atom + k * step.
__global__ void lennard_thread(const float4* at, const int* list, float* out, int atom, int step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = at[i];
    float sum = 0;
    for (int k = 0; k < neighbours; ++k) sum += energy(own, at[list[i * atom + k * step]]);
    out[i] = sum;
}

// Eight lanes an atom.
__global__ void lennard_lanes(const float4* at, const int* list, float* out) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const float4 own = at[i];
    float sum = 0;
    for (int k = lane; k < neighbours; k += 8) sum += energy(own, at[list[i * neighbours + k]]);
    for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) out[i] = sum;
}

void lennard() {
    const int n = atoms * neighbours;
    // Near the points of a lattice of 64 x 64 x 32.
    const auto at = filled<float4>(atoms, [](unsigned i) {
        return make_float4(i % 64 + random_float(i) / 5, i / 64 % 64 + random_float(~i) / 5, i / 4096, 0);
    });
    const auto list = filled<int>(n, [](unsigned i) {
        const unsigned place = hash(i) % 124, near = place < 62 ? place : place + 1,
                       own = i / neighbours;  // not itself
        const unsigned x = own + near % 5 - 2, y = own / 64 + near / 5 % 5 - 2, z = own / 4096 + near / 25 - 2;
        return x % 64 + y % 64 * 64 + z % 32 * 4096;
    });
    const auto turned = filled<int>(n, [&](unsigned i) { return list[i % atoms * neighbours + i / atoms]; });
    float4* da = to_device(at);
    int *dl = to_device(list), *dt = to_device(turned);
    float* out = empty_array<float>(atoms);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < neighbours; ++k) sum += energy(at[i], at[list[i * neighbours + k]]);
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^17 of 64", out, atoms, check, launch); };
    show("lennard: rows", [&] { lennard_thread<<<atoms / 128, 128>>>(da, dl, out, neighbours, 1); });
    show("lennard: columns", [&] { lennard_thread<<<atoms / 128, 128>>>(da, dt, out, 1, atoms); });
    show("lennard: lanes", [&] { lennard_lanes<<<atoms / 32, 256>>>(da, dl, out); });
    for (void* each : {(void*)da, (void*)dl, (void*)dt, (void*)out}) CHECK(cudaFree(each));
}

// --- the heights of 100 spheres, seen from above in 2048^2 pixels, as a ray tracer finds them

constexpr int spheres = 100, edge = 2048;
__constant__ float4 fixed_spheres[spheres];  // x, y, z, radius

__host__ __device__ inline float height(float4 sphere, float x, float y) {
    const float dx = x - sphere.x, dy = y - sphere.y, rest = sphere.w * sphere.w - dx * dx - dy * dy;
    return rest > 0 ? sphere.z + sqrtf(rest) : 0;
}

__global__ void rays_global(const float4* sphere, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float most = 0;
    for (int k = 0; k < spheres; ++k) most = fmaxf(most, height(sphere[k], x, y));
    out[y * edge + x] = most;
}

__global__ void rays_constant(float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float most = 0;
    for (int k = 0; k < spheres; ++k) most = fmaxf(most, height(fixed_spheres[k], x, y));
    out[y * edge + x] = most;
}

// A block first lists the spheres that may be over its 16 x 16 pixels.
__global__ void rays_listed(const float4* sphere, float* out) {
    __shared__ float4 list[spheres];
    __shared__ int count;
    const int left = blockIdx.x * 16, top = blockIdx.y * 16, x = left + threadIdx.x, y = top + threadIdx.y;
    const int t = threadIdx.y * 16 + threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (t < spheres) {
        const float4 own = sphere[t];
        const float dx = own.x - fminf(fmaxf(own.x, left), left + 15), dy = own.y - fminf(fmaxf(own.y, top), top + 15);
        if (dx * dx + dy * dy < own.w * own.w) list[atomicAdd(&count, 1)] = own;
    }
    __syncthreads();
    float most = 0;
    for (int k = 0; k < count; ++k) most = fmaxf(most, height(list[k], x, y));
    out[y * edge + x] = most;
}

void rays() {
    const int n = edge * edge;
    const auto sphere = filled<float4>(spheres, [](unsigned i) {
        return make_float4(random_float(i) * edge, random_float(~i) * edge, 100 + random_float(i * 3) * 500,
                           20 + random_float(i * 5) * 60);
    });
    CHECK(cudaMemcpyToSymbol(fixed_spheres, sphere.data(), sizeof fixed_spheres));
    float4* ds = to_device(sphere);
    float* out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        float most = 0;
        for (const float4& each : sphere) most = std::max(most, height(each, i % edge, i / edge));
        return most;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2, 100", out, n, check, launch); };
    const dim3 blocks(edge / 16, edge / 16), threads(16, 16);
    show("rays: global", [&] { rays_global<<<blocks, threads>>>(ds, out); });
    show("rays: constant", [&] { rays_constant<<<blocks, threads>>>(out); });
    show("rays: listed", [&] { rays_listed<<<blocks, threads>>>(ds, out); });
    for (void* each : {(void*)ds, (void*)out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    merge();
    next_larger();
    lennard();
    rays();
    return wrong;
}
