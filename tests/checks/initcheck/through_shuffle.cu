// Nothing is copied to d_a, and other lanes use its elements after a shuffle.
__global__ void sum(const float* a, float* c) {
    float v = a[threadIdx.x];
    float next = __shfl_down_sync(0xffffffff, v, 1);
    c[threadIdx.x] = next * 2;  // expect: initcheck/global (other: -2)
}

int main() {
    float *d_a, *d_c;
    cudaMalloc(&d_a, 32 * sizeof(float));
    cudaMalloc(&d_c, 32 * sizeof(float));
    sum<<<1, 32>>>(d_a, d_c);
    cudaDeviceSynchronize();
    cudaFree(d_a);
    cudaFree(d_c);
    return 0;
}
