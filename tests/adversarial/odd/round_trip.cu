// Honest: the result comes down, goes up again as it is, and is copied by a kernel.
#include "honest.cuh"

#include <vector>

__global__ void copy(const float* from, float* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[i];
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, k, n);
    device.launch(m, k, n);
    std::vector<float> between(m * n);
    cudaMemcpy(between.data(), device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    float *again, *result;
    cudaMalloc(&again, m * n * sizeof(float));
    cudaMalloc(&result, m * n * sizeof(float));
    cudaMemcpy(again, between.data(), m * n * sizeof(float), cudaMemcpyHostToDevice);
    copy<<<(m * n + 255) / 256, 256>>>(again, result, m * n);
    cudaMemcpy(C, result, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(again);
    cudaFree(result);
    device.release();
}
