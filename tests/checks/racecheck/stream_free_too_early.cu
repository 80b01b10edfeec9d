// cudaFreeAsync waits for its own stream only.
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int* x;
    cudaMallocAsync(&x, 256 * sizeof(int), first);
    fill<<<1, 256, 0, first>>>(x);
    cudaFreeAsync(x, second);  // expect: racecheck/stream (other: -1)
    cudaDeviceSynchronize();
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return 0;
}
