// Half of each warp waits, the other half works on.
__global__ void copy(const int* in, int* out) {
    int t = threadIdx.x, v = in[t];
    if (t % 2) {
        __syncthreads();  // expect: synccheck/divergent-barrier
        v *= 3;
    }
    out[t] = v;
}

int main() {
    int in[64], out[64], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    copy<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != (i % 2 ? 3 * i : i)) return 1;
    return 0;
}
