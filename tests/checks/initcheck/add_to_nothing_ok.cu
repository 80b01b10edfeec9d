// cudaMalloc does not clear: += needs a value to begin with.
__global__ void add(const int* in, int* out) {
    out[threadIdx.x] += in[threadIdx.x];
}

int main() {
    int in[64], out[64], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, sizeof out);
    add<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != i) return 1;
    return 0;
}
