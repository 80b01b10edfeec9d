// More bytes than were allocated.
int main() {
    int a[64] = {}, *d_a;
    cudaMalloc(&d_a, 32 * sizeof(int));
    cudaError_t error = cudaMemcpy(d_a, a, sizeof a / 2, cudaMemcpyHostToDevice);
    cudaFree(d_a);
    return error != cudaSuccess;
}
