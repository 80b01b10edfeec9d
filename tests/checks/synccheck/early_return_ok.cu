// Threads that have left the kernel are not waited for (since Volta): whole warps here, and a part of one.
__global__ void reverse(int* a, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = a[t];
    __syncthreads();
    a[t] = s[n - 1 - t];
}

int main() {
    int a[50], *d_a;
    for (int i = 0; i < 50; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 128>>>(d_a, 50);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 50; ++i)
        if (a[i] != 49 - i) return 1;
    return 0;
}
