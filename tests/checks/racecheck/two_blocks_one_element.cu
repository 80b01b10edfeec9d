// Each block writes the whole array instead of its part.
__global__ void fill(int* a) {
    int i = threadIdx.x;
    a[i] = blockIdx.x;  // expect: racecheck/global (other: +0)
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    fill<<<2, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != i / 32) return 1;
    return 0;
}
