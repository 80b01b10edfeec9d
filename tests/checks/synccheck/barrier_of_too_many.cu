// A named barrier for 96 threads that 64 reach.
__global__ void meet(int* a) {
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 96;" ::: "memory");  // expect: synccheck/deadlock
    __syncthreads();  // may: synccheck/deadlock
    a[threadIdx.x] += 1;
}

int main() {
    int a[128], *d_a;
    for (int i = 0; i < 128; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    meet<<<1, 128>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 128; ++i)
        if (a[i] != i + 1) return 1;
    return 0;
}
