// Two arrays in one dynamic array; the second begins in the middle of the first.
__global__ void add(int* a) {
    extern __shared__ int s[];
    int t = threadIdx.x, *left = s, *right = s + 64;
    left[t] = a[t];
    right[t] = 1000;
    __syncthreads();
    a[t] = left[63 - t] + right[63 - t];
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    add<<<1, 64, 128 * sizeof(int)>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != 1063 - i) return 1;
    return 0;
}
