// Two streams bring their pieces through the same buffer on the device.
__global__ void add(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }

int main() {
    float *h, *buffer, *sum;
    cudaMallocHost(&h, 512 * sizeof(float));
    cudaMalloc(&buffer, 256 * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    for (int i = 0; i < 512; ++i) h[i] = 1;
    cudaMemset(sum, 0, sizeof(float));
    cudaStream_t stream[2];
    for (auto& s : stream) cudaStreamCreate(&s);
    for (int i = 0; i < 2; ++i) {
        // The second turn's copy overwrites what the first turn's kernel may still read.
        // expect: racecheck/stream (other: +0)
        cudaMemcpyAsync(buffer, h + 256 * i, 256 * sizeof(float), cudaMemcpyHostToDevice,
                        stream[i]);
        add<<<1, 256, 0, stream[i]>>>(buffer, sum);
    }
    cudaDeviceSynchronize();
    for (auto& s : stream) cudaStreamDestroy(s);
    cudaFree(buffer);
    cudaFree(sum);
    cudaFreeHost(h);
    return 0;
}
