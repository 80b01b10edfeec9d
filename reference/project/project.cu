// SOLUTION BEGIN
// STARTER: // Lab project: a sparse matrix times a vector. This is the baseline, one thread a row: right, and slow
// STARTER: // where rows are long or differ. Make it faster, in any way that the contract allows.
// STARTER: // Grade it:  ./warpgrade check project      (in this folder)
// Lab project, reference solution: a sparse matrix times a vector, with equal shares of rows and elements for all
// blocks (merge-based, after Merrill and Garland).
// Grade it:  ./warpgrade grade project reference/project
// SOLUTION END
#include "project.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>

#define BLOCK_SIZE 256
// SOLUTION BEGIN
#define BLOCK_ITEMS 2048  // ends of rows and elements that a block takes

// Where the block with the first item number `diagonal` begins: the number of rows that end before it. Ends of rows and
// elements are merged into one list; the end of row r comes after the elements before offsets[r + 1].
__device__ int first_row(const int* offsets, int rows, int nonzeros, int diagonal) {
    int low = max(diagonal - nonzeros, 0), high = min(diagonal, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (offsets[middle + 1] <= diagonal - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ float sum_of_warp(float sum) {
    for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffffu, sum, delta);
    return sum;
}
// SOLUTION END

__global__ void spmv_kernel(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                            int rows, int nonzeros) {
    // SOLUTION BEGIN
    // TODO(student): this is the baseline. Where do its threads wait for each other, and what do they load?
    // STARTER: const int row = blockIdx.x * blockDim.x + threadIdx.x;
    // STARTER: if (row >= rows) return;
    // STARTER: float sum = 0.0f;
    // STARTER: for (int k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[columns[k]];
    // STARTER: y[row] = sum;
    __shared__ float products[BLOCK_ITEMS];
    const int begin = blockIdx.x * BLOCK_ITEMS, end = min(begin + BLOCK_ITEMS, rows + nonzeros);
    __shared__ int first_rows[2];  // of this block and of the next, found by two warps at the same time
    if (threadIdx.x == 0) first_rows[0] = first_row(offsets, rows, nonzeros, begin);
    if (threadIdx.x == 32) first_rows[1] = first_row(offsets, rows, nonzeros, end);
    __syncthreads();
    const int row_begin = first_rows[0], row_end = first_rows[1];
    const int k_begin = begin - row_begin, k_end = end - row_end;
    for (int k = k_begin + threadIdx.x; k < k_end; k += BLOCK_SIZE) products[k - k_begin] = values[k] * x[columns[k]];
    __syncthreads();
    // Rows row_begin to row_end - 1 end here, and row_end may begin here. What belongs to others as well is added.
    const auto finish = [&](int row, float sum) {
        const bool is_whole = row < row_end && offsets[row] >= k_begin;
        if (is_whole)
            y[row] = sum;
        else
            atomicAdd(&y[row], sum);
    };
    const int last = row_end < rows && offsets[row_end] < k_end ? row_end : row_end - 1;
    if (last - row_begin >= 128) {  // short rows: a thread for each
        for (int row = row_begin + threadIdx.x; row <= last; row += BLOCK_SIZE) {
            float sum = 0.0f;
            const int stop = min(offsets[row + 1], k_end);
            for (int k = max(offsets[row], k_begin); k < stop; ++k) sum += products[k - k_begin];
            finish(row, sum);
        }
    } else {  // long rows: a warp for each
        for (int row = row_begin + threadIdx.x / 32; row <= last; row += BLOCK_SIZE / 32) {
            float sum = 0.0f;
            const int stop = min(offsets[row + 1], k_end);
            for (int k = max(offsets[row], k_begin) + threadIdx.x % 32; k < stop; k += 32) sum += products[k - k_begin];
            sum = sum_of_warp(sum);
            if (threadIdx.x % 32 == 0) finish(row, sum);
        }
    }
    // SOLUTION END
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
    // SOLUTION BEGIN
    // STARTER: const int blocks = (rows - 1) / BLOCK_SIZE + 1;
    CHECK(cudaMemset(d_y, 0, rows * sizeof(float)));
    const int blocks = (rows + nonzeros - 1) / BLOCK_ITEMS + 1;
    // SOLUTION END
    spmv_kernel<<<blocks, BLOCK_SIZE>>>(d_offsets, d_columns, d_values, d_x, d_y, rows, nonzeros);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
