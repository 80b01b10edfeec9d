// Two arrays of one size: beyond the end of the first one begins, perhaps, the second.
__global__ void fill(int* a, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i;
}

int main() {
    int a[1024], *d_a, *d_b;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof a);
    fill<<<1, 256>>>(d_a, 1024);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    for (int i = 0; i < 1024; ++i)
        if (error != cudaSuccess || a[i] != i) return 1;
    return 0;
}
