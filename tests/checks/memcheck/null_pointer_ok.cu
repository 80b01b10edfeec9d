// The pointer was never set.
__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int a[32], *d_a = nullptr;
    cudaMalloc(&d_a, sizeof a);
    fill<<<1, 32>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int v : a)
        if (v != 1) return 1;
    return error != cudaSuccess;
}
