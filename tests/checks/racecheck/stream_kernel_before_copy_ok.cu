// The same with an event behind the copy, and one behind the kernel.
__global__ void scale(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 1024;
    float *h, *d;
    cudaMallocHost(&h, n * sizeof(float));
    cudaMalloc(&d, n * sizeof(float));
    for (int i = 0; i < n; ++i) h[i] = i;
    cudaStream_t copies, kernels;
    cudaStreamCreate(&copies);
    cudaStreamCreate(&kernels);
    cudaEvent_t copied, scaled;
    cudaEventCreate(&copied);
    cudaEventCreate(&scaled);
    cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied, copies);
    cudaStreamWaitEvent(kernels, copied, 0);
    scale<<<n / 256, 256, 0, kernels>>>(d, n);
    cudaEventRecord(scaled, kernels);
    cudaStreamWaitEvent(copies, scaled, 0);
    cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, copies);
    cudaStreamSynchronize(copies);
    const bool right = h[n - 1] == 2 * (n - 1);
    cudaEventDestroy(copied);
    cudaEventDestroy(scaled);
    cudaStreamDestroy(copies);
    cudaStreamDestroy(kernels);
    cudaFree(d);
    cudaFreeHost(h);
    return right ? 0 : 1;
}
