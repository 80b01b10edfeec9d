// A scan with two buffers needs one barrier a step.
__global__ void scan(int* a) {
    __shared__ int s[2][128];
    int t = threadIdx.x, now = 0;
    s[0][t] = a[t];
    __syncthreads();
    for (int k = 32; k < 128; k *= 2) {
        int x = t >= k ? s[now][t - k] : 0;
        now = 1 - now;
        s[now][t] = x + s[1 - now][t];
        __syncthreads();
    }
    a[t] = s[now][t];
}

int main() {
    int a[128], *d_a;
    for (int i = 0; i < 128; ++i) a[i] = 1;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    scan<<<1, 128>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 128; ++i)
        if (a[i] != i / 32 + 1) return 1;
    return 0;
}
