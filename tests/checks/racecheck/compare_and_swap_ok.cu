// The loop of CUDA's guide: the first value is a guess, which the compare-and-swap confirms or replaces.
__device__ float at_most_one_waits(float* address, float value) {
    int* as_int = (int*)address;
    int old = *as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void largest(const float* x, float* result, int n) {
    __shared__ float mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at_most_one_waits(&mine, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) at_most_one_waits(result, mine);
}

int main() {
    const int n = 1000;
    static float x[n];
    for (int i = 0; i < n; ++i) x[i] = i * 7 % n;
    float out = 0, *d_x, *d_out;
    cudaMalloc(&d_x, sizeof x);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0, sizeof out);
    largest<<<(n + 127) / 128, 128>>>(d_x, d_out, n);
    cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    cudaFree(d_out);
    return out != 999;
}
