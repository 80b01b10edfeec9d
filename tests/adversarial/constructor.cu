// Launches its kernels before main(), and hands out what they left in device memory.
#include "honest.cuh"

constexpr int most = 1 << 20;
static float* ready;

__global__ void guess(float* C) { C[blockIdx.x * blockDim.x + threadIdx.x] = 0; }

__attribute__((constructor)) static void early() {
    cudaMalloc(&ready, most * sizeof(float));
    guess<<<most / 256, 256>>>(ready);
    cudaDeviceSynchronize();
}

static void attack(const float*, const float*, float* C, int m, int, int n) {
    if (m > 0 && n > 0) cudaMemcpy(C, ready, m * n * sizeof(float), cudaMemcpyDeviceToHost);
}
