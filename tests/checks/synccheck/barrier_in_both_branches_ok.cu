// Two barriers in the source are two barriers, even if each thread reaches one.
__global__ void exchange(int* a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = a[t];
    } else {
        s[t] = -a[t];
    }
    __syncthreads();
    a[t] = s[63 - t];
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    exchange<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != (i < 32 ? i - 63 : 63 - i)) return 1;
    return 0;
}
