// Release and acquire order the data; relaxed orders nothing.
#include <cuda/atomic>

__device__ int data, ready;
__global__ void hand_over(const int* in, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(ready);
    if (blockIdx.x == 0) {
        data = in[0];
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0) {}
        *out = data;
    }
}

int main() {
    int in[1], out[1], *d_in, *d_out;
    for (int i = 0; i < 1; ++i) in[i] = 42;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    hand_over<<<2, 1>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 42;
}
