// Fourth held-out set: families of signals and of steps in time.
#include "families.cuh"

namespace {

// --- a recursive filter of second order along each of 4096 channels of 1024 samples

constexpr int channels = 4096, samples = 1024;

struct Filter {
    float a = 0, b = 0;  // state (transposed direct form II)

    __host__ __device__ float operator()(float x) {
        const float y = 0.2f * x + a;
        a = 0.3f * x + 0.9f * y + b;
        b = 0.1f * x - 0.4f * y;
        return y;
    }
};

// Sample t of channel c is at c * channel + t * step.
__global__ void filter_strided(const float* in, float* out, int channel, int step) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * channel;
    Filter filter;
    for (int t = 0; t < samples; ++t) out[first + t * step] = filter(in[first + t * step]);
}

__global__ void filter_vectors(const float4* in, float4* out) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * (samples / 4);
    Filter filter;
    for (int t = 0; t < samples / 4; ++t) {
        float4 x = in[first + t];
        x.x = filter(x.x), x.y = filter(x.y), x.z = filter(x.z), x.w = filter(x.w);
        out[first + t] = x;
    }
}

// A warp has 32 channels and turns tiles of 32 samples in shared memory.
__global__ void filter_tiles(const float* in, float* out) {
    __shared__ float tile[32][33];
    const int lane = threadIdx.x, first = blockIdx.x * 32 * samples;
    Filter filter;
    for (int t = 0; t < samples; t += 32) {
        for (int c = 0; c < 32; ++c) tile[c][lane] = in[first + c * samples + t + lane];
        __syncwarp();
        for (int k = 0; k < 32; ++k) tile[lane][k] = filter(tile[lane][k]);
        __syncwarp();
        for (int c = 0; c < 32; ++c) out[first + c * samples + t + lane] = tile[c][lane];
        __syncwarp();
    }
}

void filters() {
    const int n = channels * samples;
    const auto in = filled<float>(n, random_float);
    const auto turned = filled<float>(n, [&](unsigned i) { return in[i % channels * samples + i / channels]; });
    float *din = to_device(in), *dturned = to_device(turned), *out = empty_array<float>(n);
    const auto sample = [&](std::size_t c, std::size_t t) {
        Filter filter;
        for (std::size_t k = 0; k < t; ++k) filter(in[c * samples + k]);
        return filter(in[c * samples + t]);
    };
    const auto check = [&](std::size_t i) { return sample(i / samples, i % samples); };
    const auto check_turned = [&](std::size_t i) { return sample(i % channels, i / channels); };
    const char* size = "4096 of 1024";
    measure("filter: rows", size, out, n, check, [&] { filter_strided<<<64, 64>>>(din, out, samples, 1); });
    measure("filter: vectors", size, out, n, check, [&] { filter_vectors<<<64, 64>>>((float4*)din, (float4*)out); });
    measure("filter: tiles", size, out, n, check, [&] { filter_tiles<<<channels / 32, 32>>>(din, out); });
    measure("filter: columns", size, out, n, check_turned,
            [&] { filter_strided<<<64, 64>>>(dturned, out, 1, channels); });
    for (float* each : {din, dturned, out}) CHECK(cudaFree(each));
}

// --- cosine transform of blocks of 8 x 8 of an image of 2048^2

constexpr int edge = 2048, pixels = edge * edge;
__constant__ float cosines[64];  // by frequency and place

// A thread a result.
__global__ void dct_direct(const float* in, float* out) {
    const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const float* corner = in + blockIdx.y * 8 * edge + blockIdx.x * 8;
    float sum = 0;
    for (int k = 0; k < 64; ++k)
        sum += cosines[threadIdx.y * 8 + k / 8] * cosines[threadIdx.x * 8 + k % 8] * corner[k / 8 * edge + k % 8];
    out[y * edge + x] = sum;
}

// Rows first, then columns; a block of 32 x 8 threads has four blocks side by side.
__global__ void dct_shared(const float* in, float* out) {
    __shared__ float tile[8][32], rows[8][32], table[64];
    const int x = threadIdx.x, y = threadIdx.y, u = x % 8, at = (blockIdx.y * 8 + y) * edge + blockIdx.x * 32 + x;
    if (y < 2) table[y * 32 + x] = cosines[y * 32 + x];
    tile[y][x] = in[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += table[u * 8 + k] * tile[y][x - u + k];
    rows[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; ++k) sum += table[y * 8 + k] * rows[k][x];
    out[at] = sum;
}

__device__ inline void transform_eight(float* x) {
    float result[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 8; ++k) sum += cosines[u * 8 + k] * x[k];
        result[u] = sum;
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) x[u] = result[u];
}

// A thread has a column of eight in registers, then a row of what eight threads have put in shared memory.
__global__ void dct_registers(const float* in, float* out) {
    __shared__ float tile[8][129];
    const int t = threadIdx.x, u = t % 8, at = blockIdx.y * 8 * edge + blockIdx.x * 128 + t;
    float x[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = in[at + k * edge];
    transform_eight(x);
#pragma unroll
    for (int k = 0; k < 8; ++k) tile[k][t] = x[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = tile[u][t - u + k];
    transform_eight(x);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) tile[u][t - u + k] = x[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) out[at + k * edge] = tile[k][t];
}

void dct() {
    const auto in = filled<float>(pixels, random_float);
    const auto table = filled<float>(
        64, [](unsigned i) { return std::cos((2 * (i % 8) + 1) * (i / 8) * 0.19634954) * (i < 8 ? 0.35355339 : 0.5); });
    CHECK(cudaMemcpyToSymbol(cosines, table.data(), sizeof cosines));
    float *din = to_device(in), *out = empty_array<float>(pixels);
    const auto check = [&](std::size_t i) {
        const std::size_t x = i % edge, y = i / edge;
        double sum = 0;
        for (std::size_t k = 0; k < 64; ++k)
            sum += table[y % 8 * 8 + k / 8] * table[x % 8 * 8 + k % 8] *
                   in[(y / 8 * 8 + k / 8) * edge + x / 8 * 8 + k % 8];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, pixels, check, launch); };
    show("dct: direct", [&] { dct_direct<<<dim3(edge / 8, edge / 8), dim3(8, 8)>>>(din, out); });
    show("dct: shared", [&] { dct_shared<<<dim3(edge / 32, edge / 8), dim3(32, 8)>>>(din, out); });
    show("dct: registers", [&] { dct_registers<<<dim3(edge / 128, edge / 8), 128>>>(din, out); });
    for (float* each : {din, out}) CHECK(cudaFree(each));
}

// --- sixteen steps of heat along a rod of 2^20 points, in doubles; the ends stay

constexpr int points = 1 << 20, steps = 16;

__host__ __device__ inline double warmed(double left, double own, double right) {
    return own + 0.25 * (left - 2 * own + right);
}

__global__ void heat_step(const double* in, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i == 0 || i == points - 1 ? in[i] : warmed(in[i - 1], in[i], in[i + 1]);
}

// All steps at once: of a block's 256 points, 224 are right in the end.
__global__ void heat_shared(const double* in, double* out) {
    __shared__ double line[2][256];
    const int k = threadIdx.x, i = blockIdx.x * (256 - 2 * steps) + k - steps;
    const bool inner = i > 0 && i < points - 1 && k > 0 && k < 255;
    line[0][k] = line[1][k] = i >= 0 && i < points ? in[i] : 0;
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        const double* from = line[s % 2];
        if (inner) line[1 - s % 2][k] = warmed(from[k - 1], from[k], from[k + 1]);
        __syncthreads();
    }
    if (k >= steps && k < 256 - steps && i < points) out[i] = line[steps % 2][k];
}

// A warp has 128 points, four a lane, of which 96 are right in the end.
__global__ void heat_warp(const double* in, double* out) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 96 - steps + lane * 4;
    double own[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) own[k] = first + k >= 0 && first + k < points ? in[first + k] : 0;
    for (int s = 0; s < steps; ++s) {
        double left = __shfl_up_sync(~0u, own[3], 1);
        const double right = __shfl_down_sync(~0u, own[0], 1);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const double before = own[k];
            if (first + k > 0 && first + k < points - 1) own[k] = warmed(left, before, k < 3 ? own[k + 1] : right);
            left = before;
        }
    }
    if (lane >= steps / 4 && lane < 32 - steps / 4)
        for (int k = 0; k < 4; ++k)
            if (first + k < points) out[first + k] = own[k];
}

void heat() {
    const auto in = filled<double>(points, [](unsigned i) { return random_float(i) + i * 1e-6; });
    double *din = to_device(in), *between = empty_array<double>(points), *out = empty_array<double>(points);
    auto warm = in;
    for (int s = 0; s < steps; ++s) {
        const auto before = warm;
        for (int i = 1; i < points - 1; ++i) warm[i] = warmed(before[i - 1], before[i], before[i + 1]);
    }
    const auto check = [&](std::size_t i) { return warm[i]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^20", out, points, check, launch); };
    show("heat: launches", [&] {
        for (int s = 0; s < steps; s += 2) {
            heat_step<<<points / 256, 256>>>(s == 0 ? din : out, between);
            heat_step<<<points / 256, 256>>>(between, out);
        }
    });
    show("heat: shared", [&] { heat_shared<<<points / 224 + 1, 256>>>(din, out); });
    show("heat: warp", [&] { heat_warp<<<points / (96 * 8) + 1, 256>>>(din, out); });
    for (double* each : {din, between, out}) CHECK(cudaFree(each));
}

// --- a step of shallow water on a torus of 1024^2 (Lax and Friedrichs): heights and flows

constexpr int basin = 1024;

struct Cell {
    float h, u, v;
};

__host__ __device__ inline Cell flow(Cell west, Cell east, Cell south, Cell north) {
    constexpr float rate = 0.1f, g = 9.81f;
    const auto across = [](Cell c) { return c.u * c.u / c.h + g / 2 * c.h * c.h; };
    const auto along = [](Cell c) { return c.v * c.v / c.h + g / 2 * c.h * c.h; };
    const auto both = [](Cell c) { return c.u * c.v / c.h; };
    return {
        (west.h + east.h + south.h + north.h) / 4 - rate * (east.u - west.u + north.v - south.v),
        (west.u + east.u + south.u + north.u) / 4 - rate * (across(east) - across(west) + both(north) - both(south)),
        (west.v + east.v + south.v + north.v) / 4 - rate * (both(east) - both(west) + along(north) - along(south))};
}

__global__ void water_structs(const Cell* in, Cell* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, last = basin - 1;
    const Cell *row = in + y * basin, *south = in + (y - 1 & last) * basin, *north = in + (y + 1 & last) * basin;
    out[y * basin + x] = flow(row[x - 1 & last], row[x + 1 & last], south[x], north[x]);
}

// Heights, then flows to the east, then flows to the north.
__device__ inline Cell plane_cell(const float* in, int x, int y) {
    const int i = (y & basin - 1) * basin + (x & basin - 1);
    return {in[i], in[basin * basin + i], in[2 * basin * basin + i]};
}

__device__ inline void put_cell(float* out, int x, int y, Cell c) {
    const int i = y * basin + x;
    out[i] = c.h, out[basin * basin + i] = c.u, out[2 * basin * basin + i] = c.v;
}

__global__ void water_planes(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    put_cell(
        out, x, y,
        flow(plane_cell(in, x - 1, y), plane_cell(in, x + 1, y), plane_cell(in, x, y - 1), plane_cell(in, x, y + 1)));
}

__global__ void water_shared(const float* in, float* out) {
    __shared__ Cell tile[10][34];
    const int left = blockIdx.x * 32 - 1, bottom = blockIdx.y * 8 - 1, x = threadIdx.x + 1, y = threadIdx.y + 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256)
        tile[i / 34][i % 34] = plane_cell(in, left + i % 34, bottom + i / 34);
    __syncthreads();
    put_cell(out, left + x, bottom + y, flow(tile[y][x - 1], tile[y][x + 1], tile[y - 1][x], tile[y + 1][x]));
}

void water() {
    const int n = basin * basin;
    const auto cells = filled<Cell>(n, [](unsigned i) {
        return Cell{1 + random_float(i), random_float(~i) - 0.5f, random_float(i * 3) - 0.5f};
    });
    const auto part = [](const Cell& c, std::size_t which) { return which == 0 ? c.h : which == 1 ? c.u : c.v; };
    const auto planes = filled<float>(3 * n, [&](unsigned i) { return part(cells[i % n], i / n); });
    Cell* structs = to_device(cells);
    float *din = to_device(planes), *out = empty_array<float>(3 * n);
    const auto cell = [&](std::size_t i) {
        const std::size_t x = i % basin, row = i - x;
        return flow(cells[row + (x + basin - 1) % basin], cells[row + (x + 1) % basin], cells[(i + n - basin) % n],
                    cells[(i + basin) % n]);
    };
    const auto check_structs = [&](std::size_t i) { return part(cell(i / 3), i % 3); };
    const auto check = [&](std::size_t i) { return part(cell(i % n), i / n); };
    const dim3 blocks(basin / 32, basin / 8), threads(32, 8);
    measure("water: structs", "1024^2", out, 3 * n, check_structs,
            [&] { water_structs<<<blocks, threads>>>(structs, (Cell*)out); });
    measure("water: planes", "1024^2", out, 3 * n, check, [&] { water_planes<<<blocks, threads>>>(din, out); });
    measure("water: shared", "1024^2", out, 3 * n, check, [&] { water_shared<<<blocks, threads>>>(din, out); });
    for (void* each : {(void*)structs, (void*)din, (void*)out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    filters();
    dct();
    heat();
    water();
    return wrong;
}
