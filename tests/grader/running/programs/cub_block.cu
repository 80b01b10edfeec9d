// CUB's collectives inside a kernel: what a block and a warp compute together.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include <cstdio>

constexpr int threads = 128, items = 4, total = threads * items;

__global__ void collectives(const int* in, int* sum, int* scan, int* warp_sums, int* sorted) {
    using Reduce = cub::BlockReduce<int, threads>;
    using Scan = cub::BlockScan<int, threads>;
    using WarpReduce = cub::WarpReduce<int>;
    using Sort = cub::BlockRadixSort<int, threads, items>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
        typename WarpReduce::TempStorage warp[threads / 32];
        typename Sort::TempStorage sort;
    } shared;

    int mine[items];
    for (int i = 0; i < items; ++i) mine[i] = in[threadIdx.x * items + i];

    const int all = Reduce(shared.reduce).Sum(mine);
    if (threadIdx.x == 0) *sum = all;
    __syncthreads();

    int before;
    Scan(shared.scan).ExclusiveSum(mine[0], before);
    scan[threadIdx.x] = before;
    __syncthreads();

    const int warp = WarpReduce(shared.warp[threadIdx.x / 32]).Sum(mine[0]);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = warp;
    __syncthreads();

    Sort(shared.sort).Sort(mine);
    for (int i = 0; i < items; ++i) sorted[threadIdx.x * items + i] = mine[i];
}

int main() {
    int in[total], sum = 0, scan[threads], warp_sums[threads / 32] = {};
    for (int i = 0; i < total; ++i) in[i] = (i * 7919 + 13) % 1009 - 300, sum += in[i];
    for (int t = 0, before = 0; t < threads; ++t) {
        scan[t] = before;
        before += in[t * items];
        warp_sums[t / 32] += in[t * items];
    }
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, 4096);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    collectives<<<1, threads>>>(d_in, d_out, d_out + 8, d_out + 1, d_out + 8 + threads);
    int out[8 + threads + total];
    if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 9;

    int wrong = 0;
    if (out[0] != sum) printf("wrong: BlockReduce\n"), ++wrong;
    for (int w = 0; w < threads / 32; ++w)
        if (out[1 + w] != warp_sums[w]) printf("wrong: WarpReduce of warp %d\n", w), ++wrong;
    for (int t = 0; t < threads; ++t)
        if (out[8 + t] != scan[t]) printf("wrong: BlockScan of thread %d\n", t), ++wrong;
    for (int i = 1; i < total; ++i)
        if (out[8 + threads + i - 1] > out[8 + threads + i]) printf("wrong: BlockRadixSort at %d\n", i), ++wrong;
    cudaFree(d_in);
    cudaFree(d_out);
    if (!wrong) printf("right\n");
    return wrong != 0;
}
