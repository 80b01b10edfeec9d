// cuda::barrier: arriving releases, waiting acquires.
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void reverse(int* a) {
    __shared__ int s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    int t = threadIdx.x;
    if (t == 0) init(&barrier, 64);
    __syncthreads();
    s[t] = a[t];
    barrier.arrive_and_wait();
    a[t] = s[63 - t];
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != 63 - i) return 1;
    return 0;
}
