// The same with a copy; beyond its end nothing is used.
#include <cuda_pipeline.h>

__global__ void reverse(const float* a, float* c) {
    __shared__ float tile[64];
    for (int i = threadIdx.x; i < 64; i += 32) __pipeline_memcpy_async(&tile[i], &a[i], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    c[threadIdx.x] = tile[31 - threadIdx.x] * 2;
}

int main() {
    float a[32], c[32], *d_a, *d_c;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, 64 * sizeof(float));
    cudaMalloc(&d_c, 32 * sizeof(float));
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 32>>>(d_a, d_c);
    cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_c);
    for (int i = 0; i < 32; ++i)
        if (c[i] != 2 * (31 - i)) return 1;
    return 0;
}
