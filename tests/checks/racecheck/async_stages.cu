// Two stages: the copy into a buffer begins when all have read it.
#include <cuda_pipeline.h>

__global__ void sums(const int* in, int* out) {
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int i = 0; i < 4; ++i) {
        if (i < 3) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[(i + 1) * 64 + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[i % 2][63 - t];  // expect: racecheck/shared (other: -4)
    }
    out[t] = sum;
}

int main() {
    int in[256], out[64], *d_in, *d_out;
    for (int i = 0; i < 256; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sums<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != 4 * (63 - i) + 6 * 64) return 1;
    return 0;
}
