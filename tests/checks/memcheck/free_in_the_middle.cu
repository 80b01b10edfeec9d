// The pointer was moved on before it is freed.
__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
    int *d_a, *d_next;
    cudaMalloc(&d_a, 64 * sizeof(int));
    d_next = d_a + 32;
    fill<<<1, 32>>>(d_a);
    fill<<<1, 32>>>(d_next);
    cudaError_t error = cudaFree(d_next);  // expect: memcheck/bad-free
    if (error == cudaErrorInvalidValue) cudaFree(d_a);
    return error != cudaSuccess;
}
