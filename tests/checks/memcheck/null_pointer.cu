// The pointer was never set.
__global__ void fill(int* a) { a[threadIdx.x] = 1; }  // expect: memcheck/null-pointer

int main() {
    int* d_a = nullptr;
    fill<<<1, 32>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    return error != cudaSuccess;
}
