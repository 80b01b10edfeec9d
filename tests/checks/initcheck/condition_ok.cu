// A branch on flags of which the last was never written.
__global__ void mark(char* flags, int n) { if (threadIdx.x < n) flags[threadIdx.x] = threadIdx.x % 2; }
__global__ void select(const char* flags, int* out) {
    out[threadIdx.x] = 0;
    if (flags[threadIdx.x]) out[threadIdx.x] = threadIdx.x * 3;
}

int main() {
    int out[64], *d_out;
    char* d_flags;
    cudaMalloc(&d_flags, 64);
    cudaMalloc(&d_out, sizeof out);
    mark<<<1, 64>>>(d_flags, 64);
    select<<<1, 64>>>(d_flags, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_flags);
    cudaFree(d_out);
    for (int i = 0; i < 64; ++i)
        if (out[i] != (i % 2 ? 3 * i : 0)) return 1;
    return 0;
}
