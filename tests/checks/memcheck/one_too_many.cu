// <= in the place of <.
__global__ void fill(int* a, int n) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        a[i] = i;  // expect: memcheck/out-of-bounds
}

int main() {
    int a[256], *d_a;
    for (int i = 0; i < 256; ++i) a[i] = 0;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    fill<<<1, 64>>>(d_a, 256);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 256; ++i)
        if (a[i] != i) return 1;
    return 0;
}
