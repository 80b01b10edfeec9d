// More than 48 KiB of dynamic shared memory must be asked for.
__global__ void fill(int* a) {
    extern __shared__ int s[];
    s[100 * threadIdx.x] = 1;
    a[threadIdx.x] = s[100 * threadIdx.x];
}

int main() {
    int a[128], *d_a;
    cudaMalloc(&d_a, sizeof a);
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    fill<<<1, 128, 60000>>>(d_a);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    if (error != cudaSuccess) return 2;
    for (int v : a)
        if (v != 1) return 1;
    return 0;
}
