// Lab debug: ten functions, each with one mistake. All of them compile, and some even give right results.
// TODO(student): find each mistake with the checks and fix it. debug.h says what must stay.
// Grade it:  ./warpgrade check debug      (in this folder)
#include "debug.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <climits>
#include <cmath>

static int blocks_for(int n) { return (n + BLOCK - 1) / BLOCK; }

// 1. A picture is made brighter, in place.

__global__ void brighten_kernel(unsigned char* pixels, int n, int by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = pixels[i] + by;
    pixels[i] = sum > 255 ? 255 : sum;
}

void brighten(unsigned char* pixels, int n, int by) {
    unsigned char* d_pixels;
    CHECK(cudaMalloc(&d_pixels, n));
    CHECK(cudaMemcpy(d_pixels, pixels, n, cudaMemcpyHostToDevice));
    brighten_kernel<<<blocks_for(n), BLOCK>>>(d_pixels, n, by);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(pixels, d_pixels, n, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_pixels));
}

// 2. A multiple of one vector is added to another.

__global__ void axpy_kernel(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void axpy(float a, const float* x, float* y, int n) {
    const size_t bytes = n * sizeof(float);
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice));
    axpy_kernel<<<blocks_for(n), BLOCK>>>(a, d_x, d_y, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}

// 3. Elements are looked up in a table, which each block copies to shared memory.

__global__ void look_up_kernel(const float* table, int entries, const int* indices, float* out, int n) {
    extern __shared__ float copy[];
    for (int e = threadIdx.x; e < entries; e += blockDim.x) copy[e] = table[e];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = copy[indices[i]];
}

void look_up(const float* table, int entries, const int* indices, float* out, int n) {
    float *d_table, *d_out;
    int* d_indices;
    CHECK(cudaMalloc(&d_table, entries * sizeof(float)));
    CHECK(cudaMalloc(&d_indices, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMemcpy(d_table, table, entries * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_indices, indices, n * sizeof(int), cudaMemcpyHostToDevice));
    look_up_kernel<<<blocks_for(n), BLOCK, entries>>>(d_table, entries, d_indices, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_table));
    CHECK(cudaFree(d_indices));
    CHECK(cudaFree(d_out));
}

// 4. The same row is added to each row of a matrix, which has a block of its own.

__global__ void add_to_rows_kernel(const int* x, const int* row, int* out, int columns) {
    const int i = blockIdx.x * columns + threadIdx.x;
    out[i] = x[i] + row[threadIdx.x];
}

void add_to_rows(const int* x, const int* row, int* out, int rows, int columns) {
    const size_t row_bytes = columns * sizeof(int), bytes = rows * row_bytes;
    int *d_x, *d_row, *d_out;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_row, row_bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_row, row, row_bytes, cudaMemcpyHostToDevice));
    add_to_rows_kernel<<<rows, columns>>>(d_x, d_row, d_out, columns);
    CHECK(cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_row));
    CHECK(cudaFree(d_out));
}

// 5. Each pixel of a picture less its neighbour on the left.

__global__ void differences_kernel(const int* x, int* out, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        const int i = row * columns + column;
        out[i] = x[i] - x[i - 1];
    }
}

void differences(const int* x, int* out, int rows, int columns) {
    const size_t bytes = size_t(rows) * columns * sizeof(int);
    int *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice));
    const dim3 block(32, BLOCK / 32), grid((columns + 31) / 32, (rows + block.y - 1) / block.y);
    differences_kernel<<<grid, block>>>(d_x, d_out, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}

// 6. How often each value occurs: each block counts, then the counts of all blocks are added.

__global__ void histogram_kernel(const unsigned char* x, int n, int* counts) {
    __shared__ int own[256];
    for (int v = threadIdx.x; v < 256; v += blockDim.x) own[v] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (int v = threadIdx.x; v < 256; v += blockDim.x) counts[v] += own[v];
}

void histogram(const unsigned char* x, int n, int* counts) {
    unsigned char* d_x;
    int* d_counts;
    CHECK(cudaMalloc(&d_x, n));
    CHECK(cudaMalloc(&d_counts, 256 * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_counts, 0, 256 * sizeof(int)));
    histogram_kernel<<<blocks_for(n), BLOCK>>>(d_x, n, d_counts);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(counts, d_counts, 256 * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_counts));
}

// 7. The largest element of each block: half of the threads compare two elements each, then a quarter, and so on.

__global__ void block_maxima_kernel(const float* x, int n, float* out) {
    __shared__ float s[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    if (i < n) s[t] = x[i];
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

void block_maxima(const float* x, int n, float* out) {
    const int blocks = blocks_for(n);
    float *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, blocks * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice));
    block_maxima_kernel<<<blocks, BLOCK>>>(d_x, n, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, blocks * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}

// 8. The distance to the closest of m points, which the block looks at BLOCK by BLOCK in shared memory.

__global__ void closest_kernel(const int* x, int n, const int* y, int m, int* out) {
    __shared__ int points[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    const int own = i < n ? x[i] : 0;
    int best = INT_MAX;
    for (int first = 0; first < m; first += BLOCK) {
        const int count = min(BLOCK, m - first);
        if (t < count) points[t] = y[first + t];
        __syncthreads();
        for (int k = 0; k < count; ++k) best = min(best, abs(own - points[k]));
    }
    if (i < n) out[i] = best;
}

void closest(const int* x, int n, const int* y, int m, int* out) {
    int *d_x, *d_y, *d_out;
    CHECK(cudaMalloc(&d_x, n * sizeof(int)));
    CHECK(cudaMalloc(&d_y, m * sizeof(int)));
    CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, m * sizeof(int), cudaMemcpyHostToDevice));
    closest_kernel<<<blocks_for(n), BLOCK>>>(d_x, n, d_y, m, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_out));
}

// 9. Running sums within each block: each thread adds what lies 1 before its element, then 2, 4, 8 and so on.

__global__ void running_sums_kernel(const int* x, int* out, int n) {
    __shared__ int s[BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < BLOCK; distance *= 2) {
        if (t >= distance) {
            const int before = s[t - distance];
            __syncthreads();
            s[t] += before;
            __syncthreads();
        }
    }
    if (i < n) out[i] = s[t];
}

void running_sums(const int* x, int* out, int n) {
    int *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice));
    running_sums_kernel<<<blocks_for(n), BLOCK>>>(d_x, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}

// 10. Two halves in two streams, so that the copies of one overlap with the kernel of the other.

__global__ void powers_kernel(const int* re, const int* im, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = re[i] * re[i] + im[i] * im[i];
}

void powers(const int* re, const int* im, int* out, int n) {
    const size_t bytes = n * sizeof(int);
    int *d_re, *d_im, *d_out;
    CHECK(cudaMalloc(&d_re, bytes));
    CHECK(cudaMalloc(&d_im, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaHostRegister(out, bytes, cudaHostRegisterDefault));  // page-locked: the copies into it are asynchronous
    cudaStream_t streams[2];
    for (int half = 0; half < 2; ++half) {
        const int first = half * (n / 2), count = half == 0 ? n / 2 : n - n / 2;
        const size_t half_bytes = count * sizeof(int);
        CHECK(cudaStreamCreate(&streams[half]));
        CHECK(cudaMemcpyAsync(d_re + first, re + first, half_bytes, cudaMemcpyHostToDevice, streams[half]));
        CHECK(cudaMemcpyAsync(d_im + first, im + first, half_bytes, cudaMemcpyHostToDevice, streams[half]));
        powers_kernel<<<blocks_for(count), BLOCK, 0, streams[half]>>>(d_re + first, d_im + first, d_out + first, count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(out + first, d_out + first, half_bytes, cudaMemcpyDeviceToHost, streams[half]));
    }
    for (const auto stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaHostUnregister(out));
    CHECK(cudaFree(d_re));
    CHECK(cudaFree(d_im));
    CHECK(cudaFree(d_out));
}
