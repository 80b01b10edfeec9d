// Two barriers, taken in opposite orders by two warps: each waits for the other.
#define WAIT(barrier) asm volatile("bar.sync " #barrier ", 64;" ::: "memory")
__global__ void cross(int* a) {
    if (threadIdx.x < 32) {
        WAIT(1);
        WAIT(2);
    } else {
        WAIT(1);
        WAIT(2);
    }
    a[threadIdx.x] += 1;
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cross<<<1, 64>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 64; ++i)
        if (a[i] != i + 1) return 1;
    return 0;
}
