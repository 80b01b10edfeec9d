// An assertion in a kernel fails.
#include <cassert>

__global__ void invert(const int* in, int* out) {
    assert(in[threadIdx.x] != 0);
    out[threadIdx.x] = 100 / in[threadIdx.x];
}

int main() {
    int in[32], out[32], *d_in, *d_out;
    for (int i = 0; i < 32; ++i) in[i] = i + 1;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    invert<<<1, 32>>>(d_in, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    if (error != cudaSuccess) return 2;
    for (int i = 0; i < 32; ++i)
        if (out[i] != 100 / in[i]) return 1;
    return 0;
}
