// A copy from memory that was freed.
__global__ void fill(int* a) { a[threadIdx.x] = 7; }

int main() {
    int a[32], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<1, 32>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int v : a)
        if (v != 7) return 1;
    return error != cudaSuccess;
}
