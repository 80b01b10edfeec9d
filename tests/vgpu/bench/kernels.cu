// What the benchmark measures: kernels as a course writes them. Each has its plain C++ counterpart in plain.cpp.
#define KERNEL extern "C" __global__ void

KERNEL matmul_naive(const float* A, const float* B, float* C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}
KERNEL matmul_tiled(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        a[ty][tx] = A[row * n + t + tx];
        b[ty][tx] = B[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// Shortest two-edge paths: r[i][j] = min over k of d[i][k] + d[k][j]. The first version reads rows with a stride.
KERNEL step_v0(float* r, const float* d, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    if (i >= n || j >= n) return;
    float best = __int_as_float(0x7f800000);
    for (int k = 0; k < n; ++k) best = min(best, d[n * i + k] + d[n * k + j]);
    r[n * i + j] = best;
}
// The fourth version: 64×64 results a block, 8×8 a thread, four rows at a time through shared memory. `columns` is the
// transpose of `rows`; n is a multiple of 64.
KERNEL step_v3(float* r, const float* rows, const float* columns, int n) {
    __shared__ float x_tile[4][64], y_tile[4][64];
    const int tx = threadIdx.x, ty = threadIdx.y, own = ty * 8 + tx;
    float best[8][8];
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b) best[a][b] = __int_as_float(0x7f800000);
    for (int k = 0; k < n; k += 4) {
        for (int f = 0; f < 4; ++f) {
            x_tile[f][own] = columns[n * (k + f) + blockIdx.x * 64 + own];
            y_tile[f][own] = rows[n * (k + f) + blockIdx.y * 64 + own];
        }
        __syncthreads();
#pragma unroll
        for (int f = 0; f < 4; ++f) {
            float y[8];
            for (int b = 0; b < 8; ++b) y[b] = y_tile[f][b * 8 + ty];
            for (int a = 0; a < 8; ++a) {
                const float x = x_tile[f][a * 8 + tx];
                for (int b = 0; b < 8; ++b) best[a][b] = min(best[a][b], x + y[b]);
            }
        }
        __syncthreads();
    }
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b)
            r[n * (blockIdx.x * 64 + a * 8 + tx) + blockIdx.y * 64 + b * 8 + ty] = best[a][b];
}

// One partial sum a block; launched again on the partial sums.
KERNEL reduce_tree(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
KERNEL reduce_shuffle(const float* in, float* out, int n) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t >= 32) return;
    v = t < blockDim.x / 32 ? s[t] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t == 0) out[blockIdx.x] = v;
}

__constant__ float convolution_mask[9];
KERNEL convolution(const float* in, float* out, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < width; ++j) {
        int at = i - width / 2 + j;
        if (at >= 0 && at < n) sum += in[at] * convolution_mask[j];
    }
    out[i] = sum;
}

// Irregular loads: each lane asks for a word of its own.
KERNEL gather(const float* in, const int* where, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 8; ++j) sum += in[where[j * n + i]];
    out[i] = sum;
}
