// The lanes that happen to be together, by cooperative groups.
#include <cooperative_groups.h>

__global__ void count(const int* in, int* out) {
    if (in[threadIdx.x] % 3 == 0) {
        auto lanes = cooperative_groups::coalesced_threads();
        if (lanes.thread_rank() == 0) atomicAdd(out, lanes.size());
    }
}

int main() {
    int in[128], out, *d_in, *d_out;
    for (int i = 0; i < 128; ++i) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    count<<<1, 128>>>(d_in, d_out);
    cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out != 43;
}
