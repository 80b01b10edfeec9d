// Second held-out set: families of linear algebra, of transforms and of polynomials.
#include "families.cuh"

namespace {

// --- L x = b for many b: lower triangle of 64 rows, right sides in columns

constexpr int rows = 64;

__global__ void solve_global(const float* l, const float* b, float* x, int sides) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < rows; ++i) {
        float sum = b[i * sides + j];
        for (int k = 0; k < i; ++k) sum -= l[i * rows + k] * x[k * sides + j];
        x[i * sides + j] = sum / l[i * rows + i];
    }
}

// What is solved stays in registers; the triangle is in shared memory.
__global__ void solve_registers(const float* l, const float* b, float* x, int sides) {
    __shared__ float triangle[rows][rows];
    for (int k = threadIdx.x; k < rows * rows; k += blockDim.x) triangle[k / rows][k % rows] = l[k];
    __syncthreads();
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    float solved[rows];
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        float sum = b[i * sides + j];
#pragma unroll
        for (int k = 0; k < i; ++k) sum -= triangle[i][k] * solved[k];
        x[i * sides + j] = solved[i] = sum / triangle[i][i];
    }
}

// A warp a right side: each lane has two rows, and what is solved goes round.
__global__ void solve_warp(const float* l, const float* b, float* x, int sides) {
    __shared__ float columns[rows][rows + 1];
    for (int k = threadIdx.x; k < rows * rows; k += blockDim.x) columns[k % rows][k / rows] = l[k];
    __syncthreads();
    const int j = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float low = b[lane * sides + j], high = b[(lane + 32) * sides + j];
    for (int i = 0; i < rows; ++i) {
        const float value = __shfl_sync(~0u, i < 32 ? low : high, i % 32) / columns[i][i];
        if (lane == i % 32) (i < 32 ? low : high) = value;
        if (lane > i) low -= columns[i][lane] * value;
        if (lane + 32 > i) high -= columns[i][lane + 32] * value;
    }
    x[lane * sides + j] = low;
    x[(lane + 32) * sides + j] = high;
}

void solve() {
    const int sides = 1 << 15;
    const auto l = filled<float>(rows * rows, [](unsigned i) {
        return i % rows > i / rows ? 0 : i % rows == i / rows ? 4 + random_float(i) : random_float(i) / 8;
    });
    const auto b = filled<float>(rows * sides, [](unsigned i) { return random_float(~i); });
    float *dl = to_device(l), *db = to_device(b), *x = empty_array<float>(rows * sides);
    const auto check = [&](std::size_t at) {
        std::vector<double> solved;
        for (std::size_t i = 0; i <= at / sides; ++i) {
            double sum = b[i * sides + at % sides];
            for (std::size_t k = 0; k < i; ++k) sum -= l[i * rows + k] * solved[k];
            solved.push_back(sum / l[i * rows + i]);
        }
        return solved.back();
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "64 rows, 2^15 sides", x, rows * sides, check, launch);
    };
    show("solve: global", [&] { solve_global<<<sides / 128, 128>>>(dl, db, x, sides); });
    show("solve: registers", [&] { solve_registers<<<sides / 128, 128>>>(dl, db, x, sides); });
    show("solve: warp a side", [&] { solve_warp<<<sides / 8, 256>>>(dl, db, x, sides); });
    for (float* each : {dl, db, x}) CHECK(cudaFree(each));
}

// --- Cholesky factors of many matrices of 16 x 16

constexpr int order = 16, area = order * order;

// Element k of matrix m is at k * stride + m * pitch.
__global__ void cholesky_thread(const float* in, float* out, int stride, int pitch) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const float* a = in + m * pitch;
    float* l = out + m * pitch;
    for (int j = 0; j < order; ++j)
        for (int i = j; i < order; ++i) {
            float sum = a[(i * order + j) * stride];
            for (int k = 0; k < j; ++k) sum -= l[(i * order + k) * stride] * l[(j * order + k) * stride];
            l[(i * order + j) * stride] = i == j ? sqrtf(sum) : sum / l[(j * order + j) * stride];
        }
}

// Half a warp a matrix: a lane keeps a row in registers.
__global__ void cholesky_lanes(const float* in, float* out) {
    const int m = (blockIdx.x * blockDim.x + threadIdx.x) / order, i = threadIdx.x % order;
    float row[order];
#pragma unroll
    for (int k = 0; k < order; ++k) row[k] = in[m * area + i * order + k];
#pragma unroll
    for (int j = 0; j < order; ++j) {
        row[j] *= rsqrtf(__shfl_sync(~0u, row[j], j, order));
#pragma unroll
        for (int k = j + 1; k < order; ++k) row[k] -= row[j] * __shfl_sync(~0u, row[j], k, order);
    }
#pragma unroll
    for (int k = 0; k < order; ++k)
        if (k <= i) out[m * area + i * order + k] = row[k];
}

// A block a matrix in shared memory, a thread an element, two barriers a column.
__global__ void cholesky_block(const float* in, float* out) {
    __shared__ float a[order][order + 1];
    const int i = threadIdx.y, k = threadIdx.x;
    a[i][k] = in[blockIdx.x * area + i * order + k];
    for (int j = 0; j < order; ++j) {
        __syncthreads();
        const float root = rsqrtf(a[j][j]);
        const float left = a[i][j] * root, right = a[k][j] * root;
        __syncthreads();
        if (k == j)
            a[i][j] = left;
        else if (k > j)
            a[i][k] -= left * right;
    }
    if (k <= i) out[blockIdx.x * area + i * order + k] = a[i][k];
}

void cholesky() {
    const int count = 1 << 14;
    const auto element = [](unsigned m, unsigned i, unsigned k) {
        return (i == k ? 16 : 0) + random_float(m * area + std::min(i, k) * order + std::max(i, k));
    };
    const auto each =
        filled<float>(count * area, [&](unsigned i) { return element(i / area, i / order % order, i % order); });
    const auto woven = filled<float>(count * area, [&](unsigned i) { return each[i % count * area + i / count]; });
    float *de = to_device(each), *dw = to_device(woven), *out = empty_array<float>(count * area);
    const auto factor = [&](std::size_t m, std::size_t i, std::size_t k) {
        if (k > i) return 0.0;
        std::vector<double> l(area);
        for (int c = 0; c < order; ++c)
            for (int r = c; r < order; ++r) {
                double sum = each[m * area + r * order + c];
                for (int j = 0; j < c; ++j) sum -= l[r * order + j] * l[c * order + j];
                l[r * order + c] = r == c ? std::sqrt(sum) : sum / l[c * order + c];
            }
        return l[i * order + k];
    };
    const auto check = [&](std::size_t i) { return factor(i / area, i / order % order, i % order); };
    const auto check_woven = [&](std::size_t i) { return check(i % count * area + i / count); };
    const auto show = [&](const char* what, auto expected, auto launch) {
        measure(what, "2^14 of 16^2", out, count * area, expected, launch);
    };
    show("cholesky: thread", check, [&] { cholesky_thread<<<count / 64, 64>>>(de, out, 1, area); });
    show("cholesky: woven", check_woven, [&] { cholesky_thread<<<count / 64, 64>>>(dw, out, count, 1); });
    show("cholesky: lanes", check, [&] { cholesky_lanes<<<count / 8, 128>>>(de, out); });
    show("cholesky: block", check, [&] { cholesky_block<<<count, dim3(order, order)>>>(de, out); });
    for (float* array : {de, dw, out}) CHECK(cudaFree(array));
}

// --- LU factors, without pivots, of a panel of 1024 rows and 32 columns, by one block

constexpr int tall = 1024, narrow = 32;

// A row a thread, in global memory.
__global__ void panel_global(const float* in, float* a) {
    const int i = threadIdx.x;
    for (int k = 0; k < narrow; ++k) a[k * tall + i] = in[k * tall + i];
    for (int j = 0; j < narrow; ++j) {
        __syncthreads();
        if (i <= j) continue;
        const float factor = a[j * tall + i] / a[j * tall + j];
        a[j * tall + i] = factor;
        for (int k = j + 1; k < narrow; ++k) a[k * tall + i] -= factor * a[k * tall + j];
    }
}

// A row a thread, in registers; the row of the pivot goes through shared memory.
__global__ void panel_registers(const float* in, float* a) {
    __shared__ float pivot[narrow][narrow];
    const int i = threadIdx.x;
    float row[narrow];
#pragma unroll
    for (int k = 0; k < narrow; ++k) row[k] = in[k * tall + i];
#pragma unroll
    for (int j = 0; j < narrow; ++j) {
        if (i == j)
#pragma unroll
            for (int k = j; k < narrow; ++k) pivot[j][k] = row[k];
        __syncthreads();
        if (i > j) {
            row[j] /= pivot[j][j];
#pragma unroll
            for (int k = j + 1; k < narrow; ++k) row[k] -= row[j] * pivot[j][k];
        }
    }
#pragma unroll
    for (int k = 0; k < narrow; ++k) a[k * tall + i] = row[k];
}

void panel() {
    const auto in =
        filled<float>(tall * narrow, [](unsigned i) { return random_float(i) + (i / tall == i % tall ? 8 : 0); });
    std::vector<double> lu(in.begin(), in.end());
    for (int j = 0; j < narrow; ++j)
        for (int i = j + 1; i < tall; ++i) {
            lu[j * tall + i] /= lu[j * tall + j];
            for (int k = j + 1; k < narrow; ++k) lu[k * tall + i] -= lu[j * tall + i] * lu[k * tall + j];
        }
    float *din = to_device(in), *out = empty_array<float>(tall * narrow);
    const auto show = [&](const char* what, auto launch) {
        measure(
            what, "1024 x 32", out, tall * narrow, [&](std::size_t i) { return lu[i]; }, launch);
    };
    show("panel: global", [&] { panel_global<<<1, tall>>>(din, out); });
    show("panel: registers", [&] { panel_registers<<<1, tall>>>(din, out); });
    CHECK(cudaFree(din));
    CHECK(cudaFree(out));
}

// --- Walsh-Hadamard transform of lines of 1024

constexpr int line = 1024;

// One step of the ten, in global memory.
__global__ void hadamard_step(const float* in, float* out, int d) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, at = (i & ~(d - 1)) * 2 + (i & (d - 1));
    const float a = in[at], b = in[at + d];
    out[at] = a + b, out[at + d] = a - b;
}

__global__ void hadamard_shared(const float* in, float* out) {
    __shared__ float v[line];
    v[threadIdx.x] = in[blockIdx.x * line + threadIdx.x];
    v[threadIdx.x + 512] = in[blockIdx.x * line + threadIdx.x + 512];
    for (int d = 1; d < line; d *= 2) {
        __syncthreads();
        const int at = (threadIdx.x & ~(d - 1)) * 2 + (threadIdx.x & (d - 1));
        const float a = v[at], b = v[at + d];
        v[at] = a + b, v[at + d] = a - b;
    }
    __syncthreads();
    out[blockIdx.x * line + threadIdx.x] = v[threadIdx.x];
    out[blockIdx.x * line + threadIdx.x + 512] = v[threadIdx.x + 512];
}

// A warp a line: 32 elements a lane, five steps in registers, five by shuffles.
__global__ void hadamard_warp(const float* in, float* out) {
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * line + threadIdx.x % 32;
    float v[32];
#pragma unroll
    for (int k = 0; k < 32; ++k) v[k] = in[at + 32 * k];
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int k = 0; k < 32; ++k)
            if ((k & d) == 0) {
                const float a = v[k], b = v[k + d];
                v[k] = a + b, v[k + d] = a - b;
            }
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            const float other = __shfl_xor_sync(~0u, v[k], d);
            v[k] = threadIdx.x & d ? other - v[k] : v[k] + other;
        }
#pragma unroll
    for (int k = 0; k < 32; ++k) out[at + 32 * k] = v[k];
}

void hadamard() {
    const int lines = 4096, n = lines * line;
    const auto in = filled<float>(n, random_float);
    float *din = to_device(in), *other = empty_array<float>(n), *out = empty_array<float>(n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (unsigned k = 0; k < line; ++k)
            sum += __builtin_parity(k & i % line) ? -in[i / line * line + k] : in[i / line * line + k];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "4096 x 1024", out, n, check, launch); };
    show("hadamard: steps", [&] {
        const float* from = din;
        for (int d = 1; d < line; d *= 2) {
            float* to = from == other ? out : other;
            hadamard_step<<<n / 512, 256>>>(from, to, d);
            from = to;
        }
    });
    show("hadamard: shared", [&] { hadamard_shared<<<lines, 512>>>(din, out); });
    show("hadamard: warp a line", [&] { hadamard_warp<<<lines / 4, 128>>>(din, out); });
    for (float* each : {din, other, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    solve();
    cholesky();
    panel();
    hadamard();
    return wrong;
}
