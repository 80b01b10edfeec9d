// An array is copied before it has values; the copy gets its values later.
__global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void fill(int* a) { a[threadIdx.x] = threadIdx.x; }
__global__ void twice(int* a) { a[threadIdx.x] *= 2; }

int main() {
    int a[32], *d_a, *d_b;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof a);
    copy<<<1, 32>>>(d_a, d_b);
    fill<<<1, 32>>>(d_b);
    twice<<<1, 32>>>(d_b);
    cudaMemcpy(a, d_b, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    for (int i = 0; i < 32; ++i)
        if (a[i] != 2 * i) return 1;
    return 0;
}
