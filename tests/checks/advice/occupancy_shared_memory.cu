// A block of 64 threads that takes 100 KB of shared memory: two fit on a multiprocessor.
const int N = 65536;
__global__ void twice(const float* in, float* out) {  // expect: advice/occupancy
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = 2 * s[threadIdx.x];
}

int main() {
    static float in[N], out[N];
    float *d_in, *d_out;
    for (int i = 0; i < N; ++i) in[i] = i % 100;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    int bytes = 100000;
    cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    twice<<<N / 64, 64, bytes>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    for (int i = 0; i < N; ++i)
        if (out[i] != 2 * in[i]) return 1;
    return 0;
}
