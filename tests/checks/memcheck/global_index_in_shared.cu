// The index of the grid for an array of the block: the second block begins where the array ends.
__global__ void scale(float* a) {
    __shared__ float weight[128];
    __shared__ float s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = a[i];
    weight[i] = 2;  // expect: memcheck/out-of-bounds
    __syncthreads();
    a[i] = s[threadIdx.x] * weight[i];
}

int main() {
    float* d_a;
    cudaMalloc(&d_a, 512 * sizeof(float));
    cudaMemset(d_a, 0, 512 * sizeof(float));
    scale<<<4, 128>>>(d_a);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_a);
    return error == cudaSuccess ? 0 : 2;
}
