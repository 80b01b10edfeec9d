// A thread's own array of 8, indexed by data.
__global__ void count(const int* in, int* out) {
    int bins[8] = {};
    for (int i = 0; i < 16; ++i) ++bins[in[i]];  // expect: memcheck/out-of-bounds
    out[threadIdx.x] = bins[in[threadIdx.x]];
}

int main() {
    int in[16], out[16], *d_in, *d_out;
    for (int i = 0; i < 16; ++i) in[i] = i % 9;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    count<<<1, 16>>>(d_in, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 16; ++i)
        if (out[i] != (i % 9 < 7 ? 2 : 1)) return 1;
    return 0;
}
