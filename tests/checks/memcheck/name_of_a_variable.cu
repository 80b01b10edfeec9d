// The name of an array in constant memory, taken for its address on the device.
__constant__ float weights[4];
__global__ void scale(float* x) { x[threadIdx.x] *= weights[threadIdx.x % 4]; }

int main() {
    float x[32] = {}, w[4] = {1, 2, 3, 4}, *d_x;
    cudaMalloc(&d_x, sizeof x);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(weights, w, sizeof w, cudaMemcpyHostToDevice);  // expect: memcheck/variable-address
    cudaMemcpyToSymbol(weights, w, sizeof w);
    scale<<<1, 32>>>(d_x);
    cudaFree(d_x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
