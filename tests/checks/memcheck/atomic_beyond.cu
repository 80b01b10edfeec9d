// A bin for each value: 255 needs the 256th.
__global__ void histogram(const int* in, int* bins) {
    atomicAdd(&bins[in[threadIdx.x] + 1], 1);  // expect: memcheck/out-of-bounds
}

int main() {
    int in[256], out[256], *d_in, *d_out;
    for (int i = 0; i < 256; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, sizeof out);
    histogram<<<1, 256>>>(d_in, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 256; ++i)
        if (error != cudaSuccess || out[i] != 1) return 1;
    return 0;
}
