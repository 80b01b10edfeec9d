// Neighbouring threads write neighbouring bytes of one word: no race, in shared memory or in global memory.
__global__ void invert(unsigned char* a) {
    __shared__ unsigned char s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    a[t] = 255 - s[127 - t];
}

int main() {
    unsigned char a[128], *d_a;
    for (int i = 0; i < 128; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    invert<<<1, 128>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 128; ++i)
        if (a[i] != 128 + i) return 1;
    return 0;
}
