// Cooperative groups: the block's barrier.
#include <cooperative_groups.h>

__global__ void reverse(int* a) {
    __shared__ int s[64];
    auto block = cooperative_groups::this_thread_block();
    s[block.thread_rank()] = a[block.thread_rank()];
    block.sync();
    a[block.thread_rank()] = s[63 - block.thread_rank()];
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
