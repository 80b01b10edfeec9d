// A barrier in a condition that is the same for all threads of a block.
__global__ void reverse(int* a, int rounds) {
    __shared__ int s[64];
    int t = threadIdx.x, *part = a + blockIdx.x * 64;
    if (blockIdx.x == 0) return;
    for (int i = 0; i < rounds; ++i) {
        if (i % 2 == 0) {
            s[t] = part[t];
            __syncthreads();
            part[t] = s[63 - t];
            __syncthreads();
        }
    }
}

int main() {
    int a[128], *d_a;
    for (int i = 0; i < 128; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<2, 64>>>(d_a, 3);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 128; ++i)
        if (a[i] != i) return 1;
    return 0;
}
