// __launch_bounds__ is a promise about the size of blocks.
__global__ void __launch_bounds__(128) fill(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
    int a[256], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<1, 256>>>(d_a);  // expect: launch/configuration
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int v : a)
        if (v != 1) return 1;
    return 0;
}
