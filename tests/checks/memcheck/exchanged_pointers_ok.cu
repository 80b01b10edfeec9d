// Source and destination exchanged.
int main() {
    int a[32], *d_a;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaError_t error = cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaFree(d_a);
    return error != cudaSuccess;
}
