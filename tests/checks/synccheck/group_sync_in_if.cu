// The block's barrier by cooperative groups, in a condition that divides a warp.
#include <cooperative_groups.h>

__global__ void reverse(int* a) {
    __shared__ int s[48];
    auto block = cooperative_groups::this_thread_block();
    int t = block.thread_rank();
    if (t < 48) {
        s[t] = a[t];
        block.sync();  // expect: synccheck/divergent-barrier
        a[t] = s[47 - t];
    } else {
        a[t] = -1;
    }
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
        if (a[i] != (i < 48 ? 47 - i : -1)) return 1;
    return 0;
}
