// Two barriers, taken in opposite orders by two warps: each waits for the other.
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
__global__ void cross(int* a) {
    if (threadIdx.x < 32) {
        wait(1);
        wait(2);
    } else {
        wait(1);
        wait(2);
    }
    a[threadIdx.x] += 1;
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cross<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != i + 1) return 1;
    return 0;
}
