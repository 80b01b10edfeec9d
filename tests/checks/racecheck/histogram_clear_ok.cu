// A histogram in shared memory, counted without waiting for the zeros.
__global__ void histogram(const int* in, int* out) {
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t >= 224) bins[t - 224] = 0;
    __syncthreads();
    // Only the first warps count: those that wrote the zeros do not.
    if (t < 192) atomicAdd(&bins[in[t]], 1);
    __syncthreads();
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
        if (out[i] != 6) return 1;
    return 0;
}
