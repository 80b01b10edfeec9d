// Reverses an array in shared memory.
__global__ void reverse(int* a) {
    __shared__ int s[64];
    int i = threadIdx.x;
    s[i] = a[i];
    // expect: racecheck/shared (other: -3)
    // may: initcheck/shared
    a[i] = s[63 - i];
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != 63 - i) return 1;
    return 0;
}
