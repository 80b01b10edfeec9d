// Lab project: a sparse matrix times a vector. This is the baseline, one thread a row: right, and slow
// where rows are long or differ. Make it faster, in any way that the contract allows.
// Grade it:  ./warpgrade check project      (in this folder)
#include "project.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#include <algorithm>

#define BLOCK_SIZE 256

__global__ void spmv_kernel(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                            int rows, int nonzeros) {
    // TODO(student): this is the baseline. Where do its threads wait for each other, and what do they load?
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
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
    const int blocks = (rows - 1) / BLOCK_SIZE + 1;
    spmv_kernel<<<blocks, BLOCK_SIZE>>>(d_offsets, d_columns, d_values, d_x, d_y, rows, nonzeros);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));  // waits for the kernel
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
