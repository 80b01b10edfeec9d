// Source and destination exchanged.
int main() {
    int a[32], *d_a;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    // expect: memcheck/copy-direction
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyHostToDevice);
    cudaFree(d_a);
    return error != cudaSuccess;
}
