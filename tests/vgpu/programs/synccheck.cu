// Barriers and masks, used wrongly and rightly. The tests look for the numbers after "place".
#include <cooperative_groups.h>
#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

// Wrong.
KERNEL barriers_in_both_branches(int* out) {
    __shared__ int value;
    if (threadIdx.x % 2 == 0) {
        value = out[0];
        __syncthreads();  // place 1
        out[1] = value;
    } else {
        out[2] = 7;
        __syncthreads();  // place 2
        out[3] = value;
    }
}
KERNEL barriers_by_warp(int* out) {
    __shared__ int value;
    if (threadIdx.x < 32) {
        value = out[0];
        __syncthreads();  // place 3
        out[1] = value;
    } else {
        out[2] = 7;
        __syncthreads();  // place 4
        out[3] = value;
    }
}
KERNEL barrier_in_a_loop(int* out) {  // threads leave the loop at different times
    for (unsigned i = 0; i <= threadIdx.x % 4; ++i) {
        out[threadIdx.x] += i;
        __syncthreads();  // place 5
    }
    __syncthreads();  // place 6
    out[threadIdx.x] += 1;
    __syncthreads();
    __syncthreads();
    __syncthreads();
}
KERNEL count_in_branches(int* out) {
    int n;
    if (threadIdx.x & 1) {
        out[0] = 1;
        n = __syncthreads_count(1);  // place 7
    } else {
        out[1] = 1;
        n = __syncthreads_or(out[5]);  // place 8
    }
    out[threadIdx.x] = n;
}
KERNEL not_in_own_mask(int* out) {
    out[threadIdx.x] = __shfl_down_sync(0x0000ffff, out[threadIdx.x], 1);  // place 9
}
KERNEL syncwarp_without_self(int* out) {
    out[threadIdx.x] = 1;
    __syncwarp(threadIdx.x == 3 ? 0x7 : 0xffffffff & ~8);  // place 10
    out[threadIdx.x] += 1;
}
KERNEL mask_names_lanes_elsewhere(int* out) {  // never ends
    if (threadIdx.x < 8)
        out[threadIdx.x] = __shfl_down_sync(0xffffffff, out[threadIdx.x], 1);  // place 11
    __syncthreads();  // place 12
    out[threadIdx.x + 32] = 1;
}

// Right.
KERNEL early_return(int* out, int n) {
    if (threadIdx.x >= n) return;
    __shared__ int tile[256];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x] + __shfl_sync(0xffffffff, 1, 0);
    __syncthreads();
    out[threadIdx.x] += 1;
}
KERNEL uniform_branches(int* out, int n) {
    if (n > 3) {
        out[threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.x] += 1;
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();
        out[threadIdx.x] += 2;
    }
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        if (threadIdx.x == 0) out[0] += i;
        __syncthreads();
    }
}
KERNEL late_lanes(int* out, int* flag) {  // some lanes spin until another one releases them
    if (threadIdx.x == 5) {
        for (int i = 0; i < 500; ++i) out[40] += i;
        atomicExch(flag, 1);
    } else if (threadIdx.x < 20) {
        while (atomicAdd(flag, 0) == 0) {}
    }
    __syncthreads();
    out[threadIdx.x] = 1;
    __syncwarp();
}
KERNEL group_syncs_apart(int* out) {  // barrier.sync without .aligned may stand in branches
    auto block = cg::this_thread_block();
    if (threadIdx.x % 2) {
        out[0] = 1;
        block.sync();
    } else {
        out[1] = 1;
        block.sync();
    }
}
KERNEL tiles_and_masks(int* out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = tile.shfl_down(out[threadIdx.x], 1);
    tile.sync();
    if (threadIdx.x % 32 < 16) v += __shfl_xor_sync(0x0000ffff, v, 1);
    else v += __shfl_xor_sync(0xffff0000, v, 2);
    if (threadIdx.x % 3 == 0) {
        const unsigned active = __activemask();
        v += __popc(__ballot_sync(active, v > 3));
        auto some = cg::coalesced_threads();
        v += some.shfl(v, 0);
        some.sync();
    }
    __syncwarp();
    out[threadIdx.x] = v;
}
KERNEL named_barriers(int* out) {  // warp 0 hands to warp 1, each at its own instruction
    __shared__ int buffer[32];
    if (threadIdx.x < 32) {
        buffer[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = 1;
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = buffer[threadIdx.x - 32];
    }
}

// Threads that pass by the barrier have missed it, although the kernel ends.
KERNEL barrier_passed_by(int* out) {
    __shared__ int tile[64];
    if (threadIdx.x >= 40) {
        tile[threadIdx.x % 64] = out[threadIdx.x];
        __syncthreads();  // place 13
        out[threadIdx.x] = tile[40];
    }
    out[threadIdx.x + 64] = 7;
}
KERNEL shuffle_passed_by(int* out) {
    int v = out[threadIdx.x];
    if (threadIdx.x < 16) {
        v = __shfl_sync(0xffffffff, v + 1, 3);  // place 14
    } else {
        v *= 2;
    }
    out[threadIdx.x] = v;
}
KERNEL early_return_and_loop(int* out, int n) {  // right
    __shared__ int tile[256];
    if (threadIdx.x >= n) return;
    for (int i = 0; i < 3; ++i) {
        tile[threadIdx.x] = out[threadIdx.x] + i;
        __syncthreads();
        out[threadIdx.x] = tile[n - 1 - threadIdx.x] + __shfl_sync(0xffffffff, i, 0);
        __syncthreads();
    }
}
