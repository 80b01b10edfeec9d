// The left neighbour of the first element in shared memory, where another array ends.
__global__ void difference(int* a) {
    __shared__ int unused[96], s[64];
    int i = threadIdx.x;
    unused[i] = 1;
    s[i] = a[i];
    __syncthreads();
    a[i] = s[i] - s[i - 1] + unused[63 - i];  // expect: memcheck/out-of-bounds
}

int main() {
    int* d_a;
    cudaMalloc(&d_a, 64 * sizeof(int));
    cudaMemset(d_a, 0, 64 * sizeof(int));
    difference<<<1, 64>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_a);
    return error == cudaSuccess ? 0 : 2;
}
