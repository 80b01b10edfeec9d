// The block's barrier by cooperative groups, in a condition.
#include <cooperative_groups.h>

__global__ void reverse(int* a) {
    __shared__ int s[64];
    auto block = cooperative_groups::this_thread_block();
    int t = block.thread_rank();
    if (t < 32) {
        s[t] = a[t];
        block.sync();  // expect: synccheck/divergent-barrier
    }
    if (t < 32) a[t] = s[31 - t];
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
        if (a[i] != (i < 32 ? 31 - i : i)) return 1;
    return 0;
}
