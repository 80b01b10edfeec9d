// Families of kernels on matrices and signals: products with reuse, shortest paths, Fourier transforms.
#include <cuda_fp16.h>
#include <mma.h>

#include "families.cuh"

namespace {

// --- products of matrices
// -----------------------------------------------------------------------------------------------

// b stands by columns.
__global__ void product_turned(const float* a, const float* b, float* c, int n) {
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[col * n + k];
    c[row * n + col] = sum;
}

// Eight results of a column a thread, tiles of b in shared memory.
__global__ void product_columns(const float* a, const float* b, float* c, int n) {
    __shared__ float as[64][17], bs[16][33];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x;
    float sum[8] = {};
    for (int first = 0; first < n; first += 16) {
        for (int i = t; i < 1024; i += 256) as[i / 16][i % 16] = a[(blockIdx.y * 64 + i / 16) * n + first + i % 16];
        for (int i = t; i < 512; i += 256) bs[i / 32][i % 32] = b[(first + i / 32) * n + blockIdx.x * 32 + i % 32];
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const float v = bs[k][x];
            for (int j = 0; j < 8; ++j) sum[j] += as[y * 8 + j][k] * v;
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; ++j) c[(blockIdx.y * 64 + y * 8 + j) * n + blockIdx.x * 32 + x] = sum[j];
}

// 64 by 64 results a block of 256, 4 by 4 a thread; the next tiles are loaded while these are used.
__global__ void product_buffers(const float* a, const float* b, float* c, int n) {
    __shared__ float4 as[2][16][17], bs[2][16][16];
    const int t = threadIdx.x, x = t % 16, y = t / 16, row = blockIdx.y * 64, col = blockIdx.x * 64;
    const float4* const next_a = reinterpret_cast<const float4*>(a + (row + t / 4) * n + t % 4 * 4);
    const float4* const next_b = reinterpret_cast<const float4*>(b + y * n + col + x * 4);
    float sum[4][4] = {};
    const auto store = [&](int k, float4 va, float4 vb) {
        float* const column = reinterpret_cast<float*>(as[k]) + t % 4 * 4 * 68 + t / 4;
        column[0] = va.x, column[68] = va.y, column[136] = va.z, column[204] = va.w;
        bs[k][y][x] = vb;
    };
    store(0, next_a[0], next_b[0]);
    __syncthreads();
    for (int first = 0, k = 0; first < n; first += 16, k ^= 1) {
        float4 va = {}, vb = {};
        const bool more = first + 16 < n;
        if (more) va = next_a[(first + 16) / 4], vb = next_b[(first + 16) * n / 4];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const float4 u = as[k][i][y], v = bs[k][i][x];
            const float us[] = {u.x, u.y, u.z, u.w}, vs[] = {v.x, v.y, v.z, v.w};
            for (int p = 0; p < 4; ++p)
                for (int q = 0; q < 4; ++q) sum[p][q] += us[p] * vs[q];
        }
        if (more) store(k ^ 1, va, vb);
        __syncthreads();
    }
    for (int p = 0; p < 4; ++p)
        reinterpret_cast<float4*>(c)[((row + y * 4 + p) * n + col) / 4 + x] = {sum[p][0], sum[p][1], sum[p][2],
                                                                               sum[p][3]};
}

void products() {
    const int n = 768;
    const auto a = filled<float>(n * n, random_float),
               b = filled<float>(n * n, [](unsigned i) { return random_float(~i); });
    std::vector<float> turned(n * n);
    for (int i = 0; i < n * n; ++i) turned[i % n * n + i / n] = b[i];
    float *da = to_device(a), *db = to_device(b), *dt = to_device(turned), *c = empty_array<float>(n * n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "768", c, n * n, check, launch); };
    show("product: turned", [&] { product_turned<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(da, dt, c, n); });
    show("product: columns", [&] { product_columns<<<dim3(n / 32, n / 64), dim3(32, 8)>>>(da, db, c, n); });
    show("product: buffers", [&] { product_buffers<<<dim3(n / 64, n / 64), 256>>>(da, db, c, n); });
    for (float* each : {da, db, dt, c}) CHECK(cudaFree(each));
}

// --- products of matrices of half precision
// -----------------------------------------------------------------------------

__global__ void half_plain(const half* a, const half* b, float* c, int n) {
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += __half2float(a[row * n + k]) * __half2float(b[k * n + col]);
    c[row * n + col] = sum;
}

using Left = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major>;
using Right = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major>;
using Sum = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// A warp has 16 by 16 results.
__global__ void half_tensor(const half* a, const half* b, float* c, int n) {
    const int col = (blockIdx.x * 4 + threadIdx.x / 32) * 16, row = blockIdx.y * 16;
    Left left;
    Right right;
    Sum sum;
    nvcuda::wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        nvcuda::wmma::load_matrix_sync(left, a + row * n + k, n);
        nvcuda::wmma::load_matrix_sync(right, b + k * n + col, n);
        nvcuda::wmma::mma_sync(sum, left, right, sum);
    }
    nvcuda::wmma::store_matrix_sync(c + row * n + col, sum, n, nvcuda::wmma::mem_row_major);
}

// Four warps have 64 by 64 results, from tiles in shared memory.
__global__ void half_tensor_shared(const half* a, const half* b, float* c, int n) {
    __shared__ alignas(32) half as[64][24], bs[16][72];
    const int t = threadIdx.x, warp = t / 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    Sum sums[4];
    for (Sum& sum : sums) nvcuda::wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        *reinterpret_cast<uint4*>(&as[t / 2][t % 2 * 8]) =
            *reinterpret_cast<const uint4*>(a + (row + t / 2) * n + k + t % 2 * 8);
        *reinterpret_cast<uint4*>(&bs[t / 8][t % 8 * 8]) =
            *reinterpret_cast<const uint4*>(b + (k + t / 8) * n + col + t % 8 * 8);
        __syncthreads();
        Left left;
        nvcuda::wmma::load_matrix_sync(left, &as[warp * 16][0], 24);
        for (int j = 0; j < 4; ++j) {
            Right right;
            nvcuda::wmma::load_matrix_sync(right, &bs[0][j * 16], 72);
            nvcuda::wmma::mma_sync(sums[j], left, right, sums[j]);
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        float* const to = c + (row + warp * 16) * n + col + j * 16;
        nvcuda::wmma::store_matrix_sync(to, sums[j], n, nvcuda::wmma::mem_row_major);
    }
}

void halves() {
    const int n = 1024;
    const auto a = filled<half>(n * n, [](unsigned i) { return __float2half(static_cast<float>(hash(i) % 9)); });
    const auto b = filled<half>(n * n, [](unsigned i) { return __float2half(static_cast<float>(hash(~i) % 7)); });
    half *da = to_device(a), *db = to_device(b);
    float* c = empty_array<float>(n * n);
    const auto check = [&](std::size_t i) {
        double sum = 0;
        for (unsigned k = 0; k < n; ++k) sum += hash(i / n * n + k) % 9 * (hash(~(k * n + i % n)) % 7);
        return sum;
    };
    const auto show = [&](const char* what, auto launch) { measure(what, "1024", c, n * n, check, launch); };
    show("half: plain", [&] { half_plain<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(da, db, c, n); });
    show("half: tensor", [&] { half_tensor<<<dim3(n / 64, n / 16), 128>>>(da, db, c, n); });
    show("half: tensor, shared", [&] { half_tensor_shared<<<dim3(n / 64, n / 64), 128>>>(da, db, c, n); });
    for (void* each : {(void*)da, (void*)db, (void*)c}) CHECK(cudaFree(each));
}

// --- all shortest paths (Floyd and Warshall): the first rounds, a launch each
// -------------------------------------------

__global__ void paths_element(const float* in, float* out, int n, int k) {
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    out[row * n + col] = fminf(in[row * n + col], in[row * n + k] + in[k * n + col]);
}

// What a row has in common is loaded once by each block.
__global__ void paths_shared(const float* in, float* out, int n, int k) {
    __shared__ float from[8];
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (threadIdx.x == 0) from[threadIdx.y] = in[row * n + k];
    __syncthreads();
    out[row * n + col] = fminf(in[row * n + col], from[threadIdx.y] + in[k * n + col]);
}

__global__ void paths_float4(const float* in, float* out, int n, int k) {
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    const float4* const rows = reinterpret_cast<const float4*>(in);
    const float from = in[row * n + k];
    const float4 to = rows[k * n / 4 + col], old = rows[row * n / 4 + col];
    reinterpret_cast<float4*>(out)[row * n / 4 + col] = {fminf(old.x, from + to.x), fminf(old.y, from + to.y),
                                                         fminf(old.z, from + to.z), fminf(old.w, from + to.w)};
}

void paths() {
    const int n = 2048, rounds = 4;
    auto start = filled<float>(n * n, [](unsigned i) { return 1 + random_float(i) * 10; });
    for (int i = 0; i < n; ++i) start[i * n + i] = 0;
    auto expected = start;
    for (int k = 0; k < rounds; ++k)
        for (int i = 0; i < n * n; ++i)
            expected[i] = std::fmin(expected[i], expected[i / n * n + k] + expected[k * n + i % n]);
    float *from = to_device(start), *d[] = {empty_array<float>(n * n), empty_array<float>(n * n)};
    const auto show = [&](const char* what, auto launch) {
        // Each repetition begins with the results of the one before, which its rounds leave as they are.
        const auto all = [&] {
            for (int k = 0; k < rounds; ++k) launch(k, d[k % 2], d[1 - k % 2]);
        };
        measure(
            what, "2048, 4 rounds", d[0], n * n, [&](std::size_t i) { return expected[i]; }, all, from);
    };
    const dim3 blocks(n / 32, n / 8), block(32, 8);
    show("paths: element", [&](int k, float* in, float* out) { paths_element<<<blocks, block>>>(in, out, n, k); });
    show("paths: shared", [&](int k, float* in, float* out) { paths_shared<<<blocks, block>>>(in, out, n, k); });
    show("paths: float4",
         [&](int k, float* in, float* out) { paths_float4<<<dim3(n / 128, n / 8), block>>>(in, out, n, k); });
    for (float* each : {from, d[0], d[1]}) CHECK(cudaFree(each));
}

// --- Fourier transforms of 1024 points, a block each
// --------------------------------------------------------------------

template <class Twiddle>
__device__ void transform(const float2* in, float2* out, Twiddle twiddle) {
    __shared__ float2 s[1024];
    const int t = threadIdx.x, first = blockIdx.x * 1024;
    for (int i = t; i < 1024; i += 512) s[__brev(i) >> 22] = in[first + i];
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads();
        const int k = t & (half - 1), i = 2 * t - k;
        const float2 w = twiddle(k * (512 / half)), u = s[i], v = s[i + half];
        const float2 turned = {v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x};
        s[i] = {u.x + turned.x, u.y + turned.y}, s[i + half] = {u.x - turned.x, u.y - turned.y};
    }
    __syncthreads();
    for (int i = t; i < 1024; i += 512) out[first + i] = s[i];
}

__global__ void fourier_functions(const float2* in, float2* out) {
    transform(in, out, [](int k) {
        float2 w;
        sincospif(k / -512.0f, &w.y, &w.x);
        return w;
    });
}

__global__ void fourier_fast(const float2* in, float2* out) {
    transform(in, out, [](int k) {
        float2 w;
        __sincosf(k * (-3.14159265f / 512), &w.y, &w.x);
        return w;
    });
}

__global__ void fourier_table(const float2* in, const float2* table, float2* out) {
    transform(in, out, [=](int k) { return table[k]; });
}

__global__ void fourier_shared_table(const float2* in, const float2* table, float2* out) {
    __shared__ float2 copy[512];
    copy[threadIdx.x] = table[threadIdx.x];
    transform(in, out, [&](int k) { return copy[k]; });
}

void fourier() {
    const int batch = 8192, n = batch * 1024;
    const double turn = std::acos(-1) / 512;
    const auto in = filled<float2>(n, [](unsigned i) { return float2{random_float(i), random_float(~i)}; });
    const auto table = filled<float2>(512, [&](unsigned k) {
        return float2{static_cast<float>(std::cos(k * turn)), static_cast<float>(-std::sin(k * turn))};
    });
    float2 *din = to_device(in), *dtable = to_device(table), *out = empty_array<float2>(n);
    const auto check = [&](std::size_t i) {
        const std::size_t point = i / 2 % 1024, first = i / 2 - point;
        double re = 0, im = 0;
        for (int k = 0; k < 1024; ++k) {
            const double c = std::cos(point * k % 1024 * turn), s = -std::sin(point * k % 1024 * turn);
            re += in[first + k].x * c - in[first + k].y * s, im += in[first + k].x * s + in[first + k].y * c;
        }
        return i % 2 == 0 ? re : im;
    };
    const auto show = [&](const char* what, auto launch) {
        measure(what, "8192 x 1024", reinterpret_cast<float*>(out), 2ull * n, check, launch);
    };
    show("fourier: functions", [&] { fourier_functions<<<batch, 512>>>(din, out); });
    show("fourier: fast", [&] { fourier_fast<<<batch, 512>>>(din, out); });
    show("fourier: table", [&] { fourier_table<<<batch, 512>>>(din, dtable, out); });
    show("fourier: shared table", [&] { fourier_shared_table<<<batch, 512>>>(din, dtable, out); });
    for (float2* each : {din, dtable, out}) CHECK(cudaFree(each));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) selected = argv[1];
    products();
    halves();
    paths();
    fourier();
    return wrong;
}
