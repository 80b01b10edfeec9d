// Beyond a thread's own array lies the rest of its stack, if the kernel calls functions.
#include <cstdio>

__global__ void count(const int* in, int* out) {
    int bins[8] = {};
    for (int i = 0; i < 16; ++i) ++bins[in[i]];  // expect: memcheck/out-of-bounds
    if (bins[0] > 100) printf("%d\n", bins[0]);
    out[threadIdx.x] = bins[in[threadIdx.x]];
}

int main() {
    int in[16], *d_in, *d_out;
    for (int i = 0; i < 16; ++i) in[i] = 3 * i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof in);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    count<<<1, 16>>>(d_in, d_out);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(d_in);
    cudaFree(d_out);
    return error == cudaSuccess ? 0 : 2;
}
