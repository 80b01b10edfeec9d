// SOLUTION BEGIN
// STARTER: // Lab step: r = d ∘ d, the min-plus product, in five versions, each faster than the one before.
// STARTER: // All five are right, but so far all of them are version 0.
// STARTER: // Grade it:  ./warpgrade check step      (in this folder)
// Lab step, reference solution: r = d ∘ d, the min-plus product, in five versions, each faster than the one before.
// Grade it:  ./warpgrade grade step reference/step
// SOLUTION END
#include "step.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

// SOLUTION BEGIN
#include <cuda_pipeline.h>
// SOLUTION END
#include <cmath>

inline int divide_up(int a, int b) { return (a + b - 1) / b; }

// Versions 0 and 1: one thread for each element of r.

constexpr int BLOCK = 16;  // a block has BLOCK × BLOCK threads

using Kernel = void (*)(float* r, const float* d, int n);

// Copies d to the device, launches the kernel, and brings r back.
static void run(Kernel kernel, float* r, const float* d, int n) {
    if (n <= 0) return;
    const size_t bytes = sizeof(float) * n * n;
    float *d_r, *d_d;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    const dim3 block(BLOCK, BLOCK);
    const dim3 grid(divide_up(n, BLOCK), divide_up(n, BLOCK));
    kernel<<<grid, block>>>(d_r, d_d, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
}

__global__ void step_v0_kernel(float* r, const float* d, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int j = blockIdx.y * BLOCK + threadIdx.y;
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) {
        shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    }
    r[n * i + j] = shortest;
}

void step_v0(float* r, const float* d, int n) { run(step_v0_kernel, r, d, n); }

__global__ void step_v1_kernel(float* r, const float* d, int n) {
    // SOLUTION BEGIN
    // TODO(student): this is version 0. Which elements of d do the threads of a warp load for one k, and in how many
    // sectors do those lie? Let a warp load neighbours.
    // STARTER: const int i = blockIdx.x * BLOCK + threadIdx.x;
    // STARTER: const int j = blockIdx.y * BLOCK + threadIdx.y;
    const int i = blockIdx.y * BLOCK + threadIdx.y;
    const int j = blockIdx.x * BLOCK + threadIdx.x;  // neighbouring threads, neighbouring columns
    // SOLUTION END
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) {
        shortest = fminf(shortest, d[n * i + k] + d[n * k + j]);
    }
    r[n * i + j] = shortest;
}

void step_v1(float* r, const float* d, int n) { run(step_v1_kernel, r, d, n); }

// The copies, and what loads from them. In versions 2 and 3, a block of THREADS × THREADS threads computes PART × PART
// elements of r, each thread EACH × EACH of them.

constexpr int THREADS = 8;
constexpr int EACH = 8;
constexpr int PART = THREADS * EACH;

// d, padded to nn × nn elements, in padded[0 … nn²), and its transpose behind it, in padded[nn² … 2·nn²). What was not
// there is +infinity, the length of an edge that does not exist. A block of PART threads copies PART elements of a row.
__global__ void pad_and_transpose_kernel(float* padded, const float* d, int n, int nn) {
    // SOLUTION BEGIN
    // TODO(student): the launch is in run_padded. This thread has one element (i, j) of the nn × nn: load it, if d has
    // it, and store it twice.
    const int i = blockIdx.y;
    const int j = blockIdx.x * PART + threadIdx.x;
    const float value = i < n && j < n ? d[n * i + j] : INFINITY;
    float* const transposed = padded + nn * nn;
    padded[nn * i + j] = value;
    transposed[nn * j + i] = value;
    // SOLUTION END
}

// Brings both copies back, so that they can be looked at.
void pad_and_transpose(float* copies, const float* d, int n) {
    if (n <= 0) return;
    const int nn = divide_up(n, PART) * PART;
    const size_t copied = sizeof(float) * 2 * nn * nn;
    float *d_from, *d_copies;
    CHECK(cudaMalloc(&d_from, sizeof(float) * n * n));
    CHECK(cudaMalloc(&d_copies, copied));
    CHECK(cudaMemcpy(d_from, d, sizeof(float) * n * n, cudaMemcpyHostToDevice));
    pad_and_transpose_kernel<<<dim3(nn / PART, nn), PART>>>(d_copies, d_from, n, nn);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(copies, d_copies, copied, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_from));
    CHECK(cudaFree(d_copies));
}

using PaddedKernel = void (*)(float* r, const float* padded, int n, int nn);

// Copies d to the device, pads and transposes it there, launches the kernel, and brings r back. A block computes `rows`
// rows of r, PART elements of each.
inline void run_padded(PaddedKernel kernel, float* r, const float* d, int n, int rows = PART) {
    if (n <= 0) return;
    const int nn = divide_up(n, PART) * PART;
    const size_t bytes = sizeof(float) * n * n;
    const size_t padded_bytes = sizeof(float) * 2 * nn * nn;
    float *d_r, *d_d, *d_padded;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMalloc(&d_padded, padded_bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    pad_and_transpose_kernel<<<dim3(nn / PART, nn), PART>>>(d_padded, d_d, n, nn);
    CHECK(cudaGetLastError());
    kernel<<<dim3(nn / PART, nn / rows), dim3(THREADS, THREADS)>>>(d_r, d_padded, n, nn);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_r, bytes, cudaMemcpyDeviceToHost));  // waits for the kernels
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_d));
    CHECK(cudaFree(d_padded));
}

// One idea before the next: 1 × EACH elements of r for each thread.
__global__ void step_1x8_kernel(float* r, const float* padded, int n, int nn) {
    // SOLUTION BEGIN
    // TODO(student): thread (x, y) has row y of the block and columns x, x + 8, x + 16, … of its part. Keep EACH
    // results in an array. For each k load one element of this thread's row, and EACH of row k; combine it with each.
    const int row = blockIdx.y * THREADS + threadIdx.y;
    const int column = blockIdx.x * PART + threadIdx.x;

    float best[EACH];
    for (int b = 0; b < EACH; ++b) best[b] = INFINITY;
    for (int k = 0; k < n; ++k) {
        const float own = padded[nn * row + k];
        for (int b = 0; b < EACH; ++b) best[b] = fminf(best[b], own + padded[nn * k + column + b * THREADS]);
    }
    for (int b = 0; b < EACH; ++b) {
        if (row < n && column + b * THREADS < n) r[n * row + column + b * THREADS] = best[b];
    }
    // SOLUTION END
}

void step_1x8(float* r, const float* d, int n) {
    // SOLUTION BEGIN
    // TODO(student): run_padded(step_1x8_kernel, r, d, n, THREADS), when both kernels are written.
    // STARTER: run(step_v0_kernel, r, d, n);
    run_padded(step_1x8_kernel, r, d, n, THREADS);
    // SOLUTION END
}

__global__ void step_v2_kernel(float* r, const float* padded, int n, int nn) {
    // SOLUTION BEGIN
    // TODO(student): keep EACH × EACH results in an array of this thread. Thread (x, y) has rows y, y + 8, y + 16, …
    // and columns x, x + 8, x + 16, … of the block's part of r. For each k load EACH elements of row k of the transposed
    // copy (they belong to the rows of r) and EACH of row k of the first copy (its columns), then combine each with each.
    // At the end store those results that lie within r.
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
    // SOLUTION END
}

void step_v2(float* r, const float* d, int n) {
    // SOLUTION BEGIN
    // TODO(student): run_padded(step_v2_kernel, r, d, n), when the kernel is written.
    // STARTER: run(step_v0_kernel, r, d, n);
    run_padded(step_v2_kernel, r, d, n);
    // SOLUTION END
}

// SOLUTION BEGIN
// STARTER: __global__ void step_v3_kernel(float* r, const float* padded, int n, int nn) {
constexpr int CHUNK = 8;  // so many values of k at a time

// At least 8 blocks of 64 threads shall fit a multiprocessor: 128 registers a thread.
__global__ void __launch_bounds__(THREADS * THREADS, 8) step_v3_kernel(float* r, const float* padded, int n, int nn) {
    // TODO(student): as version 2, but for each 4 values of k, or 8, the block first copies what all of its threads need
    // into shared memory: PART elements of either copy for each k, and it has PART threads. Where are the barriers?
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
#pragma unroll
        for (int f = 0; f < CHUNK; ++f) {
            xs[f][thread] = transposed[nn * (first + f) + i0 + thread];
            ys[f][thread] = padded[nn * (first + f) + j0 + thread];
        }
        __syncthreads();  // the chunk is complete before anyone reads it

#pragma unroll
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
    // SOLUTION END
}

void step_v3(float* r, const float* d, int n) {
    // SOLUTION BEGIN
    // TODO(student): run_padded(step_v3_kernel, r, d, n), when the kernel is written.
    // STARTER: run(step_v0_kernel, r, d, n);
    run_padded(step_v3_kernel, r, d, n);
    // SOLUTION END
}

// Version 4: whatever you like.
// SOLUTION BEGIN
// TODO(student): where does version 3 still spend its time? Look at the time of both of its kernels, not only at the
// larger one.
// STARTER:
// STARTER: void step_v4(float* r, const float* d, int n) { run(step_v0_kernel, r, d, n); }

// Here: the transposed copy is made in a tile (lab transpose), elements travel four at a time, the next chunk is copied
// to shared memory while this one is used, so that there is one barrier a chunk, and a minimum takes in two sums.

constexpr int TILE = 32;
constexpr int LONG_CHUNK = 8;
constexpr int QUADS = PART / 4;  // float4 in a row of the chunk
constexpr int ROWS = THREADS * THREADS / QUADS;  // of the chunk that the block copies at once

// *any_negative becomes 1 if d has negative elements.
__global__ void pad_and_transpose_in_tile_kernel(float* padded, int* any_negative, const float* d, int n, int nn) {
    __shared__ float tile[TILE][TILE + 1];
    float* const transposed = padded + nn * nn;
    const int i0 = blockIdx.y * TILE;
    const int j0 = blockIdx.x * TILE;
    bool negative = false;
    for (int y = threadIdx.y; y < TILE; y += THREADS) {
        const int i = i0 + y;
        const int j = j0 + threadIdx.x;
        const float value = i < n && j < n ? d[n * i + j] : INFINITY;
        padded[nn * i + j] = value;
        tile[y][threadIdx.x] = value;
        negative |= value < 0;
    }
    if (__syncthreads_or(negative) && threadIdx.x == 0 && threadIdx.y == 0) atomicExch(any_negative, 1);
    for (int y = threadIdx.y; y < TILE; y += THREADS) {
        transposed[nn * (j0 + y) + i0 + threadIdx.x] = tile[threadIdx.x][y];
    }
}

// The least of three. Floats that are not negative are ordered as their bits are, and for ints a GPU of compute
// capability 9.0 has one instruction.
template <bool NEGATIVE>
__device__ float least(float a, float b, float c) {
    if (NEGATIVE) return fminf(a, fminf(b, c));
    return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
}

__device__ void load_eight(float (&values)[EACH], const float4 (&row)[QUADS], int thread) {
    const float4 low = row[thread], high = row[thread + THREADS];
    const float loaded[EACH] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    for (int a = 0; a < EACH; ++a) values[a] = loaded[a];
}

// Does nothing unless d is as NEGATIVE says.
template <bool NEGATIVE>
__global__ void __launch_bounds__(THREADS * THREADS, 8)
    step_v4_kernel(float* r, const float* padded, const int* any_negative, int n, int nn) {
    if (*any_negative != NEGATIVE) return;
    __shared__ float4 xs[2][LONG_CHUNK][QUADS];
    __shared__ float4 ys[2][LONG_CHUNK][QUADS];
    const int i0 = blockIdx.y * PART;
    const int j0 = blockIdx.x * PART;
    const int thread = threadIdx.y * THREADS + threadIdx.x;
    const auto begin_copy = [&](int first, int half) {
        for (int l = 0; l < LONG_CHUNK / ROWS; ++l) {
            const int row = thread / QUADS + l * ROWS, quad = thread % QUADS;
            const float* const from = padded + nn * (first + row) + 4 * quad;
            __pipeline_memcpy_async(&xs[half][row][quad], from + nn * nn + i0, sizeof(float4));
            __pipeline_memcpy_async(&ys[half][row][quad], from + j0, sizeof(float4));
        }
        __pipeline_commit();
    };

    float shortest[EACH][EACH];
    for (int a = 0; a < EACH; ++a) {
        for (int b = 0; b < EACH; ++b) shortest[a][b] = INFINITY;
    }
    int half = 0;
    begin_copy(0, half);
    for (int first = 0; first < n; first += LONG_CHUNK) {
        __pipeline_wait_prior(0);
        __syncthreads();  // complete; and everyone is done with the other half, which is overwritten now
        if (first + LONG_CHUNK < n) begin_copy(first + LONG_CHUNK, half ^ 1);
#pragma unroll
        for (int f = 0; f < LONG_CHUNK; f += 2) {
            float x[2][EACH], y[2][EACH];
            for (int k = 0; k < 2; ++k) {
                load_eight(x[k], xs[half][f + k], threadIdx.y);
                load_eight(y[k], ys[half][f + k], threadIdx.x);
            }
            for (int a = 0; a < EACH; ++a) {
                for (int b = 0; b < EACH; ++b) {
                    shortest[a][b] = least<NEGATIVE>(shortest[a][b], x[0][a] + y[0][b], x[1][a] + y[1][b]);
                }
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
    CHECK(cudaMalloc(&d_padded, padded_bytes + sizeof(int)));
    int* const d_any_negative = reinterpret_cast<int*>(d_padded + 2 * nn * nn);
    CHECK(cudaMemset(d_any_negative, 0, sizeof(int)));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));

    const dim3 tiles(nn / TILE, nn / TILE);
    pad_and_transpose_in_tile_kernel<<<tiles, dim3(TILE, THREADS)>>>(d_padded, d_any_negative, d_d, n, nn);
    CHECK(cudaGetLastError());
    // d itself is no longer needed: r takes its place.
    const dim3 parts(nn / PART, nn / PART), threads(THREADS, THREADS);
    step_v4_kernel<false><<<parts, threads>>>(d_d, d_padded, d_any_negative, n, nn);
    step_v4_kernel<true><<<parts, threads>>>(d_d, d_padded, d_any_negative, n, nn);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(r, d_d, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_d));
    CHECK(cudaFree(d_padded));
}
// SOLUTION END
