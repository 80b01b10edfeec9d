// Atomics on the same word from everywhere, read by the next launch.
__global__ void count(int* counters) {
    atomicAdd(&counters[threadIdx.x % 4], 1);
    atomicMax(&counters[4], threadIdx.x);
}
__global__ void total(int* counters) {
    counters[5 + threadIdx.x] = counters[threadIdx.x] + counters[4];
}

int main() {
    int out[9], *d_out;
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    count<<<4, 64>>>(d_out);
    total<<<1, 4>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    for (int i = 0; i < 9; ++i)
        if (out[i] != (i < 4 ? 64 : i == 4 ? 63 : 127)) return 1;
    return 0;
}
