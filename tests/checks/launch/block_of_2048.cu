// A block has at most 1,024 threads.
__global__ void fill(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
    int a[2048], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<1, 2048>>>(d_a);  // expect: launch/configuration
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int v : a)
        if (v != 1) return 1;
    return 0;
}
