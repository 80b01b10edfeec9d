// The right number of bytes, from the middle on.
int main() {
    int a[64] = {}, *d_a;
    cudaMalloc(&d_a, sizeof a);
    // expect: memcheck/copy-out-of-bounds
    cudaError_t error = cudaMemcpy(d_a + 32, a, sizeof a, cudaMemcpyHostToDevice);
    cudaFree(d_a);
    return error != cudaSuccess;
}
