// Eighth held-out set: filters of images, a step of conjugate gradients, and the softmax of rows.
#include "families.cuh"

namespace {

// --- a filter of 5 x 5 over 2048 x 1536, zero outside

constexpr int wide = 2048, high = 1536, reach = 2, taps = 2 * reach + 1;
__constant__ float weights[taps][taps];

__global__ void plane_global(const float* in, const float* filter, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int fy = 0; fy < taps; ++fy)
        for (int fx = 0; fx < taps; ++fx) {
            const int row = y - reach + fy, column = x - reach + fx;
            if (row >= 0 && row < high && column >= 0 && column < wide)
                sum += filter[fy * taps + fx] * in[row * wide + column];
        }
    out[y * wide + x] = sum;
}

__global__ void plane_constant(const float* in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int fy = 0; fy < taps; ++fy)
        for (int fx = 0; fx < taps; ++fx) {
            const int row = y - reach + fy, column = x - reach + fx;
            if (row >= 0 && row < high && column >= 0 && column < wide)
                sum += weights[fy][fx] * in[row * wide + column];
        }
    out[y * wide + x] = sum;
}

constexpr int tile_in = 32, tile_out = tile_in - 2 * reach;

// A thread an element of the tile; those at its edges only load.
__global__ void plane_tile(const float* in, float* out) {
    __shared__ float tile[tile_in][tile_in];
    const int tx = threadIdx.x - reach, ty = threadIdx.y - reach;
    const int x = blockIdx.x * tile_out + tx, y = blockIdx.y * tile_out + ty;
    const bool inside = x >= 0 && x < wide && y >= 0 && y < high;
    tile[threadIdx.y][threadIdx.x] = inside ? in[y * wide + x] : 0;
    __syncthreads();
    if (!inside || tx < 0 || tx >= tile_out || ty < 0 || ty >= tile_out) return;
    float sum = 0;
    for (int fy = 0; fy < taps; ++fy)
        for (int fx = 0; fx < taps; ++fx) sum += weights[fy][fx] * tile[ty + fy][tx + fx];
    out[y * wide + x] = sum;
}

// The tile has only what the block computes; what is around it comes from the caches.
__global__ void plane_cached(const float* in, float* out) {
    __shared__ float tile[32][32];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * wide + x];
    __syncthreads();
    float sum = 0;
    for (int fy = 0; fy < taps; ++fy)
        for (int fx = 0; fx < taps; ++fx) {
            const int tx = threadIdx.x - reach + fx, ty = threadIdx.y - reach + fy;
            const int column = x - reach + fx, row = y - reach + fy;
            if (tx >= 0 && tx < 32 && ty >= 0 && ty < 32)
                sum += weights[fy][fx] * tile[ty][tx];
            else if (row >= 0 && row < high && column >= 0 && column < wide)
                sum += weights[fy][fx] * in[row * wide + column];
        }
    out[y * wide + x] = sum;
}

void plane() {
    const int n = wide * high;
    const auto in = filled<float>(n, random_float);
    const auto filter = filled<float>(taps * taps, [](unsigned i) { return random_float(~i) - 0.4f; });
    CHECK(cudaMemcpyToSymbol(weights, filter.data(), sizeof weights));
    float *din = to_device(in), *df = to_device(filter), *out = empty_array<float>(n);
    const auto check = [&](std::size_t at) {
        const int x = at % wide, y = at / wide;
        double sum = 0;
        for (int k = 0; k < taps * taps; ++k) {
            const int row = y - reach + k / taps, column = x - reach + k % taps;
            if (row < 0 || row >= high || column < 0 || column >= wide) continue;
            sum += double(filter[k]) * in[row * wide + column];
        }
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048 x 1536, 5^2", out, n, check, launch); };
    const dim3 small(16, 16), large(32, 32);
    show("plane filter: global", [&] { plane_global<<<dim3(wide / 16, high / 16), small>>>(din, df, out); });
    show("plane filter: constant", [&] { plane_constant<<<dim3(wide / 16, high / 16), small>>>(din, out); });
    show("plane filter: tile", [&] {
        plane_tile<<<dim3((wide + tile_out - 1) / tile_out, (high + tile_out - 1) / tile_out), large>>>(din, out);
    });
    show("plane filter: cached", [&] { plane_cached<<<dim3(wide / 32, high / 32), large>>>(din, out); });
    for (float* each : {din, df, out}) CHECK(cudaFree(each));
}

// --- a step of conjugate gradients for diffusion on 1536 x 1024 points, zero outside

constexpr int nx = 1536, ny = 1024, unknowns = nx * ny;
constexpr double middle = 4.1;

// In the first thread of a block of 256.
__device__ inline double block_total(double value) {
    __shared__ double totals[8];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(~0u, value, d);
    if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = value;
    __syncthreads();
    for (int w = 1; w < 8 && threadIdx.x == 0; ++w) value += totals[w];
    return value;
}

__device__ inline double diffused(const double* p, int x, int y) {
    const int i = y * nx + x;
    double sum = middle * p[i];
    if (x > 0) sum -= p[i - 1];
    if (x < nx - 1) sum -= p[i + 1];
    if (y > 0) sum -= p[i - nx];
    if (y < ny - 1) sum -= p[i + nx];
    return sum;
}

__global__ void gradients_apply(const double* p, double* q) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    q[y * nx + x] = diffused(p, x, y);
}

__global__ void gradients_dot(const double* a, const double* b, double* partial) {
    double sum = 0;
    FOR_GRID(i, unknowns) sum += a[i] * b[i];
    sum = block_total(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void gradients_finish(const double* partial, int count, double* out) {
    double sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += partial[i];
    sum = block_total(sum);
    if (threadIdx.x == 0) *out = sum;
}

// a + sign * (top / bottom) * b
__global__ void gradients_add(const double* a, const double* b, double* out, double sign, const double* top,
                              const double* bottom) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + sign * (*top / *bottom) * b[i];
}

// Scalars of a step: the squared residual before it, p A p, and the squared residual after it.
enum { before, curvature, after };

__global__ void gradients_clear(double* scalars) { scalars[curvature] = scalars[after] = 0; }

__global__ void gradients_apply_dot(const double* p, double* q, double* scalars) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const double applied = diffused(p, x, y), sum = block_total(applied * p[y * nx + x]);
    q[y * nx + x] = applied;
    if (threadIdx.x == 0) atomicAdd(&scalars[curvature], sum);
}

// Sixteen rows a thread, of which three are in registers.
__global__ void gradients_apply_rows(const double* p, double* q, double* scalars) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 16;
    double up = first > 0 ? p[(first - 1) * nx + x] : 0, here = p[first * nx + x], sum = 0;
    for (int y = first; y < first + 16; ++y) {
        const int i = y * nx + x;
        const double down = y < ny - 1 ? p[i + nx] : 0;
        const double left = x > 0 ? p[i - 1] : 0, right = x < nx - 1 ? p[i + 1] : 0;
        const double applied = middle * here - up - down - left - right;
        q[i] = applied;
        sum += applied * here;
        up = here, here = down;
    }
    sum = block_total(sum);
    if (threadIdx.x == 0) atomicAdd(&scalars[curvature], sum);
}

__device__ inline double plus(double a, double factor, double b) { return a + factor * b; }
__device__ inline double2 plus(double2 a, double factor, double2 b) {
    return make_double2(a.x + factor * b.x, a.y + factor * b.y);
}
__device__ inline double squared(double a) { return a * a; }
__device__ inline double squared(double2 a) { return a.x * a.x + a.y * a.y; }

template <class T>
__global__ void gradients_update(const T* x, const T* r, const T* p, const T* q, T* x_out, T* r_out, double* scalars) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double alpha = scalars[before] / scalars[curvature];
    const T residual = plus(r[i], -alpha, q[i]);
    x_out[i] = plus(x[i], alpha, p[i]);
    r_out[i] = residual;
    const double sum = block_total(squared(residual));
    if (threadIdx.x == 0) atomicAdd(&scalars[after], sum);
}

template <class T>
__global__ void gradients_turn(const T* r, const T* p, T* p_out, const double* scalars) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    p_out[i] = plus(r[i], scalars[after] / scalars[before], p[i]);
}

void gradients() {
    const auto value = [](unsigned seed) { return [=](unsigned i) { return random_float(i ^ seed) - 0.5f; }; };
    const auto x = filled<double>(unknowns, value(0)), r = filled<double>(unknowns, value(~0u));
    const auto p = filled<double>(unknowns, value(0x55555555u));
    std::vector<double> q(unknowns), want(unknowns);
    double old = 0, curved = 0, next = 0;
    for (int i = 0; i < unknowns; ++i) {
        const int column = i % nx, line = i / nx;
        q[i] = middle * p[i] - (column > 0 ? p[i - 1] : 0) - (column < nx - 1 ? p[i + 1] : 0) -
               (line > 0 ? p[i - nx] : 0) - (line < ny - 1 ? p[i + nx] : 0);
        old += r[i] * r[i], curved += p[i] * q[i];
    }
    for (int i = 0; i < unknowns; ++i) want[i] = r[i] - old / curved * q[i], next += want[i] * want[i];
    for (int i = 0; i < unknowns; ++i) want[i] += next / old * p[i];
    double *dx = to_device(x), *dr = to_device(r), *dp = to_device(p), *dq = empty_array<double>(unknowns);
    double *x_next = empty_array<double>(unknowns), *r_next = empty_array<double>(unknowns);
    double *out = empty_array<double>(unknowns), *partial = empty_array<double>(512);
    double* scalars = to_device(std::vector<double>{old, 0, 0});
    const auto check = [&](std::size_t i) { return want[i]; };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "1536 x 1024", out, unknowns, check, launch);
    };
    const int blocks = unknowns / 256;
    show("conjugate: separate", [&] {
        gradients_apply<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(dp, dq);
        gradients_dot<<<512, 256>>>(dp, dq, partial);
        gradients_finish<<<1, 256>>>(partial, 512, scalars + curvature);
        gradients_add<<<blocks, 256>>>(dx, dp, x_next, 1, scalars + before, scalars + curvature);
        gradients_add<<<blocks, 256>>>(dr, dq, r_next, -1, scalars + before, scalars + curvature);
        gradients_dot<<<512, 256>>>(r_next, r_next, partial);
        gradients_finish<<<1, 256>>>(partial, 512, scalars + after);
        gradients_add<<<blocks, 256>>>(r_next, dp, out, 1, scalars + after, scalars + before);
    });
    show("conjugate: fused", [&] {
        gradients_clear<<<1, 1>>>(scalars);
        gradients_apply_dot<<<dim3(nx / 256, ny), 256>>>(dp, dq, scalars);
        gradients_update<<<blocks, 256>>>(dx, dr, dp, dq, x_next, r_next, scalars);
        gradients_turn<<<blocks, 256>>>(r_next, dp, out, scalars);
    });
    show("conjugate: rows", [&] {
        const auto two = [](double* each) { return reinterpret_cast<double2*>(each); };
        gradients_clear<<<1, 1>>>(scalars);
        gradients_apply_rows<<<dim3(nx / 256, ny / 16), 256>>>(dp, dq, scalars);
        gradients_update<<<blocks / 2, 256>>>(two(dx), two(dr), two(dp), two(dq), two(x_next), two(r_next), scalars);
        gradients_turn<<<blocks / 2, 256>>>(two(r_next), two(dp), two(out), scalars);
    });
    for (double* each : {dx, dr, dp, dq, x_next, r_next, out, partial, scalars}) CHECK(cudaFree(each));
}

// --- the logarithm of the softmax of 6144 rows of 1000 floats

constexpr int rows = 6144, classes = 1000;

// Trees in a block of 256, a row each, which is read three times.
__global__ void softmax_trees(const float* in, float* out) {
    __shared__ float v[256];
    const float* row = in + blockIdx.x * classes;
    const int t = threadIdx.x;
    float high = -INFINITY, sum = 0;
    for (int k = t; k < classes; k += 256) high = fmaxf(high, row[k]);
    v[t] = high;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) v[t] = fmaxf(v[t], v[t + d]);
    }
    __syncthreads();
    high = v[0];
    __syncthreads();
    for (int k = t; k < classes; k += 256) sum += expf(row[k] - high);
    v[t] = sum;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) v[t] += v[t + d];
    }
    __syncthreads();
    for (int k = t; k < classes; k += 256) out[blockIdx.x * classes + k] = row[k] - high - logf(v[0]);
}

// A warp a row: the sum of powers changes whenever a larger element is found.
__global__ void softmax_online(const float* in, float* out) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * classes, lane = threadIdx.x % 32;
    float high = -INFINITY, sum = 0;
    for (int k = lane; k < classes; k += 32) {
        const float v = in[first + k], higher = fmaxf(high, v);
        sum = sum * __expf(high - higher) + __expf(v - higher);
        high = higher;
    }
    const float highest = warp_max(high), rest = highest + __logf(warp_sum(sum * __expf(high - highest)));
    for (int k = lane; k < classes; k += 32) out[first + k] = in[first + k] - rest;
}

// A warp a row, four elements at a time, which stay in shared memory.
__global__ void softmax_shared(const float4* in, float4* out) {
    __shared__ float4 kept[4][classes / 4];
    const int lane = threadIdx.x % 32, first = (blockIdx.x * 4 + threadIdx.x / 32) * (classes / 4);
    float4* row = kept[threadIdx.x / 32];
    float high = -INFINITY, sum = 0;
    for (int k = lane; k < classes / 4; k += 32) {
        const float4 v = row[k] = in[first + k];
        high = fmaxf(high, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    high = warp_max(high);
    for (int k = lane; k < classes / 4; k += 32)
        sum += __expf(row[k].x - high) + __expf(row[k].y - high) + __expf(row[k].z - high) + __expf(row[k].w - high);
    const float rest = high + __logf(warp_sum(sum));
    for (int k = lane; k < classes / 4; k += 32)
        out[first + k] = make_float4(row[k].x - rest, row[k].y - rest, row[k].z - rest, row[k].w - rest);
}

void softmax() {
    const int n = rows * classes;
    const auto in = filled<float>(n, [](unsigned i) { return 8 * random_float(i); });
    float *din = to_device(in), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < classes; ++k) sum += std::exp(double(in[i / classes * classes + k]));
        return in[i] - std::log(sum);
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "6144 x 1000", out, n, check, launch); };
    show("log softmax: trees", [&] { softmax_trees<<<rows, 256>>>(din, out); });
    show("log softmax: online", [&] { softmax_online<<<rows / 4, 128>>>(din, out); });
    show("log softmax: shared",
         [&] { softmax_shared<<<rows / 4, 128>>>(reinterpret_cast<float4*>(din), reinterpret_cast<float4*>(out)); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    plane();
    gradients();
    softmax();
    return wrong;
}
