// The number of rounds, and so of barriers, depends on the thread.
__global__ void rounds(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int n = in[t] < 32 ? 3 : 2;
    s[t] = 0;
    for (int i = 0; i < n; ++i) {
        s[t] += i;
        __syncthreads();
    }
    // Here stands who has had enough rounds, while others are in the loop.
    s[t] += 100;
    // may: synccheck/divergent-barrier (other: +1)
    __syncthreads();  // expect: synccheck/divergent-barrier (other: -5)
    out[t] = s[t];
}

int main() {
    int in[64], out[64], *d_in, *d_out;
    for (int i = 0; i < 64; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    rounds<<<1, 64>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != 103) return 1;
    return 0;
}
