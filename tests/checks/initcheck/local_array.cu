// A thread's own array of sums: one element was forgotten.
__global__ void sums(const int* in, int* out, int n) {
    int sum[8];
    for (int i = 0; i < n; ++i) sum[in[i]] = 0;
    sum[in[threadIdx.x % n] + 1] += 1;  // expect: initcheck/local (other: +0)
    out[threadIdx.x] = sum[in[threadIdx.x % n] + 1];
}

int main() {
    int in[4] = {0, 1, 2, 3}, out[32], *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(d_in, d_out, 4);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] == 0 ? 1 : 0;
}
