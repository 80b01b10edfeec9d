// One thread computes for all; all read at once.
__global__ void scale(int* a) {
    __shared__ int factor;
    if (threadIdx.x == 127) factor = a[0] + 3;
    __syncthreads();
    if (threadIdx.x < 64) a[threadIdx.x + 1] *= factor;
}

int main() {
    int a[65], *d_a;
    for (int i = 0; i < 65; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    scale<<<1, 128>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 65; ++i)
        if (a[i] != (i == 0 ? 0 : 3 * i)) return 1;
    return 0;
}
