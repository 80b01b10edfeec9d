// A barrier of the block does not wait for other blocks; that of a cooperative grid does.
#include <cooperative_groups.h>

__global__ void reverse(const int* in, int* between, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    between[i] = in[i] + 1;
    cooperative_groups::this_grid().sync();
    out[i] = between[127 - i];
}

int main() {
    int in[128], out[128], *d_in, *d_between, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in), cudaMalloc(&d_between, sizeof in), cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    void* arguments[] = {&d_in, &d_between, &d_out};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(reverse), 2, 64, arguments);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in), cudaFree(d_between), cudaFree(d_out);
    for (int i = 0; i < 128; ++i)
        if (out[i] != 128 - i) return 1;
    return 0;
}
