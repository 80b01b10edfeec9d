// Only the first half of the warp has a value, and only from these lanes is one used.
__global__ void sum(const float* a, float* c) {
    float v = a[threadIdx.x];
    float first = __shfl_sync(0xffffffff, v, threadIdx.x % 16);
    float all = __shfl_xor_sync(0xffffffff, v, 16);
    c[threadIdx.x] = threadIdx.x < 16 ? first + 1 : all + 1;
}

int main() {
    float a[16], c[32], *d_a, *d_c;
    for (int i = 0; i < 16; ++i) a[i] = i;
    cudaMalloc(&d_a, 32 * sizeof(float));
    cudaMalloc(&d_c, 32 * sizeof(float));
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    sum<<<1, 32>>>(d_a, d_c);
    cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_c);
    for (int i = 0; i < 32; ++i)
        if (c[i] != i % 16 + 1) return 1;
    return 0;
}
