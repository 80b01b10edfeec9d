// A barrier that only some threads reach.
__global__ void reverse(int* a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 48) {
        s[t] = a[t];
        __syncthreads();  // expect: synccheck/divergent-barrier
    }
    if (t < 48) a[t] = s[47 - t];
    if (t >= 48) a[t] = 0;
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != (i < 48 ? 47 - i : 0)) return 1;
    return 0;
}
