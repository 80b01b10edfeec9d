// An index beyond one array in shared memory, where the next one begins.
__global__ void smooth(int* a) {
    __shared__ int s[64];
    __shared__ int t[64];
    int i = threadIdx.x;
    s[i] = a[i];
    t[i] = 0;
    __syncthreads();
    t[i] = s[i] + s[i + 1];  // expect: memcheck/out-of-bounds
    a[i] = t[i];
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    smooth<<<1, 64>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    return error == cudaSuccess ? 0 : 2;
}
