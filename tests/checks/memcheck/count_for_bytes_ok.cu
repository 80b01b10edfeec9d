// cudaMalloc counts bytes, not elements.
__global__ void fill(int* a) { a[threadIdx.x] = threadIdx.x; }

int main() {
    int a[256], *d_a;
    cudaMalloc(&d_a, 256 * sizeof(int));
    fill<<<1, 256>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 256; ++i)
        if (a[i] != i) return 1;
    return error != cudaSuccess;
}
