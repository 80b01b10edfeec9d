// RIGHT: versions 0 and 1 in blocks of 24 × 24 threads; versions 2 and 3 are one cooperative launch, which pads, waits
// for all blocks, and computes
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails
#include "step.h"

#include <cooperative_groups.h>
#include <cmath>

inline int divide_up(int a, int b) { return (a + b - 1) / b; }

// Versions 0 and 1: one thread for each element of r.

using Kernel = void (*)(float* r, const float* d, int n);

// Copies d to the device, launches the kernel, and brings r back.
static void run(Kernel kernel, float* r, const float* d, int n) {
    if (n <= 0) return;
    const size_t bytes = sizeof(float) * n * n;
    float *d_r, *d_d;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    const dim3 block(24, 24);
    const dim3 grid(divide_up(n, 24), divide_up(n, 24));
    kernel<<<grid, block>>>(d_r, d_d, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
}

__global__ void step_v0_kernel(float* r, const float* d, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) {
        shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    }
    r[n * i + j] = shortest;
}

void step_v0(float* r, const float* d, int n) { run(step_v0_kernel, r, d, n); }

__global__ void step_v1_kernel(float* r, const float* d, int n) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;  // neighbouring threads, neighbouring columns
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) {
        shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    }
    r[n * i + j] = shortest;
}

void step_v1(float* r, const float* d, int n) { run(step_v1_kernel, r, d, n); }

// Versions 2 and 3: a block has THREADS × THREADS threads and computes PART × PART elements of r, each thread
// EACH × EACH of them.

constexpr int THREADS = 8;
constexpr int EACH = 8;
constexpr int PART = THREADS * EACH;

// d, padded to nn × nn elements, in padded[0 … nn²), and its transpose behind it, in padded[nn² … 2·nn²). What was not
// there is +infinity, the length of an edge that does not exist. A block of PART threads copies PART elements of a row.
__global__ void pad_and_transpose_kernel(float* padded, const float* d, int n, int nn) {
    const int i = blockIdx.y;
    const int j = blockIdx.x * PART + threadIdx.x;
    const float value = i < n && j < n ? d[n * i + j] : INFINITY;
    float* const transposed = padded + nn * nn;
    padded[nn * i + j] = value;
    transposed[nn * j + i] = value;
}

using PaddedKernel = void (*)(float* r, float* padded, int n, int nn, const float* d);
__device__ void pad(float* padded, const float* d, int n, int nn) {
    const int i0 = blockIdx.y * PART, j0 = blockIdx.x * PART, thread = threadIdx.y * THREADS + threadIdx.x;
    for (int a = 0; a < PART; ++a) {
        const int i = i0 + a, j = j0 + thread;
        const float v = i < n && j < n ? d[n * i + j] : INFINITY;
        padded[nn * i + j] = v;
        padded[nn * nn + nn * j + i] = v;
    }
    cooperative_groups::this_grid().sync();
}

// Copies d to the device, pads and transposes it there, launches the kernel, and brings r back.
inline void run_padded(PaddedKernel kernel, float* r, const float* d, int n) {
    if (n <= 0) return;
    const int nn = divide_up(n, PART) * PART;
    const size_t bytes = sizeof(float) * n * n;
    const size_t padded_bytes = sizeof(float) * 2 * nn * nn;
    float *d_r, *d_d, *d_padded;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMalloc(&d_padded, padded_bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    const float* input = d_d;
    void* arguments[] = {&d_r, &d_padded, &n, const_cast<int*>(&nn), &input};
    CHECK(cudaLaunchCooperativeKernel((const void*)kernel, dim3(nn / PART, nn / PART), dim3(THREADS, THREADS),
                                      arguments, 0, 0));

    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));  // waits for the kernels
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
    CHECK(cudaFree(d_padded));
}

__global__ void step_v2_kernel(float* r, float* padded, int n, int nn, const float* d) {
    pad(padded, d, n, nn);
    const float* const transposed = padded + nn * nn;
    const int i0 = blockIdx.y * PART + threadIdx.y;
    const int j0 = blockIdx.x * PART + threadIdx.x;

    float shortest[EACH][EACH];
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) shortest[a][b] = INFINITY;
    }
    for (int k = 0; k < n; ++k) {
        float x[EACH], y[EACH];
        for (int a = 0; a < EACH; ++a) x[a] = transposed[nn * k + i0 + a * THREADS];
        for (int b = 0; b < EACH; ++b) y[b] = padded[nn * k + j0 + b * THREADS];
        for (int a = 0; a < EACH; ++a) {
            for (int b = 0; b < EACH; ++b) shortest[a][b] = fminf(shortest[a][b], x[a] + y[b]);
        }
    }
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) {
            const int i = i0 + a * THREADS;
            const int j = j0 + b * THREADS;
            if (i < n && j < n) r[n * i + j] = shortest[a][b];
        }
    }
}

void step_v2(float* r, const float* d, int n) { run_padded(step_v2_kernel, r, d, n); }

constexpr int CHUNK = 4;  // so many values of k at a time

__global__ void step_v3_kernel(float* r, float* padded, int n, int nn, const float* d) {
    pad(padded, d, n, nn);
    const float* const transposed = padded + nn * nn;
    const int i0 = blockIdx.y * PART;
    const int j0 = blockIdx.x * PART;
    const int thread = threadIdx.y * THREADS + threadIdx.x;
    __shared__ float xs[CHUNK][PART];
    __shared__ float ys[CHUNK][PART];

    float shortest[EACH][EACH];
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) shortest[a][b] = INFINITY;
    }
    for (int first = 0; first < n; first += CHUNK) {
        // nn is a multiple of CHUNK: what lies behind the last k is padding.
        for (int f = 0; f < CHUNK; ++f) {
            xs[f][thread] = transposed[nn * (first + f) + i0 + thread];
            ys[f][thread] = padded[nn * (first + f) + j0 + thread];
        }
        __syncthreads();  // the chunk is complete before anyone reads it

        for (int f = 0; f < CHUNK; ++f) {
            float y[EACH];
            for (int b = 0; b < EACH; ++b) y[b] = ys[f][b * THREADS + threadIdx.x];
            for (int a = 0; a < EACH; ++a) {
                const float x = xs[f][a * THREADS + threadIdx.y];
                for (int b = 0; b < EACH; ++b) shortest[a][b] = fminf(shortest[a][b], x + y[b]);
            }
        }
        __syncthreads();  // everyone has read the chunk before the next one overwrites it
    }
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) {
            const int i = i0 + a * THREADS + threadIdx.y;
            const int j = j0 + b * THREADS + threadIdx.x;
            if (i < n && j < n) r[n * i + j] = shortest[a][b];
        }
    }
}

void step_v3(float* r, const float* d, int n) { run_padded(step_v3_kernel, r, d, n); }

// Version 4: whatever you like.

// Here: the transposed copy is made in a tile (lab transpose), elements travel four at a time, and the next chunk is
// on its way from global memory while this one is used, so that there is one barrier a chunk.

constexpr int TILE = 32;
constexpr int LONG_CHUNK = 8;
constexpr int QUADS = PART / 4;                  // float4 in a row of the chunk
constexpr int ROWS = THREADS * THREADS / QUADS;  // of the chunk that the block loads at once

__global__ void pad_and_transpose_in_tile_kernel(float* padded, const float* d, int n, int nn) {
    __shared__ float tile[TILE][TILE + 1];
    float* const transposed = padded + nn * nn;
    const int i0 = blockIdx.y * TILE;
    const int j0 = blockIdx.x * TILE;
    for (int y = threadIdx.y; y < TILE; y += THREADS) {
        const int i = i0 + y;
        const int j = j0 + threadIdx.x;
        const float value = i < n && j < n ? d[n * i + j] : INFINITY;
        padded[nn * i + j] = value;
        tile[y][threadIdx.x] = value;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += THREADS) {
        transposed[nn * (j0 + y) + i0 + threadIdx.x] = tile[threadIdx.x][y];
    }
}

// At least 8 blocks of 64 threads shall fit a multiprocessor: 128 registers a thread.
__global__ void __launch_bounds__(THREADS* THREADS, 8) step_v4_kernel(float* r, const float* padded, int n, int nn) {
    const int i0 = blockIdx.y * PART;
    const int j0 = blockIdx.x * PART;
    const int thread = threadIdx.y * THREADS + threadIdx.x;
    const int row = thread / QUADS;
    const int quad = thread % QUADS;
    const int pitch = nn / 4;
    const float4* const from_x = reinterpret_cast<const float4*>(padded + nn * nn + i0) + row * pitch + quad;
    const float4* const from_y = reinterpret_cast<const float4*>(padded + j0) + row * pitch + quad;
    __shared__ float4 xs[2][LONG_CHUNK][QUADS];
    __shared__ float4 ys[2][LONG_CHUNK][QUADS];

    float shortest[EACH][EACH];
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) shortest[a][b] = INFINITY;
    }
    float4 next_x[LONG_CHUNK / ROWS], next_y[LONG_CHUNK / ROWS];
    for (int l = 0; l < LONG_CHUNK / ROWS; ++l) {
        next_x[l] = from_x[l * ROWS * pitch];
        next_y[l] = from_y[l * ROWS * pitch];
    }
    int half = 0;
    for (int first = 0; first < n; first += LONG_CHUNK) {
        for (int l = 0; l < LONG_CHUNK / ROWS; ++l) {
            xs[half][row + l * ROWS][quad] = next_x[l];
            ys[half][row + l * ROWS][quad] = next_y[l];
        }
        __syncthreads();  // complete; and everyone is done with the other half, which the next turn overwrites
        if (first + LONG_CHUNK < n) {
            for (int l = 0; l < LONG_CHUNK / ROWS; ++l) {
                next_x[l] = from_x[(first + LONG_CHUNK + l * ROWS) * pitch];
                next_y[l] = from_y[(first + LONG_CHUNK + l * ROWS) * pitch];
            }
        }
#pragma unroll
        for (int f = 0; f < LONG_CHUNK; ++f) {
            const float4 x0 = xs[half][f][threadIdx.y], x1 = xs[half][f][threadIdx.y + THREADS];
            const float4 y0 = ys[half][f][threadIdx.x], y1 = ys[half][f][threadIdx.x + THREADS];
            const float x[EACH] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
            const float y[EACH] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
            for (int a = 0; a < EACH; ++a) {
                for (int b = 0; b < EACH; ++b) shortest[a][b] = fminf(shortest[a][b], x[a] + y[b]);
            }
        }
        half ^= 1;
    }
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) {
            const int i = i0 + a / 4 * 4 * THREADS + 4 * threadIdx.y + a % 4;
            const int j = j0 + b / 4 * 4 * THREADS + 4 * threadIdx.x + b % 4;
            if (i < n && j < n) r[n * i + j] = shortest[a][b];
        }
    }
}

void step_v4(float* r, const float* d, int n) {
    if (n <= 0) return;
    const int nn = divide_up(n, PART) * PART;
    const size_t bytes = sizeof(float) * n * n;
    const size_t padded_bytes = sizeof(float) * 2 * nn * nn;
    float *d_d, *d_padded;
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMalloc(&d_padded, padded_bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    pad_and_transpose_in_tile_kernel<<<dim3(nn / TILE, nn / TILE), dim3(TILE, THREADS)>>>(d_padded, d_d, n, nn);
    CHECK(cudaGetLastError());
    // d itself is no longer needed: r takes its place.
    step_v4_kernel<<<dim3(nn / PART, nn / PART), dim3(THREADS, THREADS)>>>(d_d, d_padded, n, nn);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_d, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_d));
    CHECK(cudaFree(d_padded));
}
