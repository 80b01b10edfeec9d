// What the lanes of a warp do together: member masks, divergence, tiles, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

// Both halves reach a shuffle of their own; all 32 lanes exchange values.
KERNEL shuffle_in_two_branches(int* out) {
    int v = threadIdx.x, r;
    if (threadIdx.x < 16) {
        r = __shfl_xor_sync(0xffffffffu, v * 2, 16);
        out[threadIdx.x + 64] = 1;  // keeps the branches apart
    } else {
        v += 1000;
        r = __shfl_xor_sync(0xffffffffu, v, 16);
    }
    out[threadIdx.x] = r;
}
KERNEL vote_in_two_branches(unsigned* out, int odd_first) {
    unsigned b;
    if (threadIdx.x % 2 == odd_first) {
        b = __ballot_sync(0xffffffffu, threadIdx.x > 7);
        out[64] = 1;
    } else {
        b = __ballot_sync(0xffffffffu, !(threadIdx.x > 20));
        out[65] = 2;
    }
    out[threadIdx.x] = b;
}
__device__ __noinline__ unsigned match(long long v) { return __match_any_sync(0xffffffffu, v); }
KERNEL match_in_calls(unsigned* out) {  // two activations of one function
    unsigned m;
    if (threadIdx.x < 10) m = match(threadIdx.x % 3);
    else m = match(threadIdx.x % 3 + (threadIdx.x == 31 ? (1LL << 40) : 0)) ;
    out[threadIdx.x] = m;
}
KERNEL masks_by_branch(int* out) {
    int r = -1;
    if (threadIdx.x < 8) r = __reduce_add_sync(0x000000ffu, threadIdx.x);
    else if (threadIdx.x >= 24) r = __reduce_max_sync(0xff000000u, threadIdx.x);
    out[threadIdx.x] = r;
}
KERNEL exited_lanes_are_not_awaited(int* out) {
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, 1)) + 100 * __all_sync(0xffffffffu, threadIdx.x < 20);
}
KERNEL lane_leaves_while_others_wait(int* out, volatile int* flag) {
    if (threadIdx.x == 31) {
        while (*flag == 0) {}
        return;
    }
    if (threadIdx.x == 0) *flag = 1;
    out[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x + 7, 3);
}
KERNEL not_in_its_mask(int* out) {
    out[threadIdx.x] = __reduce_add_sync(0x0000ffffu, threadIdx.x);
}
KERNEL sum_with_a_partial_mask(float* out) {  // like the last step of many block sums: offsets reach beyond the mask
    float v = threadIdx.x + 1;
    if (threadIdx.x < 8) {
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffu, v, d);
        out[threadIdx.x] = v;
    }
    __syncwarp();
    if (threadIdx.x >= 8) out[threadIdx.x] = v;
}
KERNEL never_met(int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xffffffffu, out[threadIdx.x], 8);
    __syncthreads();
    out[threadIdx.x] += 1;
}
KERNEL different_masks(int* out) {
    const unsigned mask = threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u;
    __syncwarp(mask);
    __syncthreads();
    out[threadIdx.x] = 1;
}
KERNEL producer_consumer_in_a_warp(int* out) {  // the lanes 0–15 produce, the others consume, ten times
    __shared__ int s[16];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
        if (t < 16) s[t] = i * 16 + t;
        __syncwarp();
        if (t >= 16) sum += s[(t * 3) % 16];
        __syncwarp();
    }
    out[t] = sum;
}

// Cooperative groups.
KERNEL tiles(int* out) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    int v = tile.shfl_down(static_cast<int>(threadIdx.x), 1);
    v += 100 * tile.any(threadIdx.x == 3) + 1000 * __popc(tile.ballot(threadIdx.x % 2));
    v += 10000 * tile.meta_group_rank();
    out[threadIdx.x] = v;
}
KERNEL tiles_in_divergent_code(int* out) {
    const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int v = 0;
    if (tile.meta_group_rank() % 2) {
        v = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
        tile.sync();
    } else {
        for (int i = 0; i < static_cast<int>(threadIdx.x) % 4; ++i) v += out[64 + i];
        v += cg::inclusive_scan(tile, 1);
    }
    out[threadIdx.x] = v;
}
KERNEL coalesced(int* out, int* counter) {
    if (threadIdx.x % 3 == 0) {
        const auto together = cg::coalesced_threads();
        int base = 0;
        if (together.thread_rank() == 0) base = atomicAdd(counter, together.size());
        base = together.shfl(base, 0);
        out[threadIdx.x] = base + together.thread_rank() + 1000 * together.size();
    }
}
KERNEL labelled(int* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto group = cg::labeled_partition(warp, threadIdx.x % 5);
    out[threadIdx.x] = cg::reduce(group, static_cast<int>(threadIdx.x), cg::plus<int>()) * 100 + group.size();
    const auto halves = cg::binary_partition(warp, threadIdx.x < 9);
    out[threadIdx.x] += 1000000 * halves.thread_rank();
}
KERNEL tiles_of_several_warps(int* out) {
    __shared__ cg::block_tile_memory<256> memory;
    const auto block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<128>(block);
    const int sum = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
    tile.sync();
    out[threadIdx.x] = sum + tile.any(threadIdx.x == 200);
}
KERNEL grid_rounds(int* values, int* out, int rounds) {  // each round reads what another block wrote in the one before
    cg::grid_group grid = cg::this_grid();
    const unsigned n = grid.size(), i = grid.thread_rank();
    int* from = values;
    int* to = out;
    for (int r = 0; r < rounds; ++r) {
        to[i] = from[(i + n / 2 + 1) % n] + 1;
        grid.sync();
        int* t = from;
        from = to;
        to = t;
    }
}
KERNEL grid_arrive_wait(int* values, int* out) {
    cg::grid_group grid = cg::this_grid();
    const unsigned n = grid.size(), i = grid.thread_rank();
    values[i] = i * 2;
    auto token = grid.barrier_arrive();
    out[i] = i;
    grid.barrier_wait(static_cast<decltype(token)&&>(token));
    out[i] += values[n - 1 - i];
}
KERNEL grid_is_valid(int* out) { out[0] = cg::this_grid().is_valid(); }
