// Row and column exchanged: harmless for squares only.
__global__ void fill(int* a, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) a[x * width + y] = 1;  // expect: memcheck/out-of-bounds
}

int main() {
    int a[512], *d_a;
    for (int i = 0; i < 512; ++i) a[i] = 0;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    fill<<<dim3(4, 1), dim3(16, 16)>>>(d_a, 64, 8);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 512; ++i)
        if (a[i] != 1) return 1;
    return 0;
}
