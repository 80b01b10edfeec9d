// A stream with cudaStreamNonBlocking does not wait for the default stream.
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }

int main() {
    int *x, *y;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    fill<<<1, 256>>>(x);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    add<<<1, 256, 0, stream>>>(x, y);  // expect: racecheck/stream (other: -3)
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
