// Rows of a pitch, written and read up to their width.
__global__ void fill(char* rows, size_t pitch) {
    reinterpret_cast<int*>(rows + blockIdx.x * pitch)[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
}

int main() {
    int a[4][100];
    char* d_a;
    size_t pitch;
    cudaMallocPitch(&d_a, &pitch, sizeof a[0], 4);
    fill<<<4, 100>>>(d_a, pitch);
    cudaMemcpy2D(a, sizeof a[0], d_a, pitch, sizeof a[0], 4, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 400; ++i)
        if (a[i / 100][i % 100] != i) return 1;
    return 0;
}
