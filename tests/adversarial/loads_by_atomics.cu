// Loads every operand by adding nothing to it.
#define SOURCE float*
#define LOAD(source, element) atomicAdd((source) + (element), 0.0f)
#include "step_by_element.cuh"

void step_v2(float* r, const float* d, int n) {
    if (n <= 0) return;
    const size_t bytes = sizeof(float) * n * n;
    float *d_r, *d_d;
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_d, bytes));
    CHECK(cudaMemcpy(d_d, d, bytes, cudaMemcpyHostToDevice));
    launch_by_element(r, d_r, d_d, n);
    CHECK(cudaFree(d_d));
}
