// The third argument of a launch counts bytes, not elements.
__global__ void reverse(float* a) {
    extern __shared__ float s[];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main() {
    float a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 64, 64 * sizeof(float)>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 64; ++i)
        if (a[i] != 63 - i) return 1;
    return 0;
}
