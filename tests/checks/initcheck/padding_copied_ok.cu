// The padding of a pitch is copied with its rows and never used: no mistake.
__global__ void copy(const int* in, int* out) {
    int i = blockIdx.x * 128 + threadIdx.x;
    out[i] = in[i];
}

int main() {
    static int a[4][100], b[4][128];
    int *d_a, *d_b;
    for (int i = 0; i < 400; ++i) a[i / 100][i % 100] = i;
    cudaMalloc(&d_a, sizeof b);
    cudaMalloc(&d_b, sizeof b);
    cudaMemcpy2D(d_a, sizeof b[0], a, sizeof a[0], sizeof a[0], 4, cudaMemcpyHostToDevice);
    copy<<<4, 128>>>(d_a, d_b);
    cudaMemcpy(b, d_b, sizeof b, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    for (int i = 0; i < 400; ++i)
        if (b[i / 100][i % 100] != i) return 1;
    return 0;
}
