// The versions of four teaching problems, each launched once after a launch that warms up nothing: their modelled times
// must come in the order in which a real GPU has them. Exit status 0 when all results are right.
//   versions [n]     n: a multiple of 64
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// --- matrix product ---------------------------------------------------------------------------------------------------

// Neighbouring threads in neighbouring rows: each load of a and each store of c goes to a row of its own.
__global__ void matmul_rows(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        as[y][x] = a[row * n + t + x];
        bs[y][x] = b[(t + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// --- transpose --------------------------------------------------------------------------------------------------------

__global__ void transpose_naive(const float* in, float* out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}

template <int pad>
__device__ void transpose_through(const float* in, float* out, int n) {
    __shared__ float tile[32][32 + pad];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void transpose_shared(const float* in, float* out, int n) { transpose_through<0>(in, out, n); }
__global__ void transpose_padded(const float* in, float* out, int n) { transpose_through<1>(in, out, n); }

// --- reduction: one sum a block ---------------------------------------------------------------------------------------

__global__ void reduction_1(const float* in, float* out, int) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int stride = 1; stride < 256; stride *= 2) {
        __syncthreads();
        if (t % (2 * stride) == 0) s[t] += s[t + stride];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduction_2(const float* in, float* out, int) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) s[t] += s[t + stride];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduction_shuffles(const float4* in, float* out, int count) {
    __shared__ float s[8];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < count / 4; i += gridDim.x * 256) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 8) {
        sum = s[threadIdx.x];
        for (int d = 4; d; d /= 2) sum += __shfl_down_sync(0xff, sum, d);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

// --- shortest two-edge paths: r[i][j] = min over k of d[i][k] + d[k][j] ------------------------------------------------

__global__ void step_v0(const float* d, float* r, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    float v = FLT_MAX;
    for (int k = 0; k < n; ++k) v = fminf(v, d[n * i + k] + d[n * k + j]);
    r[n * i + j] = v;
}

__global__ void step_v1(const float* d, float* r, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    float v = FLT_MAX;
    for (int k = 0; k < n; ++k) v = fminf(v, d[n * j + k] + d[n * k + i]);
    r[n * j + i] = v;
}

// 64 × 64 results a block of 8 × 8 threads, 8 × 8 a thread; t: the transpose of d.
__global__ void step_v2(const float* d, const float* t, float* r, int n) {
    int ia = threadIdx.x, ja = threadIdx.y, ic = blockIdx.x * 64, jc = blockIdx.y * 64;
    float v[8][8];
    for (int ib = 0; ib < 8; ++ib)
        for (int jb = 0; jb < 8; ++jb) v[ib][jb] = FLT_MAX;
    for (int k = 0; k < n; ++k) {
        float x[8], y[8];
        for (int ib = 0; ib < 8; ++ib) x[ib] = t[n * k + ic + ib * 8 + ia];
        for (int jb = 0; jb < 8; ++jb) y[jb] = d[n * k + jc + jb * 8 + ja];
        for (int ib = 0; ib < 8; ++ib)
            for (int jb = 0; jb < 8; ++jb) v[ib][jb] = fminf(v[ib][jb], x[ib] + y[jb]);
    }
    for (int ib = 0; ib < 8; ++ib)
        for (int jb = 0; jb < 8; ++jb) r[n * (ic + ib * 8 + ia) + jc + jb * 8 + ja] = v[ib][jb];
}

// As v2, four k at a time through shared memory.
__global__ void step_v3(const float* d, const float* t, float* r, int n) {
    __shared__ float xs[4][64], ys[4][64];
    int ia = threadIdx.x, ja = threadIdx.y, ic = blockIdx.x * 64, jc = blockIdx.y * 64, ija = ja * 8 + ia;
    float v[8][8];
    for (int ib = 0; ib < 8; ++ib)
        for (int jb = 0; jb < 8; ++jb) v[ib][jb] = FLT_MAX;
    for (int ks = 0; ks < n; ks += 4) {
        for (int f = 0; f < 4; ++f) {
            xs[f][ija] = t[n * (ks + f) + ic + ija];
            ys[f][ija] = d[n * (ks + f) + jc + ija];
        }
        __syncthreads();
#pragma unroll
        for (int f = 0; f < 4; ++f) {
            float y[8];
            for (int jb = 0; jb < 8; ++jb) y[jb] = ys[f][jb * 8 + ja];
            for (int ib = 0; ib < 8; ++ib) {
                float x = xs[f][ib * 8 + ia];
                for (int jb = 0; jb < 8; ++jb) v[ib][jb] = fminf(v[ib][jb], x + y[jb]);
            }
        }
        __syncthreads();
    }
    for (int ib = 0; ib < 8; ++ib)
        for (int jb = 0; jb < 8; ++jb) r[n * (ic + ib * 8 + ia) + jc + jb * 8 + ja] = v[ib][jb];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 256, count = n * n;
    std::vector<float> a(count), b(count), bt(count), out(count);
    for (int i = 0; i < count; ++i) a[i] = (i * 7919 % 1009) / 64.0f, b[i] = (i * 104729 % 997) / 64.0f;
    for (int i = 0; i < count; ++i) bt[i % n * n + i / n] = b[i];
    std::vector<float> product(count), paths(count), turned(count);
    double sum = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            float s = 0, v = FLT_MAX;
            for (int k = 0; k < n; ++k) {
                s = fmaf(a[i * n + k], b[k * n + j], s);
                v = fminf(v, b[i * n + k] + b[k * n + j]);
            }
            product[i * n + j] = s, paths[i * n + j] = v, turned[j * n + i] = a[i * n + j];
        }
    for (float v : a) sum += v;

    float *da, *db, *dt, *dc;
    size_t bytes = count * sizeof(float);
    cudaMalloc(&da, bytes), cudaMalloc(&db, bytes), cudaMalloc(&dt, bytes), cudaMalloc(&dc, bytes);
    cudaMemcpy(da, a.data(), bytes, cudaMemcpyDefault);
    cudaMemcpy(db, b.data(), bytes, cudaMemcpyDefault);
    cudaMemcpy(dt, bt.data(), bytes, cudaMemcpyDefault);

    int wrong = 0;
    auto check = [&](const char* name, const std::vector<float>& expected) {
        cudaMemcpy(out.data(), dc, bytes, cudaMemcpyDefault);
        for (int i = 0; i < count; ++i)
            if (!(std::fabs(out[i] - expected[i]) <= 1e-4f * std::fabs(expected[i]))) {
                printf("%s: element %d is %g, not %g\n", name, i, out[i], expected[i]);
                ++wrong;
                break;
            }
        cudaMemset(dc, 0, bytes);
    };
    auto check_sum = [&](const char* name, int blocks) {
        cudaMemcpy(out.data(), dc, blocks * sizeof(float), cudaMemcpyDefault);
        double total = 0;
        for (int i = 0; i < blocks; ++i) total += out[i];
        if (std::fabs(total - sum) > 1e-5 * sum) printf("%s: %g, not %g\n", name, total, sum), ++wrong;
    };

    dim3 square(16, 16), tiles(n / 16, n / 16);
    matmul_rows<<<tiles, square>>>(da, db, dc, n), check("matmul_rows", product);
    matmul_naive<<<tiles, square>>>(da, db, dc, n), check("matmul_naive", product);
    matmul_tiled<<<tiles, square>>>(da, db, dc, n), check("matmul_tiled", product);
    dim3 flat(32, 8), quads(n / 32, n / 32);
    transpose_naive<<<quads, flat>>>(da, dc, n), check("transpose_naive", turned);
    transpose_shared<<<quads, flat>>>(da, dc, n), check("transpose_shared", turned);
    transpose_padded<<<quads, flat>>>(da, dc, n), check("transpose_padded", turned);
    step_v0<<<tiles, square>>>(db, dc, n), check("step_v0", paths);
    step_v1<<<tiles, square>>>(db, dc, n), check("step_v1", paths);
    step_v2<<<dim3(n / 64, n / 64), dim3(8, 8)>>>(db, dt, dc, n), check("step_v2", paths);
    step_v3<<<dim3(n / 64, n / 64), dim3(8, 8)>>>(db, dt, dc, n), check("step_v3", paths);
    reduction_1<<<count / 256, 256>>>(da, dc, count), check_sum("reduction_1", count / 256);
    reduction_2<<<count / 256, 256>>>(da, dc, count), check_sum("reduction_2", count / 256);
    reduction_shuffles<<<32, 256>>>((const float4*)da, dc, count), check_sum("reduction_shuffles", 32);
    printf(wrong ? "WRONG\n" : "all right\n");
    return wrong != 0;
}
