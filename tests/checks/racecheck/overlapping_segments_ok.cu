// Each thread writes a segment; one element too many overlaps with the next one's.
__global__ void fill(int* a) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 4; ++j)
        if (4 * t + j < 256) a[4 * t + j] = t;
}

int main() {
    int a[256], *d_a;
    for (int i = 0; i < 256; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    fill<<<2, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 256; ++i)
        if (a[i] != i / 4) return 1;
    return 0;
}
