// Behind a static array begins the dynamic part of shared memory, which is another array.
__global__ void sums(int* a) {
    extern __shared__ int all[];
    __shared__ int row[32];
    int i = threadIdx.x;
    row[i] = a[i];
    all[i] = 1;
    __syncthreads();
    a[i] = row[i + all[i]];  // expect: memcheck/out-of-bounds
}

int main() {
    int* d_a;
    cudaMalloc(&d_a, 32 * sizeof(int));
    cudaMemset(d_a, 0, 32 * sizeof(int));
    sums<<<1, 32, 128>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_a);
    return error == cudaSuccess ? 0 : 2;
}
