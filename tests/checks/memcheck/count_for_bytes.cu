// cudaMalloc counts bytes, not elements.
__global__ void fill(int* a) { a[threadIdx.x] = threadIdx.x; }  // expect: memcheck/out-of-bounds

int main() {
    int* d_a;
    cudaMalloc(&d_a, 256);
    fill<<<1, 256>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_a);
    return error != cudaSuccess;
}
