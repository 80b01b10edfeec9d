// Each stream smooths its half, and at the edge reads one element of the half that the other one writes.
__global__ void smooth(float* x, int first, int n) {
    const int i = first + threadIdx.x;
    const float right = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    x[i] = (x[i] + right) / 2;
}

int main() {
    float* x;
    cudaMalloc(&x, 512 * sizeof(float));
    cudaMemset(x, 0, 512 * sizeof(float));
    cudaStream_t stream[2];
    for (auto& s : stream) cudaStreamCreate(&s);
    smooth<<<1, 256, 0, stream[0]>>>(x, 0, 512);
    smooth<<<1, 256, 0, stream[1]>>>(x, 256, 512);  // expect: racecheck/stream (other: -1)
    cudaDeviceSynchronize();
    for (auto& s : stream) cudaStreamDestroy(s);
    cudaFree(x);
    return 0;
}
