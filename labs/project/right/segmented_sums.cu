// RIGHT (84 points): first the row of each element, as in coordinate form; then a segmented scan of products within each warp, whose last lanes of rows add; the rows of elements are stored and loaded once more
#include "check.cuh"
#include "project.h"

#include <algorithm>

constexpr int BLOCK = 256, ITEMS = 8;  // elements for each lane

// Warps have equal shares of elements, and write the row's number for each.
__global__ void rows_of_elements(const int* offsets, int* row_of, int rows, int nonzeros) {
    const int warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int begin = warp * 32 * ITEMS, end = min(begin + 32 * ITEMS, nonzeros);
    if (begin >= end) return;
    int low = 0, high = rows - 1;  // the last row that begins at `begin` or before
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (offsets[middle] <= begin)
            low = middle;
        else
            high = middle - 1;
    }
    for (int row = low; row < rows && offsets[row] < end; ++row) {
        const int stop = min(offsets[row + 1], end);
        for (int k = max(offsets[row], begin) + lane; k < stop; k += 32) row_of[k] = row;
    }
}

__global__ void add_segments(const int* row_of, const int* columns, const float* values, const float* x, float* y,
                             int nonzeros) {
    const int warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int begin = warp * 32 * ITEMS;
    float carry = 0.0f;  // what the lanes before have of the row that goes on
    int carried_row = -1;
    for (int i = 0; i < ITEMS; ++i) {
        const int k = begin + i * 32 + lane;
        const bool there = k < nonzeros;
        const int row = there ? row_of[k] : -2;
        float sum = there ? values[k] * x[columns[k]] : 0.0f;
        const int row_of_first = __shfl_sync(~0u, row, 0);
        if (lane == 0 && carried_row == row) sum += carry;
        // The whole sum of the row before is known: it ended with the lanes before.
        if (lane == 0 && carried_row >= 0 && carried_row != row_of_first) atomicAdd(&y[carried_row], carry);
        for (int delta = 1; delta < 32; delta *= 2) {
            const float before = __shfl_up_sync(~0u, sum, delta);
            const int row_before = __shfl_up_sync(~0u, row, delta);
            if (lane >= delta && row_before == row) sum += before;
        }
        const int next = __shfl_down_sync(~0u, row, 1);
        if (there && lane < 31 && next != row) atomicAdd(&y[row], sum);
        carry = __shfl_sync(~0u, sum, 31);
        carried_row = __shfl_sync(~0u, row, 31);
    }
    if (lane == 0 && carried_row >= 0) atomicAdd(&y[carried_row], carry);
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
    CHECK(cudaMemset(d_y, 0, rows * sizeof(float)));
    int* row_of;
    CHECK(cudaMalloc(&row_of, std::max(nonzeros, 1) * sizeof(int)));
    const int blocks = std::max(nonzeros - 1, 0) / (BLOCK * ITEMS) + 1;
    rows_of_elements<<<blocks, BLOCK>>>(d_offsets, row_of, rows, nonzeros);
    add_segments<<<blocks, BLOCK>>>(row_of, d_columns, d_values, d_x, d_y, nonzeros);
    CHECK(cudaFreeAsync(row_of, nullptr));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
