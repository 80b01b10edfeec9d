// n / 256 is 0 for n = 100: round up.
__global__ void fill(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 1;
}

int main() {
    int a[100], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<100 / 256, 256>>>(d_a, 100);  // expect: launch/configuration
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int v : a)
        if (v != 1) return 1;
    return 0;
}
