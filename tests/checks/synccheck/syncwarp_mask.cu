// The mask names 32 lanes, and 16 come.
__global__ void exchange(int* a) {
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = a[t];
        __syncwarp();  // expect: synccheck/lane-mask
        a[t] = s[15 - t];
    } else {
        a[t] = -a[t];
    }
}

int main() {
    int a[32], *d_a;
    for (int i = 0; i < 32; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    exchange<<<1, 32>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 32; ++i)
        if (a[i] != (i < 16 ? 15 - i : -i)) return 1;
    return 0;
}
