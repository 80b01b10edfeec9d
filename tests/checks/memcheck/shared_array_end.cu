// The right neighbour of the last element in shared memory.
__global__ void sums(int* a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    a[t] = s[t] + s[t + 1];  // expect: memcheck/out-of-bounds
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    sums<<<1, 64>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 64; ++i)
        if (a[i] != (i < 63 ? 2 * i + 1 : 63)) return 1;
    return 0;
}
