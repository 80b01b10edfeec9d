// One of two is forgotten.
__global__ void copy(const int* a, int* b) { b[threadIdx.x] = a[threadIdx.x]; }

int main() {
    int *d_a, *d_b;
    cudaMalloc(&d_a, 32 * sizeof(int));
    cudaMalloc(&d_b, 32 * sizeof(int));  // expect: memcheck/leak
    cudaMemset(d_a, 0, 32 * sizeof(int));
    copy<<<1, 32>>>(d_a, d_b);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_a);
    return error != cudaSuccess;
}
