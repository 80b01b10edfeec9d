// Freed twice.
int main() {
    int *d_a, *d_b;
    cudaMalloc(&d_a, 1024);
    cudaMalloc(&d_b, 1024);
    cudaFree(d_a);
    cudaError_t error = cudaFree(d_a);  // expect: memcheck/double-free (other: -1)
    cudaFree(d_b);
    return error != cudaSuccess;
}
