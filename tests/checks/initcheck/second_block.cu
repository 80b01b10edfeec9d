// Shared memory belongs to a block: what block 0 wrote is not there for block 1.
__global__ void use(const int* in, int* out) {
    __shared__ int table[32];
    if (blockIdx.x == 0) table[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = table[31 - threadIdx.x] + 1;  // expect: initcheck/shared
}

int main() {
    int in[32], out[64], *d_in, *d_out;
    for (int i = 0; i < 32; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    use<<<2, 32>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != 32 - i % 32) return 1;
    return 0;
}
