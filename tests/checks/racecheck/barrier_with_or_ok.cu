// __syncthreads_or() is a barrier as well.
__global__ void reverse(int* a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    int any = __syncthreads_or(a[t] > 62);
    a[t] = any ? s[63 - t] : -1;
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
        if (a[i] != 63 - i) return 1;
    return 0;
}
