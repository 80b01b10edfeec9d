// Eight loads of a warp that overlap, through the first-level cache and past it: labs transpose and convolution.
#include "check.cuh"

__global__ void through_l1(const float* x, float* out) {
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k) sum += __ldca(&x[threadIdx.x + k]);
    out[threadIdx.x] = sum;
}

__global__ void past_l1(const float* x, float* out) {
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k) sum += __ldcg(&x[threadIdx.x + k]);
    out[threadIdx.x] = sum;
}

int main() {
    float *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, 64 * sizeof(float)));
    CHECK(cudaMalloc(&d_out, 32 * sizeof(float)));
    CHECK(cudaMemset(d_x, 0, 64 * sizeof(float)));
    through_l1<<<1, 32>>>(d_x, d_out);
    CHECK(cudaGetLastError());
    past_l1<<<1, 32>>>(d_x, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}
