// A scan in place: the barrier at the end of a step does not separate its reads from its writes.
__global__ void scan(int* a) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int k = 32; k < 128; k *= 2) {
        int x = t >= k ? s[t - k] : 0;
        s[t] += x;  // expect: racecheck/shared (other: -1)
        __syncthreads();
    }
    a[t] = s[t];
}

int main() {
    int a[128], *d_a;
    for (int i = 0; i < 128; ++i) a[i] = 1;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    scan<<<1, 128>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 128; ++i)
        if (a[i] != i / 32 + 1) return 1;
    return 0;
}
