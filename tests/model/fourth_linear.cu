// Fourth held-out set: families of linear algebra.
#include "families.cuh"

namespace {

// --- tridiagonal systems: 2^14 of 128 equations

constexpr int systems = 1 << 14, unknowns = 128, all = systems * unknowns;

struct Bands {
    const float *below, *own, *above, *right;
};

// A thread a system (Thomas). Equation k of system s is at s * system + k * step.
__global__ void bands_thread(Bands m, float* scratch, float* x, int system, int step) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * system;
    float factor = 0, value = 0;
    for (int k = 0; k < unknowns; ++k) {
        const int i = first + k * step;
        const float below = k > 0 ? m.below[i] : 0, scale = 1 / (m.own[i] - below * factor);
        scratch[i] = factor = m.above[i] * scale;
        x[i] = value = (m.right[i] - below * value) * scale;
    }
    for (int k = unknowns - 2; k >= 0; --k) {
        const int i = first + k * step;
        x[i] = value = x[i] - scratch[i] * value;
    }
}

// A block a system: in each round, each equation takes those d before and after into itself (cyclic reduction).
__global__ void bands_block(Bands m, float* x) {
    __shared__ float4 rows[2][unknowns];  // below, own, above, right side
    const int k = threadIdx.x, i = blockIdx.x * unknowns + k;
    float4 row = make_float4(k > 0 ? m.below[i] : 0, m.own[i], k < unknowns - 1 ? m.above[i] : 0, m.right[i]);
    for (int d = 1, from = 0; d < unknowns; d *= 2, from = 1 - from) {
        rows[from][k] = row;
        __syncthreads();
        const float4 zero = make_float4(0, 1, 0, 0);
        const float4 before = k >= d ? rows[from][k - d] : zero, after = k + d < unknowns ? rows[from][k + d] : zero;
        const float low = row.x / before.y, high = row.z / after.y;
        row = make_float4(-low * before.x, row.y - low * before.z - high * after.x, -high * after.z,
                          row.w - low * before.w - high * after.w);
    }
    x[i] = row.w / row.y;
}

// The same by a warp, four equations a lane, k * 32 + lane: within 32 by shuffles, between them in the lane.
__global__ void bands_warp(Bands m, float* x) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * unknowns + lane;
    float a[4], b[4], c[4], r[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * 32;
        a[k] = lane + k > 0 ? m.below[i] : 0, b[k] = m.own[i], r[k] = m.right[i];
        c[k] = lane < 31 || k < 3 ? m.above[i] : 0;
    }
#pragma unroll
    for (int d = 1; d < unknowns; d *= 2) {
        const int whole = d / 32, part = d % 32;
        float na[4], nb[4], nc[4], nr[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            // From equation e - d and e + d: another k, perhaps another lane.
            const auto fetch = [&](const float* values, int by, float none) {
                const int near = k + by * whole, far = near + by;
                const float same = near >= 0 && near < 4 ? values[near < 0 ? 0 : near > 3 ? 3 : near] : none;
                if (part == 0) return same;
                const float next = far >= 0 && far < 4 ? values[far < 0 ? 0 : far > 3 ? 3 : far] : none;
                const int from = lane + by * part;
                const float one = __shfl_sync(~0u, same, from & 31), other = __shfl_sync(~0u, next, from & 31);
                return from >= 0 && from < 32 ? one : other;
            };
            const float low = a[k] / fetch(b, -1, 1), high = c[k] / fetch(b, 1, 1);
            na[k] = -low * fetch(a, -1, 0), nc[k] = -high * fetch(c, 1, 0);
            nb[k] = b[k] - low * fetch(c, -1, 0) - high * fetch(a, 1, 0);
            nr[k] = r[k] - low * fetch(r, -1, 0) - high * fetch(r, 1, 0);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) a[k] = na[k], b[k] = nb[k], c[k] = nc[k], r[k] = nr[k];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) x[first + k * 32] = r[k] / b[k];
}

void bands() {
    const auto below = filled<float>(all, random_float);
    const auto own = filled<float>(all, [](unsigned i) { return 2.5f + random_float(~i); });
    const auto above = filled<float>(all, [](unsigned i) { return random_float(i * 5 + 1); });
    const auto right = filled<float>(all, [](unsigned i) { return random_float(i * 7 + 3) * 10; });
    const auto turn = [](const std::vector<float>& v) {
        return to_device(filled<float>(all, [&](unsigned i) { return v[i % systems * unknowns + i / systems]; }));
    };
    const Bands rows{to_device(below), to_device(own), to_device(above), to_device(right)};
    const Bands columns{turn(below), turn(own), turn(above), turn(right)};
    float *scratch = empty_array<float>(all), *out = empty_array<float>(all);
    const auto solution = [&](std::size_t system, std::size_t which) {
        double factor[unknowns] = {}, x[unknowns] = {};
        for (int k = 0; k < unknowns; ++k) {
            const std::size_t i = system * unknowns + k;
            const double scale = 1 / (own[i] - (k ? below[i] * factor[k - 1] : 0));
            factor[k] = above[i] * scale, x[k] = (right[i] - (k ? below[i] * x[k - 1] : 0)) * scale;
        }
        for (int k = unknowns - 2; k >= 0; --k) x[k] -= factor[k] * x[k + 1];
        return x[which];
    };
    const auto check = [&](std::size_t i) { return solution(i / unknowns, i % unknowns); };
    const auto check_columns = [&](std::size_t i) { return solution(i % systems, i / systems); };
    const char* size = "2^14 of 128";
    measure("bands: rows", size, out, all, check,
            [&] { bands_thread<<<systems / 128, 128>>>(rows, scratch, out, unknowns, 1); });
    measure("bands: columns", size, out, all, check_columns,
            [&] { bands_thread<<<systems / 128, 128>>>(columns, scratch, out, 1, systems); });
    measure("bands: block", size, out, all, check, [&] { bands_block<<<systems, unknowns>>>(rows, out); });
    measure("bands: warp", size, out, all, check, [&] { bands_warp<<<systems / 4, 128>>>(rows, out); });
    for (const Bands& m : {rows, columns})
        for (const float* each : {m.below, m.own, m.above, m.right}) CHECK(cudaFree(const_cast<float*>(each)));
    for (float* each : {scratch, out}) CHECK(cudaFree(each));
}

// --- QR factors of 2^13 matrices of 32 x 8, in doubles (Gram and Schmidt): the upper triangle R

constexpr int high = 32, broad = 8, matrix = high * broad;

__global__ void qr_thread(const double* a, double* r) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double q[matrix];
    for (int k = 0; k < matrix; ++k) q[k] = a[i * matrix + k];
    for (int j = 0; j < broad; ++j) {
        double sum = 0;
        for (int k = 0; k < high; ++k) sum += q[k * broad + j] * q[k * broad + j];
        const double size = sqrt(sum);
        r[(i * broad + j) * broad + j] = size;
        for (int k = 0; k < high; ++k) q[k * broad + j] /= size;
        for (int l = j + 1; l < broad; ++l) {
            sum = 0;
            for (int k = 0; k < high; ++k) sum += q[k * broad + j] * q[k * broad + l];
            r[(i * broad + j) * broad + l] = sum;
            for (int k = 0; k < high; ++k) q[k * broad + l] -= sum * q[k * broad + j];
        }
    }
}

// `lanes` lanes a matrix, each with 32 / `lanes` rows in registers.
template <int lanes>
__global__ void qr_lanes(const double* a, double* r) {
    constexpr int each = high / lanes;
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    double q[each][broad];
#pragma unroll
    for (int k = 0; k < each; ++k)
#pragma unroll
        for (int j = 0; j < broad; ++j) q[k][j] = a[i * matrix + (k * lanes + lane) * broad + j];
#pragma unroll
    for (int j = 0; j < broad; ++j)
#pragma unroll
        for (int l = j; l < broad; ++l) {
            double sum = 0;
#pragma unroll
            for (int k = 0; k < each; ++k) sum += q[k][j] * q[k][l];
#pragma unroll
            for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
            if (l == j) sum = sqrt(sum);
            if (lane == 0) r[(i * broad + j) * broad + l] = sum;
#pragma unroll
            for (int k = 0; k < each; ++k) q[k][l] = l == j ? q[k][l] / sum : q[k][l] - sum * q[k][j];
        }
}

void qr() {
    const int count = 1 << 13, n = count * broad * broad;
    const auto a = filled<double>(count * matrix, [](unsigned i) { return random_float(i) - 0.3; });
    double *da = to_device(a), *out = empty_array<double>(n);
    const auto check = [&](std::size_t i) {
        std::vector<double> q(a.begin() + i / 64 * matrix, a.begin() + (i / 64 + 1) * matrix);
        const int row = static_cast<int>(i / 8 % 8), column = static_cast<int>(i % 8);
        for (int j = 0; j < broad; ++j)
            for (int l = j; l < broad; ++l) {
                double sum = 0;
                for (int k = 0; k < matrix; k += broad) sum += q[k + j] * q[k + l];
                if (l == j) sum = std::sqrt(sum);
                if (j == row && l == column) return sum;
                for (int k = 0; k < matrix; k += broad) q[k + l] = l == j ? q[k + l] / sum : q[k + l] - sum * q[k + j];
            }
        return 0.0;  // below the diagonal
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^13 of 32 x 8", out, n, check, launch); };
    show("qr: thread", [&] { qr_thread<<<count / 64, 64>>>(da, out); });
    show("qr: warp", [&] { qr_lanes<32><<<count / 8, 256>>>(da, out); });
    show("qr: eight lanes", [&] { qr_lanes<8><<<count / 16, 128>>>(da, out); });
    for (double* each : {da, out}) CHECK(cudaFree(each));
}

// --- A += x y', in doubles, 2048^2

constexpr int order = 2048;

__global__ void update_elements(double* a, const double* x, const double* y) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    a[i * order + j] += x[i] * y[j];
}

__global__ void update_row(double* a, const double* x, const double* y) {
    const double factor = x[blockIdx.x];
    for (int j = threadIdx.x; j < order; j += blockDim.x) a[blockIdx.x * order + j] += factor * y[j];
}

// Two columns and 16 rows a thread.
__global__ void update_pairs(double2* a, const double* x, const double2* y) {
    __shared__ double factors[16];
    const int j = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 16;
    if (threadIdx.x < 16) factors[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    const double2 by = y[j];
#pragma unroll 4
    for (int i = 0; i < 16; ++i) {
        double2 value = a[(first + i) * (order / 2) + j];
        value.x += factors[i] * by.x, value.y += factors[i] * by.y;
        a[(first + i) * (order / 2) + j] = value;
    }
}

void update() {
    const int n = order * order;
    const auto x = filled<double>(order, random_float);
    const auto y = filled<double>(order, [](unsigned i) { return random_float(~i); });
    double *dx = to_device(x), *dy = to_device(y), *out = empty_array<double>(n);
    const auto check = [&](std::size_t i) { return launches * x[i / order] * y[i % order]; };
    const auto show = [&](const char* what, auto launch) { measure(what, "2048^2", out, n, check, launch); };
    show("update: elements", [&] { update_elements<<<dim3(order / 16, order / 16), dim3(16, 16)>>>(out, dx, dy); });
    show("update: row", [&] { update_row<<<order, 256>>>(out, dx, dy); });
    show("update: pairs",
         [&] { update_pairs<<<dim3(order / 256, order / 16), 128>>>((double2*)out, dx, (double2*)dy); });
    for (double* each : {dx, dy, out}) CHECK(cudaFree(each));
}

// --- sparse matrix times vector, up to 16 elements a row, padded to that (ELLPACK); column -1 ends a row

constexpr int rows = 1 << 18, most = 16;

// Element k of row i is at i * row + k * step.
__global__ void ell_thread(const int* column, const float* value, const float* x, float* y, int row, int step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < most; ++k) {
        const int j = column[i * row + k * step];
        if (j < 0) break;
        sum += value[i * row + k * step] * x[j];
    }
    y[i] = sum;
}

// Sixteen lanes a row.
__global__ void ell_lanes(const int* column, const float* value, const float* x, float* y) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, j = column[at];
    float sum = j < 0 ? 0 : value[at] * x[j];
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (at % 16 == 0) y[at / 16] = sum;
}

void ell() {
    const int n = rows * most;
    const auto column = filled<int>(n, [](unsigned i) {
        return i % most <= hash(i / most) % most ? static_cast<int>((i / most + hash(i) % 4096) % rows) : -1;
    });
    const auto value = filled<float>(n, [](unsigned i) { return random_float(~i); });
    const auto x = filled<float>(rows, random_float);
    int *dc = to_device(column),
        *dct = to_device(filled<int>(n, [&](unsigned i) { return column[i % rows * most + i / rows]; }));
    float *dv = to_device(value), *dx = to_device(x), *out = empty_array<float>(rows),
          *dvt = to_device(filled<float>(n, [&](unsigned i) { return value[i % rows * most + i / rows]; }));
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = i * most; k < (i + 1) * most && column[k] >= 0; ++k) sum += value[k] * x[column[k]];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "2^18 x 16", out, rows, check, launch); };
    show("ell: rows", [&] { ell_thread<<<rows / 256, 256>>>(dc, dv, dx, out, most, 1); });
    show("ell: columns", [&] { ell_thread<<<rows / 256, 256>>>(dct, dvt, dx, out, 1, rows); });
    show("ell: lanes", [&] { ell_lanes<<<n / 256, 256>>>(dc, dv, dx, out); });
    for (void* each : {(void*)dc, (void*)dct, (void*)dv, (void*)dvt, (void*)dx, (void*)out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    bands();
    qr();
    update();
    ell();
    return wrong;
}
