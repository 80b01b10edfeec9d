// The kernel stops itself.
__global__ void check(const int* in, int* out) {
    if (in[threadIdx.x] > 30) __trap();  // expect: launch/failed
    out[threadIdx.x] = in[threadIdx.x];
}

int main() {
    int in[32], out[32], *d_in, *d_out;
    for (int i = 0; i < 32; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    check<<<1, 32>>>(d_in, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 32; ++i)
        if (out[i] != in[i]) return 1;
    return 0;
}
