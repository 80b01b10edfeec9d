// In the last round only some lanes are left; __ballot_sync() before the round says which.
__global__ void sums(const int* in, int n, int* out) {
    int sum = 0;
    unsigned mask = 0xffffffff;
    for (int i = threadIdx.x;; i += 32) {
        mask = __ballot_sync(mask, i < n);
        if (i >= n) break;
        sum += __shfl_sync(mask, in[i], 0);
    }
    out[threadIdx.x] = sum;
}

int main() {
    int in[40], out[32], *d_in, *d_out;
    for (int i = 0; i < 40; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(d_in, 40, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < 32; ++i)
        if (out[i] != (i < 8 ? 32 : 0)) return 1;
    return 0;
}
