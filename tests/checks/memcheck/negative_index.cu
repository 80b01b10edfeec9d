// The left neighbour of element 0.
__global__ void differences(const int* in, int* out) {
    int i = threadIdx.x;
    out[i] = in[i] - in[i - 1];  // expect: memcheck/out-of-bounds
}

int main() {
    int in[64], out[64], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = 3 * i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    differences<<<1, 64>>>(d_in, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 64; ++i)
        if (out[i] != (i > 0 ? 3 : 0)) return 1;
    return 0;
}
