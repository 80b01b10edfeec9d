// SOLUTION BEGIN
// STARTER: // Lab occupancy, prelab: each function answers a question of occupancy.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check occupancy      (in this folder)
// Lab occupancy, prelab, reference solution: each function answers a question of occupancy.h.
// SOLUTION END
#include "occupancy.h"

#include <algorithm>

int registers_per_block(int registers_per_thread, int threads) {
    // SOLUTION BEGIN
    // TODO(student): return what occupancy.h asks for, here and below.
    // STARTER: return 0;
    return registers_per_thread * threads;
    // SOLUTION END
}

int blocks_that_fit(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int by_registers = sm_registers / registers_per_block(registers_per_thread, threads);
    const int by_warps = sm_warps / ((threads + WARP_SIZE - 1) / WARP_SIZE);
    int blocks = std::min({sm_blocks, by_registers, by_warps});
    if (shared_bytes > 0) blocks = std::min(blocks, sm_shared_bytes / shared_bytes);
    return blocks;
    // SOLUTION END
}

double share_of_warps(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                      int sm_warps, int sm_blocks) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int blocks = blocks_that_fit(threads, registers_per_thread, shared_bytes, sm_registers, sm_shared_bytes, sm_warps,
                                       sm_blocks);
    const int warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
    return static_cast<double>(blocks * warps) / sm_warps;
    // SOLUTION END
}

int square_block(int threads) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int block = 1;
    while (block * 4 <= threads) block *= 4;
    return block;
    // SOLUTION END
}

int matmul_blocks(int width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return blocks_that_fit(width * width, 32, 8 * width * width, 65536, 228 * 1024, 64, 32);
    // SOLUTION END
}

double matmul_occupancy(int width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return share_of_warps(width * width, 32, 8 * width * width, 65536, 228 * 1024, 64, 32);
    // SOLUTION END
}
