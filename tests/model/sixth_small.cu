// Sixth held-out set: first exercises, and smoke.
#include "families.cuh"

namespace {

// --- 16 MiB of letters, each moved 13 places on in the alphabet (Caesar)

constexpr unsigned moved = 13;

__global__ void caesar_bytes(const unsigned char* in, unsigned char* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned letter = in[i] + moved;
    if (letter > 'z') letter -= 26;
    out[i] = static_cast<unsigned char>(letter);
}

// Four at a time.
__device__ unsigned caesar(unsigned four) {
    four += moved * 0x01010101u;
    return four - (__vcmpgtu4(four, 'z' * 0x01010101u) & 26 * 0x01010101u);
}

__global__ void caesar_words(const unsigned* in, unsigned* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = caesar(in[i]);
}

__global__ void caesar_wide(const uint4* in, uint4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint4 all = in[i];
    out[i] = make_uint4(caesar(all.x), caesar(all.y), caesar(all.z), caesar(all.w));
}

void letters() {
    const int n = 1 << 24;
    const auto in = filled<unsigned char>(n, [](unsigned i) { return 'a' + hash(i) % 26; });
    unsigned char *din = to_device(in), *out = empty_array<unsigned char>(n);
    const auto check = [&](std::size_t i) { return 'a' + (in[i] - 'a' + moved) % 26; };
    const auto show = [&](const char* what, auto launch) { measure(what, "16 MiB", out, n, check, launch); };
    show("caesar: bytes", [&] { caesar_bytes<<<n / 256, 256>>>(din, out, n); });
    show("caesar: words", [&] {
        caesar_words<<<n / 4 / 256, 256>>>(reinterpret_cast<unsigned*>(din), reinterpret_cast<unsigned*>(out), n / 4);
    });
    show("caesar: wide", [&] {
        caesar_wide<<<n / 16 / 256, 256>>>(reinterpret_cast<uint4*>(din), reinterpret_cast<uint4*>(out), n / 16);
    });
    for (unsigned char* each : {din, out}) CHECK(cudaFree(each));
}

// --- pi as the integral of 4 / (1 + x^2), 2^20 steps, in doubles

constexpr int steps = 1 << 20;

__device__ double strip(int i) {
    const double x = (i + 0.5) / steps;
    return 4 / (1 + x * x) / steps;
}

__global__ void quadrature_clear(double* total) { *total = 0; }

__global__ void quadrature_atomics(double* total) { atomicAdd(total, strip(blockIdx.x * blockDim.x + threadIdx.x)); }

// A tree over 256 in shared memory, as it is drawn first: every second, every fourth thread...
__device__ void quadrature_tree(double value, double* out) {
    __shared__ double sums[256];
    sums[threadIdx.x] = value;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * d) == 0) sums[threadIdx.x] += sums[threadIdx.x + d];
    }
    if (threadIdx.x == 0) *out = sums[0];
}

__global__ void quadrature_strips(double* sums) {
    quadrature_tree(strip(blockIdx.x * blockDim.x + threadIdx.x), sums + blockIdx.x);
}

__global__ void quadrature_total(const double* sums, int count, double* total) {
    double sum = 0;
    for (int i = threadIdx.x; i < count; i += 256) sum += sums[i];
    quadrature_tree(sum, total);
}

// Many steps a thread, shuffles, one atomic a warp.
__global__ void quadrature_warps(double* total) {
    double sum = 0;
    FOR_GRID(i, steps) sum += strip(i);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

void quadrature() {
    const int blocks = steps / 256;
    double *sums = empty_array<double>(blocks), *out = empty_array<double>(1);
    const auto check = [](std::size_t) { return 3.14159265358979; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^20", out, 1, check, launch); };
    show("quadrature: atomics", [&] {
        quadrature_clear<<<1, 1>>>(out);
        quadrature_atomics<<<blocks, 256>>>(out);
    });
    show("quadrature: tree", [&] {
        quadrature_strips<<<blocks, 256>>>(sums);
        quadrature_total<<<1, 256>>>(sums, blocks, out);
    });
    show("quadrature: warps", [&] {
        quadrature_clear<<<1, 1>>>(out);
        quadrature_warps<<<264, 256>>>(out);
    });
    for (double* each : {sums, out}) CHECK(cudaFree(each));
}

// --- 2^17 keys sorted in chunks of 512: by swaps of neighbours, or by counting what is less

constexpr int chunk = 512;

__device__ void swap_steps(int* keys) {
    for (int step = 0; step < chunk; ++step) {
        __syncthreads();
        const int i = 2 * threadIdx.x + step % 2;
        if (i + 1 < chunk && keys[i] > keys[i + 1]) {
            const int key = keys[i];
            keys[i] = keys[i + 1];
            keys[i + 1] = key;
        }
    }
    __syncthreads();
}

__global__ void chunk_global(const int* in, int* out) {
    const int begin = blockIdx.x * chunk;
    for (int i = threadIdx.x; i < chunk; i += blockDim.x) out[begin + i] = in[begin + i];
    swap_steps(out + begin);
}

__global__ void chunk_shared(const int* in, int* out) {
    __shared__ int keys[chunk];
    const int begin = blockIdx.x * chunk;
    for (int i = threadIdx.x; i < chunk; i += blockDim.x) keys[i] = in[begin + i];
    swap_steps(keys);
    for (int i = threadIdx.x; i < chunk; i += blockDim.x) out[begin + i] = keys[i];
}

// A key's place is the number of keys that are less, or like it and before it.
__global__ void chunk_ranks(const int* in, int* out) {
    __shared__ int keys[chunk];
    const int begin = blockIdx.x * chunk, i = threadIdx.x;
    keys[i] = in[begin + i];
    __syncthreads();
    const int mine = keys[i];
    int rank = 0;
    for (int k = 0; k < chunk; ++k) rank += keys[k] < mine || (keys[k] == mine && k < i);
    out[begin + rank] = mine;
}

void chunks() {
    const int n = 1 << 17, blocks = n / chunk;
    const auto in = filled<int>(n, [](unsigned i) { return hash(i) % 10000; });
    auto sorted = in;
    for (int i = 0; i < n; i += chunk) std::sort(sorted.begin() + i, sorted.begin() + i + chunk);
    int *din = to_device(in), *out = empty_array<int>(n);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "2^17 by 512", out, n, [&](std::size_t i) { return sorted[i]; }, launch);
    };
    show("chunks: swaps, global", [&] { chunk_global<<<blocks, chunk / 2>>>(din, out); });
    show("chunks: swaps, shared", [&] { chunk_shared<<<blocks, chunk / 2>>>(din, out); });
    show("chunks: ranks", [&] { chunk_ranks<<<blocks, chunk>>>(din, out); });
    for (int* each : {din, out}) CHECK(cudaFree(each));
}

// --- smoke moves with the wind: density and both parts of the wind, from where it was a step ago (1024^2, linear)

constexpr int side = 1024, points = side * side;

// Where what is now in cell i was: the place of the cell's corner, and how far from it.
struct Origin {
    int at;
    float right, down;
};

__host__ __device__ inline Origin origin(int i, float u, float v) {
    const float last = side - 1.001f;
    const float x = fminf(fmaxf(static_cast<float>(i % side) - u, 0), last);
    const float y = fminf(fmaxf(static_cast<float>(i / side) - v, 0), last);
    const int left = static_cast<int>(x), top = static_cast<int>(y);
    return {top * side + left, x - static_cast<float>(left), y - static_cast<float>(top)};
}

template <class T, class Mix>
__host__ __device__ T between(const T* field, Origin from, Mix mix) {
    const T top = mix(field[from.at], field[from.at + 1], from.right);
    return mix(top, mix(field[from.at + side], field[from.at + side + 1], from.right), from.down);
}

struct Mix {
    __host__ __device__ float operator()(float a, float b, float t) const { return a + t * (b - a); }
    __device__ float4 operator()(float4 a, float4 b, float t) const {
        return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z), 0};
    }
};

__global__ void smoke_field(const float* field, const float* u, const float* v, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * side + x;
    out[i] = between(field, origin(i, u[i], v[i]), Mix());
}

__global__ void smoke_three(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * side + x;
    const Origin from = origin(i, in[points + i], in[2 * points + i]);
    for (int k = 0; k < 3; ++k) out[k * points + i] = between(in + k * points, from, Mix());
}

// All of a cell in one piece.
__global__ void smoke_packed(const float4* in, float4* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * side + x;
    out[i] = between(in, origin(i, in[i].y, in[i].z), Mix());
}

void smoke() {
    const int n = points;
    const auto in = filled<float>(3 * n, [](unsigned i) {
        const float x = i % side / 100.f, y = i % points / side / 100.f;
        return i < points ? random_float(i) : 6 * (i < 2 * points ? std::sin(y) : std::cos(x)) + random_float(i);
    });
    const auto packed = filled<float>(4 * n, [&](unsigned i) { return i % 4 < 3 ? in[i % 4 * n + i / 4] : 0; });
    float *din = to_device(in), *dp = to_device(packed), *out = empty_array<float>(4 * n);
    const auto check = [&](std::size_t i) {
        const int at = i % n;
        return between(in.data() + i / n * n, origin(at, in[n + at], in[2 * n + at]), Mix());
    };
    const auto check_packed = [&](std::size_t i) { return i % 4 < 3 ? check(i % 4 * n + i / 4) : 0; };
    const dim3 block(32, 8), grid(side / 32, side / 8);
    measure("smoke: fields", "1024^2", out, 3 * n, check, [&] {
        for (int k = 0; k < 3; ++k) smoke_field<<<grid, block>>>(din + k * n, din + n, din + 2 * n, out + k * n);
    });
    measure("smoke: three", "1024^2", out, 3 * n, check, [&] { smoke_three<<<grid, block>>>(din, out); });
    measure("smoke: packed", "1024^2", out, 4 * n, check_packed,
            [&] { smoke_packed<<<grid, block>>>(reinterpret_cast<float4*>(dp), reinterpret_cast<float4*>(out)); });
    for (float* each : {din, dp, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    letters();
    quadrature();
    chunks();
    smoke();
    return wrong;
}
