// Nothing is copied to d_a, and asynchronous copies bring its elements to shared memory.
#include <cuda_pipeline.h>

__global__ void reverse(const float* a, float* c) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &a[threadIdx.x], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    c[threadIdx.x] = tile[31 - threadIdx.x] * 2;  // expect: initcheck/global (other: -4)
}

int main() {
    float *d_a, *d_c;
    cudaMalloc(&d_a, 32 * sizeof(float));
    cudaMalloc(&d_c, 32 * sizeof(float));
    reverse<<<1, 32>>>(d_a, d_c);
    cudaDeviceSynchronize();
    cudaFree(d_a);
    cudaFree(d_c);
    return 0;
}
