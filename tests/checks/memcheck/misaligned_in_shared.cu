// Bytes in front of the ints of a dynamic shared array.
__global__ void copy(int* a) {
    extern __shared__ char bytes[];
    int* s = reinterpret_cast<int*>(bytes + 66);
    s[threadIdx.x] = a[threadIdx.x];  // expect: memcheck/misaligned
    a[threadIdx.x] = s[threadIdx.x] + 1;
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    copy<<<1, 64, 64 + 65 * sizeof(int)>>>(d_a);
    cudaError_t error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 64; ++i)
        if (a[i] != i + 1) return 1;
    return 0;
}
