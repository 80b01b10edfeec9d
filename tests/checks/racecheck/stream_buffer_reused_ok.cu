// The same with a wait for the first stream in between; a query that is answered with yes is a wait as well.
__global__ void add(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }

int main() {
    float *h, *buffer, *sum, result = 0;
    cudaMallocHost(&h, 512 * sizeof(float));
    cudaMalloc(&buffer, 256 * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    for (int i = 0; i < 512; ++i) h[i] = 1;
    cudaMemset(sum, 0, sizeof(float));
    cudaStream_t stream[2];
    for (auto& s : stream) cudaStreamCreate(&s);
    for (int i = 0; i < 2; ++i) {
        cudaMemcpyAsync(buffer, h + 256 * i, 256 * sizeof(float), cudaMemcpyHostToDevice, stream[i]);
        add<<<1, 256, 0, stream[i]>>>(buffer, sum);
        if (i == 0) {
            while (cudaStreamQuery(stream[i]) == cudaErrorNotReady) {
            }
        }
    }
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    for (auto& s : stream) cudaStreamDestroy(s);
    cudaFree(buffer);
    cudaFree(sum);
    cudaFreeHost(h);
    return result == 512 ? 0 : 1;
}
