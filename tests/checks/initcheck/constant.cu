// A filter in constant memory that nobody has set.
__constant__ float weights[4];
__constant__ int unused;
__global__ void scale(float* x, bool offset) {
    x[threadIdx.x] *= weights[threadIdx.x % 4];  // expect: initcheck/constant
    if (offset) x[threadIdx.x] += unused;
}

int main() {
    float x[32] = {}, *d_x;
    cudaMalloc(&d_x, sizeof x);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    scale<<<1, 32>>>(d_x, false);
    cudaFree(d_x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
