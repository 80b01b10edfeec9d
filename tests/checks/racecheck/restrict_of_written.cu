// const __restrict__ for what another parameter writes: nvcc reads it through the read-only cache.
__global__ void twice(const float* __restrict__ in, float* __restrict__ out, float* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2;
    __syncthreads();
    sums[i] = in[i ^ 1];  // expect: racecheck/stale-read (other: -2)
}

int main() {
    float *d_x, *d_sums, sums[512];
    cudaMalloc(&d_x, sizeof sums);
    cudaMalloc(&d_sums, sizeof sums);
    cudaMemset(d_x, 0, sizeof sums);
    twice<<<4, 128>>>(d_x, d_x, d_sums);
    cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    cudaFree(d_sums);
    return sums[0] == 2 ? 0 : 1;
}
