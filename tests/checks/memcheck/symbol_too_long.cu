// More than the __constant__ array holds.
__constant__ float weights[8];
__global__ void use(float* a) { a[threadIdx.x] = weights[threadIdx.x]; }  // may: initcheck/constant

int main() {
    float w[16] = {}, *d_a;
    cudaMalloc(&d_a, sizeof w);
    cudaError_t error = cudaMemcpyToSymbol(weights, w, sizeof w);  // expect: memcheck/copy-out-of-bounds
    use<<<1, 8>>>(d_a);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    cudaFree(d_a);
    return error != cudaSuccess;
}
