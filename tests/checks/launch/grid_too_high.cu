// A grid has at most 65,535 blocks in y.
__global__ void fill(int* a) { if (blockIdx.y == 0) a[blockIdx.x] = 1; }

int main() {
    int a[2], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<dim3(2, 65536), 1>>>(d_a);  // expect: launch/configuration
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int v : a)
        if (v != 1) return 1;
    return 0;
}
