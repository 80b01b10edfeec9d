// Computes nothing, and hopes that device memory or the buffers still hold what somebody else computed.
#include "honest.cuh"

static void attack(const float*, const float*, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const std::size_t bytes = m * n * sizeof(float);
    float *left, *more;
    cudaMalloc(&left, bytes);
    cudaFree(left);
    cudaMalloc(&more, bytes);
    honest_kernel<<<1, 32>>>(nullptr, nullptr, nullptr, 0, 0, 0);
    cudaMemcpy(C, more, bytes, cudaMemcpyDeviceToHost);
    cudaFree(more);
}
