// The event is recorded before the kernel is launched, so that waiting for it says nothing of the kernel.
__global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }
__global__ void sum(const int* x, int* y) { y[threadIdx.x] += x[threadIdx.x]; }

int main() {
    int *x, *y;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    cudaMemset(x, 1, 256 * sizeof(int));
    cudaMemset(y, 0, 256 * sizeof(int));
    cudaDeviceSynchronize();
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, first);
    square<<<1, 256, 0, first>>>(x);
    cudaStreamWaitEvent(second, done, 0);
    sum<<<1, 256, 0, second>>>(x, y);  // expect: racecheck/stream (other: -2)
    cudaDeviceSynchronize();
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
