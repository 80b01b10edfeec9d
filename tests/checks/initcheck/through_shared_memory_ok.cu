// Elements of d_b go through shared memory before they are used.
__global__ void multiply(const float* a, const float* b, float* c) {
    __shared__ float a_tile[64], b_tile[64];
    int t = threadIdx.x;
    a_tile[t] = a[t];
    b_tile[t] = b[t];
    __syncthreads();
    c[t] = a_tile[63 - t] * b_tile[63 - t];
}

int main() {
    float a[64], *d_a, *d_b, *d_c;
    for (float& x : a) x = 1;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof a);
    cudaMalloc(&d_c, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, a, sizeof a, cudaMemcpyHostToDevice);
    multiply<<<2, 64>>>(d_a, d_b, d_c);
    cudaDeviceSynchronize();
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    return 0;
}
