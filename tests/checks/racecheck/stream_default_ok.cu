// Streams made by cudaStreamCreate wait for the default stream, and it waits for them.
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }

int main() {
    int *x, *y, last;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    fill<<<1, 256>>>(x);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    add<<<1, 256, 0, stream>>>(x, y);
    fill<<<1, 256>>>(y);
    add<<<1, 256, 0, stream>>>(y, x);
    cudaStreamDestroy(stream);
    cudaMemcpy(&last, x + 255, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    return last == 256 ? 0 : 1;
}
