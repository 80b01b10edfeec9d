// A float4 begins at a multiple of 16 bytes.
__global__ void clear(float* a) {
    // expect: memcheck/misaligned
    reinterpret_cast<float4*>(a + 1)[threadIdx.x] = make_float4(0, 0, 0, 0);
}

int main() {
    float a[136], *d_a;
    for (int i = 0; i < 136; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    clear<<<1, 32>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 136; ++i)
        if (a[i] != (i < 4 || i >= 132 ? i : 0)) return 1;
    return 0;
}
