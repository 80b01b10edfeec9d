// Each thread swaps a pair, so each pair is swapped twice at once.
__global__ void transpose(int* a) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x != y) {
        int above = a[y * 16 + x], below = a[x * 16 + y];
        // expect: racecheck/global (other: -3)
        // may: racecheck/global (other: +1)
        a[y * 16 + x] = below;
        a[x * 16 + y] = above;  // expect: racecheck/global (other: -4)
    }
}

int main() {
    int a[256], *d_a;
    for (int i = 0; i < 256; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    transpose<<<16, 16>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 256; ++i)
        if (a[i] != i % 16 * 16 + i / 16) return 1;
    return 0;
}
