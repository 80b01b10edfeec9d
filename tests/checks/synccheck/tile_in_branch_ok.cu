// A tile of 16 threads shuffles on its own, in a branch that the whole tile takes.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void spread(int* a) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int v = a[threadIdx.x];
    if (tile.meta_group_rank() % 2) v = tile.shfl(v, 5);
    a[threadIdx.x] = v;
}

int main() {
    int a[64], *d_a;
    for (int i = 0; i < 64; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    spread<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 64; ++i)
        if (a[i] != (i / 16 % 2 ? i / 16 * 16 + 5 : i)) return 1;
    return 0;
}
