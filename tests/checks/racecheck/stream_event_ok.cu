// The event behind the kernel, and read by a copy that the host waits for.
__global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }
__global__ void sum(const int* x, int* y) { y[threadIdx.x] += x[threadIdx.x]; }

int main() {
    int *x, *y, last;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    cudaMemset(y, 0, 256 * sizeof(int));
    cudaDeviceSynchronize();
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t done;
    cudaEventCreate(&done);
    square<<<1, 256, 0, first>>>(x);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    sum<<<1, 256, 0, second>>>(x, y);
    cudaStreamSynchronize(second);
    cudaMemcpy(&last, y + 255, sizeof last, cudaMemcpyDeviceToHost);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(y);
    return last;
}
