// __ldg() promises that nobody writes the data while the kernel runs, and a barrier changes nothing about that.
__global__ void neighbours(int* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] *= 2;
    __syncthreads();
    int right = threadIdx.x + 1 < blockDim.x ? __ldg(&a[i + 1]) : 0;  // expect: racecheck/stale-read (other: -2)
    __syncthreads();
    a[i] += right;
}

int main() {
    int a[256], *d_a;
    for (int i = 0; i < 256; ++i) a[i] = 1;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    neighbours<<<2, 128>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    return a[0] == 4 && a[127] == 2 ? 0 : 1;
}
