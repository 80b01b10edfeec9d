// Cooperative groups: tiles, reductions, scans, coalesced and labelled groups, asynchronous copies, grid sync.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

template <class T>
__device__ void collectives(T* data) {
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto tile = cg::tiled_partition<8>(warp);
    T v = data[block.thread_rank()];
    v = cg::reduce(warp, v, cg::plus<T>());
    v += cg::reduce(tile, v, cg::greater<T>());
    v += cg::reduce(tile, v, cg::less<T>());
    v += cg::exclusive_scan(tile, v, cg::plus<T>());
    v += cg::inclusive_scan(warp, v);
    v += tile.shfl_down(v, 1) + warp.shfl_xor(v, 3) + tile.shfl(v, 0) + tile.shfl_up(v, 2);
    data[block.thread_rank()] = v;
    warp.sync();
    tile.sync();
    block.sync();
}

__global__ void collectives_int(int* p) { collectives(p); }
__global__ void collectives_unsigned(unsigned* p) { collectives(p); }
__global__ void collectives_float(float* p) { collectives(p); }
__global__ void collectives_double(double* p) { collectives(p); }
__global__ void collectives_long(long long* p) { collectives(p); }

__global__ void coalesced(int* counter, int* out, unsigned* bits) {
    if (threadIdx.x % 3 == 0) {
        const auto active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0) base = atomicAdd(counter, int(active.size()));
        out[threadIdx.x] = active.shfl(base, 0) + int(active.thread_rank());
        bits[threadIdx.x] = active.ballot(threadIdx.x > 5) + active.any(1) + active.all(0) +
                            active.match_any(threadIdx.x & 3) + cg::reduce(active, 1u, cg::bit_or<unsigned>());
    }
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto label = cg::labeled_partition(warp, threadIdx.x & 3);
    const auto halves = cg::binary_partition(warp, threadIdx.x & 1);
    out[threadIdx.x] += int(label.size()) + int(halves.thread_rank()) + cg::reduce(label, 1, cg::plus<int>());
    cg::invoke_one(warp, [&] { counter[1] = 3; });
}

__global__ void large_tile(int* data) {
    __shared__ cg::block_tile_memory<256> scratch;
    const auto block = cg::this_thread_block(scratch);
    const auto tile = cg::tiled_partition<128>(block);
    data[block.thread_rank()] = cg::reduce(tile, data[block.thread_rank()], cg::plus<int>());
    tile.sync();
}

__global__ void copies(const float* in, float* out, int n) {
    extern __shared__ float staged[];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, staged, in, cuda::aligned_size_t<16>(sizeof(float) * 1024));
    cg::memcpy_async(block, staged + 1024, in, sizeof(float) * n);
    cg::wait_prior<1>(block);
    cg::wait(block);
    out[threadIdx.x] = staged[threadIdx.x ^ 1];
}

__global__ void grid_wide(int* data) {
    const auto grid = cg::this_grid();
    data[grid.thread_rank()] = int(grid.size());
    grid.sync();
    data[grid.thread_rank()] += data[(grid.thread_rank() + 1) % grid.size()] + grid.is_valid();
    const auto block = cg::this_thread_block();
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
}
