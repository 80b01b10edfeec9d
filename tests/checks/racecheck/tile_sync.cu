// Cooperative groups: a tile of 16 threads has its own barrier.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void reverse(int* a) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, first = t / 16 * 16;
    s[t] = a[t];
    a[t] = s[first + 15 - tile.thread_rank()];  // expect: racecheck/warp (other: -1)
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
        if (a[i] != i / 16 * 16 + 15 - i % 16) return 1;
    return 0;
}
