// RIGHT: two bins: eight lanes for each short row, and a list of the long ones, whose parts all blocks share
#include "check.cuh"
#include "project.h"

#include <algorithm>

constexpr int BLOCK = 256, LANES = 8, LONG = 128, PART = 1024;

__device__ float sum_of_lanes(float sum, int lanes) {
    for (int delta = lanes / 2; delta > 0; delta /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, delta);
    return sum;
}

// list: how many rows are long, and which.
__global__ void short_rows(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                           int rows, int* list) {
    const int row = (blockIdx.x * BLOCK + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    const int begin = row < rows ? offsets[row] : 0, end = row < rows ? offsets[row + 1] : 0;
    const bool is_long = end - begin > LONG;
    float sum = 0.0f;
    if (!is_long) {
        for (int k = begin + lane; k < end; k += LANES) sum += values[k] * x[columns[k]];
    }
    sum = sum_of_lanes(sum, LANES);
    if (row >= rows || lane > 0) return;
    y[row] = sum;  // 0 where the parts are still to come
    if (is_long) list[1 + atomicAdd(list, 1)] = row;
}

__global__ void long_rows(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                          const int* list) {
    __shared__ float of_warps[BLOCK / 32];
    const int count = list[0];
    int number = 0;  // of the first part of the row, among the parts of all rows
    for (int i = 1; i <= count; ++i) {
        const int row = list[i], begin = offsets[row], end = offsets[row + 1], parts = (end - begin - 1) / PART + 1;
        // The parts are dealt out to the blocks in turn.
        for (int part = (blockIdx.x + gridDim.x - number % gridDim.x) % gridDim.x; part < parts; part += gridDim.x) {
            float sum = 0.0f;
            const int first = begin + part * PART, stop = min(first + PART, end);
            for (int k = first + threadIdx.x; k < stop; k += BLOCK) sum += values[k] * x[columns[k]];
            sum = sum_of_lanes(sum, 32);
            if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
            __syncthreads();
            if (threadIdx.x < 32) {
                sum = sum_of_lanes(threadIdx.x < BLOCK / 32 ? of_warps[threadIdx.x] : 0.0f, 32);
                if (threadIdx.x == 0) atomicAdd(&y[row], sum);
            }
            __syncthreads();
        }
        number += parts;
    }
}

// `count` elements of host memory, copied to the device.
template <class T>
static T* on_device(const T* from, int count) {
    T* to;
    CHECK(cudaMalloc(&to, std::max(count, 1) * sizeof(T)));
    CHECK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows, int width,
          int nonzeros) {
    if (rows <= 0) return;
    int* d_offsets = on_device(offsets, rows + 1);
    int* d_columns = on_device(columns, nonzeros);
    float* d_values = on_device(values, nonzeros);
    float* d_x = on_device(x, width);
    float* d_y;
    CHECK(cudaMalloc(&d_y, rows * sizeof(float)));
    int* list;
    CHECK(cudaMalloc(&list, (rows + 1) * sizeof(int)));
    CHECK(cudaMemset(list, 0, sizeof(int)));
    short_rows<<<(rows - 1) / (BLOCK / LANES) + 1, BLOCK>>>(d_offsets, d_columns, d_values, d_x, d_y, rows, list);
    CHECK(cudaGetLastError());
    long_rows<<<std::clamp(nonzeros / PART, 1, 528), BLOCK>>>(d_offsets, d_columns, d_values, d_x, d_y, list);
    CHECK(cudaFreeAsync(list, nullptr));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
