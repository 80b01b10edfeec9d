// Fifth held-out set: families of images.
#include "families.cuh"

namespace {

__global__ void empty() {}

using Byte = unsigned char;

__host__ __device__ inline int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// --- colours of a camera's 2048^2 pixels, red or green or green or blue, from those beside them; mirrored at the edge

constexpr int camera = 2048;

__host__ __device__ inline int mirrored(int i) { return i < 0 ? -i : i >= camera ? 2 * camera - 2 - i : i; }

// v are the 3 x 3 pixels around (x, y).
__host__ __device__ inline uchar4 colour(const int* v, int x, int y) {
    const int across = (v[3] + v[5] + 1) / 2, down = (v[1] + v[7] + 1) / 2, own = v[4];
    const int beside = (v[1] + v[3] + v[5] + v[7] + 2) / 4, corners = (v[0] + v[2] + v[6] + v[8] + 2) / 4;
    if (y % 2 == 0)
        return x % 2 == 0 ? uchar4{Byte(own), Byte(beside), Byte(corners), 255}
                          : uchar4{Byte(across), Byte(own), Byte(down), 255};
    return x % 2 == 0 ? uchar4{Byte(down), Byte(own), Byte(across), 255}
                      : uchar4{Byte(corners), Byte(beside), Byte(own), 255};
}

__global__ void demosaic_pixel(const Byte* in, uchar4* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) v[k] = in[mirrored(y + k / 3 - 1) * camera + mirrored(x + k % 3 - 1)];
    out[y * camera + x] = colour(v, x, y);
}

__global__ void demosaic_shared(const Byte* in, uchar4* out) {
    __shared__ Byte tile[10][36];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    for (int i = ty * 32 + tx; i < 10 * 34; i += 256)
        tile[i / 34][i % 34] =
            in[mirrored(blockIdx.y * 8 + i / 34 - 1) * camera + mirrored(blockIdx.x * 32 + i % 34 - 1)];
    __syncthreads();
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) v[k] = tile[ty + k / 3][tx + k % 3];
    out[y * camera + x] = colour(v, x, y);
}

// Four pixels a thread, two of each of two rows: no lane does other things than the next.
__global__ void demosaic_quads(const Byte* in, uchar4* out) {
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2, y = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
    int v[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const Byte* row = in + mirrored(y + k - 1) * camera;
        const uchar2 middle = *reinterpret_cast<const uchar2*>(row + x);
        v[k][0] = row[mirrored(x - 1)], v[k][1] = middle.x, v[k][2] = middle.y, v[k][3] = row[mirrored(x + 2)];
    }
    uchar4 result[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        int own[9];
#pragma unroll
        for (int k = 0; k < 9; ++k) own[k] = v[q / 2 + k / 3][q % 2 + k % 3];
        result[q] = colour(own, q % 2, q / 2);
    }
    *reinterpret_cast<uint2*>(out + y * camera + x) = *reinterpret_cast<uint2*>(result);
    *reinterpret_cast<uint2*>(out + (y + 1) * camera + x) = *reinterpret_cast<uint2*>(result + 2);
}

void demosaic() {
    const int n = camera * camera;
    const auto in = filled<Byte>(n, [](unsigned i) { return hash(i) % 156 + i % camera / 32; });
    Byte *din = to_device(in), *out = empty_array<Byte>(n * 4);
    const auto check = [&](std::size_t i) {
        const int x = static_cast<int>(i / 4 % camera), y = static_cast<int>(i / 4 / camera);
        int v[9];
        for (int k = 0; k < 9; ++k) v[k] = in[mirrored(y + k / 3 - 1) * camera + mirrored(x + k % 3 - 1)];
        const uchar4 want = colour(v, x, y);
        return i % 4 == 0 ? want.x : i % 4 == 1 ? want.y : i % 4 == 2 ? want.z : want.w;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, n * 4, check, launch); };
    const dim3 blocks(camera / 32, camera / 8), threads(32, 8);
    show("demosaic: pixel", [&] { demosaic_pixel<<<blocks, threads>>>(din, (uchar4*)out); });
    show("demosaic: shared", [&] { demosaic_shared<<<blocks, threads>>>(din, (uchar4*)out); });
    show("demosaic: quads", [&] { demosaic_quads<<<dim3(camera / 64, camera / 16), threads>>>(din, (uchar4*)out); });
    for (Byte* each : {din, out}) CHECK(cudaFree(each));
}

// --- components of the dark pixels of 1024^2: the label of each is the place of its first pixel, -1 if it is light

constexpr int map_edge = 1024, map_pixels = map_edge * map_edge;

__host__ __device__ inline int root_of(const volatile int* label, int i) {
    while (label[i] != i) i = label[i];
    return i;
}

// A root is the smallest of its component, as only a smaller one ever replaces it.
template <class Label>
__device__ inline void unite(Label* label, int a, int b) {
    while (true) {
        a = root_of(label, a), b = root_of(label, b);
        if (a == b) return;
        const int high = max(a, b), low = min(a, b), old = atomicMin(label + high, low);
        if (old == high) return;
        a = old, b = low;
    }
}

__global__ void labels_start(const Byte* dark, int* label) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    label[i] = dark[i] ? i : -1;
}

__global__ void labels_unite(const Byte* dark, int* label) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!dark[i]) return;
    if (i % map_edge > 0 && dark[i - 1]) unite(label, i, i - 1);
    if (i >= map_edge && dark[i - map_edge]) unite(label, i, i - map_edge);
}

__global__ void labels_end(const int* label, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = label[i] < 0 ? -1 : root_of(label, i);
}

// Components of 32 x 8 pixels in shared memory first.
__global__ void labels_tile(const Byte* dark, int* label) {
    __shared__ int own[256];
    const int t = threadIdx.x, x = blockIdx.x * 32, y = blockIdx.y * 8, i = (y + t / 32) * map_edge + x + t % 32;
    const bool is = dark[i];
    own[t] = is ? t : -1;
    __syncthreads();
    if (is && t % 32 > 0 && dark[i - 1]) unite(own, t, t - 1);
    if (is && t >= 32 && dark[i - map_edge]) unite(own, t, t - 32);
    __syncthreads();
    const int root = is ? root_of(own, t) : -1;
    label[i] = is ? (y + root / 32) * map_edge + x + root % 32 : -1;
}

// Then only what is beside another tile.
__global__ void labels_borders(const Byte* dark, int* label) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % map_edge, y = i / map_edge;
    if (!dark[i]) return;
    if (x > 0 && x % 32 == 0 && dark[i - 1]) unite(label, i, i - 1);
    if (y > 0 && y % 8 == 0 && dark[i - map_edge]) unite(label, i, i - map_edge);
}

// A pixel starts with the first of its run among 32.
__global__ void labels_runs(const Byte* dark, int* label) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
    const bool is = dark[i];
    const unsigned light = ~__ballot_sync(~0u, is) & ((1u << lane) - 1);
    label[i] = is ? i - lane + 32 - __clz(light) : -1;
}

// Runs are united by their first pixels, and where they touch anew from above.
__global__ void labels_join(const Byte* dark, int* label) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % map_edge;
    const bool is = dark[i], up = i >= map_edge && dark[i - map_edge];
    if (!is) return;
    const bool left = x > 0 && dark[i - 1];
    if (left && x % 32 == 0) unite(label, i, i - 1);
    if (up && !(left && x % 32 > 0 && dark[i - map_edge - 1])) unite(label, i, i - map_edge);
}

void labels() {
    const int n = map_pixels;
    const auto dark =
        filled<Byte>(n, [](unsigned i) { return hash(i / map_edge / 4 * map_edge + i % map_edge / 4) % 100 < 55; });
    std::vector<int> first(n);
    for (int i = 0; i < n; ++i) {
        first[i] = dark[i] ? i : -1;
        for (const int next : {i % map_edge > 0 ? i - 1 : -1, i - map_edge}) {
            if (!dark[i] || next < 0 || !dark[next]) continue;
            const int a = root_of(first.data(), i), b = root_of(first.data(), next);
            first[std::max(a, b)] = std::min(a, b);
        }
    }
    Byte* ddark = to_device(dark);
    int *label = empty_array<int>(n), *out = empty_array<int>(n);
    const auto check = [&](std::size_t i) { return dark[i] ? root_of(first.data(), static_cast<int>(i)) : -1; };
    const auto show = [&](const char* what, auto launch) { measure(what, "1024^2", out, n, check, launch); };
    show("labels: pixels", [&] {
        labels_start<<<n / 256, 256>>>(ddark, label);
        labels_unite<<<n / 256, 256>>>(ddark, label);
        labels_end<<<n / 256, 256>>>(label, out);
    });
    show("labels: tiles", [&] {
        labels_tile<<<dim3(map_edge / 32, map_edge / 8), 256>>>(ddark, label);
        labels_borders<<<n / 256, 256>>>(ddark, label);
        labels_end<<<n / 256, 256>>>(label, out);
    });
    show("labels: runs", [&] {
        labels_runs<<<n / 256, 256>>>(ddark, label);
        labels_join<<<n / 256, 256>>>(ddark, label);
        labels_end<<<n / 256, 256>>>(label, out);
    });
    for (void* each : {(void*)ddark, (void*)label, (void*)out}) CHECK(cudaFree(each));
}

// --- how far each of 512 x 256 pixels is moved between two eyes: of 32 places, where 5 x 5 pixels differ least

constexpr int eye_wide = 512, eye_tall = 256, moves = 32, around = 2;

__global__ void stereo_global(const Byte* left, const Byte* right, Byte* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int least = 1 << 30, best = 0;
    for (int d = 0; d < moves; ++d) {
        int sum = 0;
        for (int v = -around; v <= around; ++v) {
            const int row = clamped(y + v, eye_tall) * eye_wide;
            for (int u = -around; u <= around; ++u)
                sum += abs(left[row + clamped(x + u, eye_wide)] - right[row + clamped(x + u - d, eye_wide)]);
        }
        if (sum < least) least = sum, best = d;
    }
    out[y * eye_wide + x] = static_cast<Byte>(best);
}

__global__ void stereo_shared(const Byte* left, const Byte* right, Byte* out) {
    __shared__ Byte own[12][36], other[12][36 + moves];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32, y = blockIdx.y * 8;
    for (int r = ty; r < 12; r += 8) {
        const int row = clamped(y + r - around, eye_tall) * eye_wide;
        for (int c = tx; c < 36; c += 32) own[r][c] = left[row + clamped(x + c - around, eye_wide)];
        for (int c = tx; c < 36 + moves; c += 32) other[r][c] = right[row + clamped(x + c - around - moves, eye_wide)];
    }
    __syncthreads();
    int least = 1 << 30, best = 0;
    for (int d = 0; d < moves; ++d) {
        int sum = 0;
#pragma unroll
        for (int k = 0; k < 25; ++k)
            sum += abs(own[ty + k / 5][tx + k % 5] - other[ty + k / 5][tx + k % 5 + moves - d]);
        if (sum < least) least = sum, best = d;
    }
    out[(y + ty) * eye_wide + x + tx] = static_cast<Byte>(best);
}

// 128 threads go down 16 rows; each keeps the sums of five pixels of its column for all places.
__global__ void stereo_columns(const Byte* left, const Byte* right, Byte* out) {
    __shared__ unsigned short sums[moves][128];
    const int t = threadIdx.x, x = blockIdx.x * 124 + t - around, top = blockIdx.y * 16;
    int column[moves] = {};
    for (int y = top - around; y < top + 16 + around; ++y) {
        const Byte *l = left + clamped(x, eye_wide), *r = right;
        const int in = clamped(y, eye_tall) * eye_wide, gone = clamped(y - 5, eye_tall) * eye_wide;
        const bool full = y > top + around;
#pragma unroll
        for (int d = 0; d < moves; ++d) {
            const int moved = clamped(x - d, eye_wide);
            column[d] += abs(l[in] - r[in + moved]);
            if (full) column[d] -= abs(l[gone] - r[gone + moved]);
            sums[d][t] = static_cast<unsigned short>(column[d]);
        }
        __syncthreads();
        if (y >= top + around && t >= around && t < 128 - around && x < eye_wide) {
            int least = 1 << 30, best = 0;
            for (int d = 0; d < moves; ++d) {
                const int sum = sums[d][t - 2] + sums[d][t - 1] + sums[d][t] + sums[d][t + 1] + sums[d][t + 2];
                if (sum < least) least = sum, best = d;
            }
            out[(y - around) * eye_wide + x] = static_cast<Byte>(best);
        }
        __syncthreads();
    }
}

void stereo() {
    const int n = eye_wide * eye_tall;
    const auto right = filled<Byte>(n, [](unsigned i) { return hash(i) % 200; });
    const auto left = filled<Byte>(n, [&](unsigned i) { return right[i - std::min(i, i / 64 % 29)] + hash(~i) % 20; });
    Byte *dl = to_device(left), *dr = to_device(right), *out = empty_array<Byte>(n);
    const auto check = [&](std::size_t i) {
        const int x = static_cast<int>(i % eye_wide), y = static_cast<int>(i / eye_wide);
        int least = 1 << 30, best = 0;
        for (int d = 0; d < moves; ++d) {
            int sum = 0;
            for (int k = 0; k < 25; ++k) {
                const int row = clamped(y + k / 5 - around, eye_tall) * eye_wide, u = x + k % 5 - around;
                sum += std::abs(left[row + clamped(u, eye_wide)] - right[row + clamped(u - d, eye_wide)]);
            }
            if (sum < least) least = sum, best = d;
        }
        return best;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "512 x 256, 32", out, n, check, launch); };
    const dim3 tiles(eye_wide / 32, eye_tall / 8), threads(32, 8);
    show("stereo: global", [&] { stereo_global<<<tiles, threads>>>(dl, dr, out); });
    show("stereo: shared", [&] { stereo_shared<<<tiles, threads>>>(dl, dr, out); });
    show("stereo: columns", [&] { stereo_columns<<<dim3(eye_wide / 124 + 1, eye_tall / 16), 128>>>(dl, dr, out); });
    for (Byte* each : {dl, dr, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "1", kernel_ms([] { empty<<<1, 32>>>(); }));
    demosaic();
    labels();
    stereo();
    return wrong;
}
