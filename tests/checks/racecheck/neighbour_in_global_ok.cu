// A block's threads exchange through global memory: __syncthreads() orders that too.
__global__ void shift(int* a) {
    int t = threadIdx.x;
    int v = a[(t + 32) % 128];
    __syncthreads();
    a[t] = v;
}

int main() {
    int a[128], *d_a;
    for (int i = 0; i < 128; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    shift<<<1, 128>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 128; ++i)
        if (a[i] != (i + 32) % 128) return 1;
    return 0;
}
