// More bytes than were allocated.
int main() {
    int a[64] = {}, *d_a;
    cudaMalloc(&d_a, 32 * sizeof(int));
    // expect: memcheck/copy-out-of-bounds
    cudaError_t error = cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaFree(d_a);
    return error != cudaSuccess;
}
