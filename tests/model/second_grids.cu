// Second held-out set: families of kernels on grids, and of few threads with long chains.
#include "families.cuh"

namespace {

__global__ void empty() {}

// --- a step of the wave equation in 3D, thirteen points

constexpr int edge = 192, plane = edge * edge;

__host__ __device__ inline float wave_step(float center, float previous, float near, float far) {
    return 2 * center - previous + 0.1f * (near * (4.0f / 3) - far * (1.0f / 12) - 7.5f * center);
}

__host__ __device__ inline float wave_point(const float* u, const float* previous, int i) {
    const float near = u[i - 1] + u[i + 1] + u[i - edge] + u[i + edge] + u[i - plane] + u[i + plane];
    const float far = u[i - 2] + u[i + 2] + u[i - 2 * edge] + u[i + 2 * edge] + u[i - 2 * plane] + u[i + 2 * plane];
    return wave_step(u[i], previous[i], near, far);
}

__host__ __device__ inline bool inside(int i) { return i >= 2 && i < edge - 2; }

__global__ void wave_global(const float* u, const float* previous, float* next) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (!inside(x) || !inside(y) || !inside(z)) return;
    const int i = z * plane + y * edge + x;
    next[i] = wave_point(u, previous, i);
}

// A thread goes up a column and keeps its five planes in registers.
__global__ void wave_columns(const float* u, const float* previous, float* next) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (!inside(x) || !inside(y)) return;
    int i = blockIdx.z * (edge / 8) * plane + y * edge + x;
    const int end = min(i + edge / 8 * plane, (edge - 2) * plane);
    if (blockIdx.z == 0) i += 2 * plane;
    float a = u[i - 2 * plane], b = u[i - plane], c = u[i], d = u[i + plane];
    for (; i < end; i += plane) {
        const float e = u[i + 2 * plane];
        const float near = u[i - 1] + u[i + 1] + u[i - edge] + u[i + edge] + b + d;
        next[i] = wave_step(c, previous[i], near, u[i - 2] + u[i + 2] + u[i - 2 * edge] + u[i + 2 * edge] + a + e);
        a = b, b = c, c = d, d = e;
    }
}

// The same with the middle plane in shared memory.
__global__ void wave_shared(const float* u, const float* previous, float* next) {
    __shared__ float tile[12][36];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, tx = threadIdx.x, ty = threadIdx.y;
    const bool own = inside(x0 + tx) && inside(y0 + ty);
    int z = max(2, static_cast<int>(blockIdx.z) * (edge / 8));
    const int end = min((static_cast<int>(blockIdx.z) + 1) * (edge / 8), edge - 2);
    const int column = (y0 + ty) * edge + x0 + tx;
    float a = u[(z - 2) * plane + column], b = u[(z - 1) * plane + column], c = u[z * plane + column],
          d = u[(z + 1) * plane + column];
    for (; z < end; ++z) {
        const float e = u[(z + 2) * plane + column];
        __syncthreads();
        for (int k = ty * 32 + tx; k < 12 * 36; k += 256) {
            const int x = x0 + k % 36 - 2, y = y0 + k / 36 - 2;
            tile[k / 36][k % 36] = x >= 0 && x < edge && y >= 0 && y < edge ? u[z * plane + y * edge + x] : 0;
        }
        __syncthreads();
        const int r = ty + 2, q = tx + 2;
        const float near = tile[r][q - 1] + tile[r][q + 1] + tile[r - 1][q] + tile[r + 1][q] + b + d;
        const float far = tile[r][q - 2] + tile[r][q + 2] + tile[r - 2][q] + tile[r + 2][q] + a + e;
        if (own) next[z * plane + column] = wave_step(c, previous[z * plane + column], near, far);
        a = b, b = c, c = d, d = e;
    }
}

void wave() {
    const auto u = filled<float>(edge * plane, random_float);
    const auto before = filled<float>(edge * plane, [](unsigned i) { return random_float(~i); });
    float *du = to_device(u), *dbefore = to_device(before), *out = empty_array<float>(edge * plane);
    const auto check = [&](std::size_t at) {
        const int i = static_cast<int>(at);
        const bool in = inside(i % edge) && inside(i / edge % edge) && inside(i / plane);
        return in ? wave_point(u.data(), before.data(), i) : 0;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "192^3", out, edge * plane, check, launch); };
    const dim3 block(32, 8);
    show("wave: global", [&] { wave_global<<<dim3(edge / 32, edge / 8, edge), block>>>(du, dbefore, out); });
    show("wave: columns", [&] { wave_columns<<<dim3(edge / 32, edge / 8, 8), block>>>(du, dbefore, out); });
    show("wave: shared", [&] { wave_shared<<<dim3(edge / 32, edge / 8, 8), block>>>(du, dbefore, out); });
    for (float* each : {du, dbefore, out}) CHECK(cudaFree(each));
}

// --- a step of lattice Boltzmann, nine directions, periodic

constexpr int side = 1024, cells = side * side;

// Relaxes the populations of one cell towards their equilibrium. Direction k goes to (k / 3 - 1, k % 3 - 1).
__host__ __device__ inline void collide(float* f) {
    float density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        density += f[k];
        ux += static_cast<float>(k / 3 - 1) * f[k];
        uy += static_cast<float>(k % 3 - 1) * f[k];
    }
    ux /= density, uy /= density;
    const float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const float along = 3 * (static_cast<float>(k / 3 - 1) * ux + static_cast<float>(k % 3 - 1) * uy);
        const float weight = (k / 3 == 1 ? 2.0f / 3 : 1.0f / 6) * (k % 3 == 1 ? 2.0f / 3 : 1.0f / 6);
        f[k] += 0.6f * (weight * density * (1 + along + 0.5f * along * along - square) - f[k]);
    }
}

// The cell in direction k of (x, y), or against it.
__host__ __device__ inline int neighbour(int x, int y, int k, int sign) {
    return ((y + sign * (k % 3 - 1)) & (side - 1)) * side + ((x + sign * (k / 3 - 1)) & (side - 1));
}

__global__ void lbm_structs(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % side, y = i / side;
    float f[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) f[k] = in[neighbour(x, y, k, -1) * 9 + k];
    collide(f);
#pragma unroll
    for (int k = 0; k < 9; ++k) out[i * 9 + k] = f[k];
}

__global__ void lbm_pull(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % side, y = i / side;
    float f[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) f[k] = in[k * cells + neighbour(x, y, k, -1)];
    collide(f);
#pragma unroll
    for (int k = 0; k < 9; ++k) out[k * cells + i] = f[k];
}

__global__ void lbm_push(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % side, y = i / side;
    float f[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) f[k] = in[k * cells + i];
    collide(f);
#pragma unroll
    for (int k = 0; k < 9; ++k) out[k * cells + neighbour(x, y, k, 1)] = f[k];
}

void lbm() {
    const auto by_direction = filled<float>(9 * cells, [](unsigned i) { return 0.1f + 0.02f * random_float(i); });
    const auto by_cell = filled<float>(9 * cells, [&](unsigned i) { return by_direction[i % 9 * cells + i / 9]; });
    float *dd = to_device(by_direction), *dc = to_device(by_cell), *out = empty_array<float>(9 * cells);
    // Direction k of `cell`, whose populations come from `sign` times each direction.
    const auto population = [&](int cell, int k, int sign) {
        float f[9];
        for (int j = 0; j < 9; ++j) f[j] = by_direction[j * cells + neighbour(cell % side, cell / side, j, sign)];
        collide(f);
        return f[k];
    };
    const int blocks = cells / 128;
    measure(
        "lbm: structs", "1024^2", out, 9 * cells, [&](std::size_t i) { return population(i / 9, i % 9, -1); },
        [&] { lbm_structs<<<blocks, 128>>>(dc, out); });
    measure(
        "lbm: pull", "1024^2", out, 9 * cells, [&](std::size_t i) { return population(i % cells, i / cells, -1); },
        [&] { lbm_pull<<<blocks, 128>>>(dd, out); });
    measure(
        "lbm: push", "1024^2", out, 9 * cells,
        [&](std::size_t i) {
            const int k = i / cells, cell = i % cells;
            return population(neighbour(cell % side, cell / side, k, -1), k, 0);
        },
        [&] { lbm_push<<<blocks, 128>>>(dd, out); });
    for (float* each : {dd, dc, out}) CHECK(cudaFree(each));
}

// --- new spins of the white fields of an Ising model

constexpr int board = 4096;

__host__ __device__ inline float chance(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return static_cast<float>((x ^ x >> 16) >> 8) / (1 << 24);
}

__host__ __device__ inline int field_sum(const signed char* s, int x, int y) {
    return s[y * board + (x + 1) % board] + s[y * board + (x + board - 1) % board] + s[(y + 1) % board * board + x] +
           s[(y + board - 1) % board * board + x];
}

__host__ __device__ inline signed char flipped(int spin, int sum, unsigned i) {
    return static_cast<signed char>(chance(i) < expf(-0.88f * static_cast<float>(spin * sum)) ? -spin : spin);
}

// Half of the threads stand on black fields.
__global__ void ising_fields(const signed char* s, signed char* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if ((x + y) % 2 != 0) return;
    out[(y * board + x) / 2] = flipped(s[y * board + x], field_sum(s, x, y), (y * board + x) / 2);
}

__global__ void ising_white(const signed char* s, signed char* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / (board / 2), x = i % (board / 2) * 2 + y % 2;
    out[i] = flipped(s[y * board + x], field_sum(s, x, y), i);
}

// White and black fields in arrays of their own, four a thread, chances from a table.
__global__ void ising_colors(const char4* white, const signed char* black, char4* out) {
    __shared__ float odds[9];
    if (threadIdx.x < 9) odds[threadIdx.x] = expf(-0.88f * (static_cast<int>(threadIdx.x) - 4));
    __syncthreads();
    constexpr int half = board / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, y = i * 4 / half, x = i * 4 % half;
    const char4 above = reinterpret_cast<const char4*>(black)[(y + board - 1) % board * (half / 4) + x / 4],
                same = reinterpret_cast<const char4*>(black)[i],
                below = reinterpret_cast<const char4*>(black)[(y + 1) % board * (half / 4) + x / 4];
    // Even rows begin with a white field, whose left neighbour is the black field before.
    const int other = black[y * half + (y % 2 == 0 ? x + half - 1 : x + 4) % half];
    const int first = y % 2 == 0 ? other : same.y, last = y % 2 == 0 ? same.z : other;
    const int middle = y % 2 == 0 ? same.x : same.z;
    const int sums[4] = {above.x + same.x + below.x + first, above.y + same.y + below.y + middle,
                         above.z + same.z + below.z + (y % 2 == 0 ? same.y : same.w),
                         above.w + same.w + below.w + last};
    const char4 spin = white[i];
    signed char s[4] = {spin.x, spin.y, spin.z, spin.w};
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (chance(i * 4 + k) < odds[s[k] * sums[k] + 4]) s[k] = -s[k];
    out[i] = {s[0], s[1], s[2], s[3]};
}

void ising() {
    const int count = board * board;
    const auto s = filled<signed char>(count, [](unsigned i) { return hash(i) % 2 * 2.0 - 1; });
    const auto color = [&](int which) {
        return filled<signed char>(count / 2, [&](unsigned i) {
            const int y = i / (board / 2);
            return s[y * board + i % (board / 2) * 2 + (y + which) % 2];
        });
    };
    signed char *ds = to_device(s), *white = to_device(color(0)), *black = to_device(color(1)),
                *out = empty_array<signed char>(count / 2);
    const auto check = [&](std::size_t i) {
        const int y = i / (board / 2), x = i % (board / 2) * 2 + y % 2;
        return flipped(s[y * board + x], field_sum(s.data(), x, y), i);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096^2", out, count / 2, check, launch); };
    show("ising: all fields", [&] { ising_fields<<<dim3(board / 256, board), 256>>>(ds, out); });
    show("ising: white fields", [&] { ising_white<<<count / 512, 256>>>(ds, out); });
    show("ising: colors", [&] { ising_colors<<<count / 2048, 256>>>((const char4*)white, black, (char4*)out); });
    for (signed char* each : {ds, white, black, out}) CHECK(cudaFree(each));
}

// --- orbits of Lorenz's equations from 256 starts: few threads, each a long chain

template <class T>
__host__ __device__ void lorenz_step(T& x, T& y, T& z) {
    const T h = static_cast<T>(0.002);
    T sx = 0, sy = 0, sz = 0, dx = 0, dy = 0, dz = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {  // Runge-Kutta
        const T part = k == 0 ? T(0) : k == 3 ? h : h / 2, weight = k == 0 || k == 3 ? h / 6 : h / 3;
        const T u = x + part * dx, v = y + part * dy, w = z + part * dz;
        dx = 10 * (v - u), dy = u * (28 - w) - v, dz = u * v - w * T(8.0 / 3);
        sx += weight * dx, sy += weight * dy, sz += weight * dz;
    }
    x += sx, y += sy, z += sz;
}

template <class T>
__host__ __device__ float lorenz_orbit(float start) {
    T x = start, y = 1, z = 20;
    for (int k = 0; k < 500; ++k) lorenz_step(x, y, z);
    return static_cast<float>(x);
}

template <class T>
__global__ void lorenz_thread(const float* starts, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = lorenz_orbit<T>(starts[i]);
}

// One warp, which has eight orbits a lane in turn.
__global__ void lorenz_warp(const float* starts, float* out) {
    for (int i = threadIdx.x; i < 256; i += 32) out[i] = lorenz_orbit<float>(starts[i]);
}

// One warp, which has eight orbits a lane at once.
__global__ void lorenz_together(const float* starts, float* out) {
    float x[8], y[8], z[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = starts[k * 32 + threadIdx.x], y[k] = 1, z[k] = 20;
    for (int step = 0; step < 500; ++step)
#pragma unroll
        for (int k = 0; k < 8; ++k) lorenz_step(x[k], y[k], z[k]);
#pragma unroll
    for (int k = 0; k < 8; ++k) out[k * 32 + threadIdx.x] = x[k];
}

void lorenz() {
    const auto starts = filled<float>(256, random_float);
    float *ds = to_device(starts), *out = empty_array<float>(256);
    const auto check = [&](std::size_t i) { return lorenz_orbit<double>(starts[i]); };
    const auto show = [&](const char* what, auto launch) { measure(what, "256 orbits", out, 256, check, launch); };
    show("lorenz: one block", [&] { lorenz_thread<float><<<1, 256>>>(ds, out); });
    show("lorenz: double", [&] { lorenz_thread<double><<<8, 32>>>(ds, out); });
    show("lorenz: one warp", [&] { lorenz_warp<<<1, 32>>>(ds, out); });
    show("lorenz: together", [&] { lorenz_together<<<1, 32>>>(ds, out); });
    CHECK(cudaFree(ds));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    row("empty", "one block", kernel_ms([] { empty<<<1, 32>>>(); }));
    wave();
    lbm();
    ising();
    lorenz();
    return wrong;
}
