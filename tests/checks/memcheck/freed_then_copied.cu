// A copy from memory that was freed.
__global__ void fill(int* a) { a[threadIdx.x] = 7; }

int main() {
    int a[32], *d_a;
    cudaMalloc(&d_a, sizeof a);
    fill<<<1, 32>>>(d_a);
    cudaFree(d_a);
    // expect: memcheck/use-after-free (other: -2)
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    return error != cudaSuccess;
}
