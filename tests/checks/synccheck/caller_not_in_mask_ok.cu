// All 32 lanes call, the mask names 16 of them.
__global__ void spread(int* a) {
    int v = a[threadIdx.x];
    v = __shfl_sync(0xffffffff, v, 3);
    a[threadIdx.x] = v;
}

int main() {
    int a[32], *d_a;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    spread<<<1, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 32; ++i)
        if (a[i] != 3) return 1;
    return 0;
}
