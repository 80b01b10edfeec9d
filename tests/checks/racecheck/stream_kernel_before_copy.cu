// The kernel is in another stream than the copy that brings its input: it may run first.
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
    cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, copies);
    scale<<<n / 256, 256, 0, kernels>>>(d, n);  // expect: racecheck/stream (other: -1)
    cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, copies);  // expect: racecheck/stream (other: -1)
    cudaDeviceSynchronize();
    cudaStreamDestroy(copies);
    cudaStreamDestroy(kernels);
    cudaFree(d);
    cudaFreeHost(h);
    return 0;
}
