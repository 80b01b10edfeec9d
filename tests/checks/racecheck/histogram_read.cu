// A histogram in shared memory, read without waiting for the atomics of the other warps.
__global__ void histogram(const int* in, int* out) {
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t < 32) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[t]], 1);
    // expect: racecheck/shared (other: -3)
    // may: racecheck/warp (other: -3)
    if (t < 32) out[t] = bins[t];
}

int main() {
    int in[256], out[32], *d_in, *d_out;
    for (int i = 0; i < 256; ++i) in[i] = i % 32;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    histogram<<<1, 256>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 32; ++i)
        if (out[i] != 8) return 1;
    return 0;
}
