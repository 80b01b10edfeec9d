// Lab occupancy, prelab: each function answers a question of occupancy.h. None is answered yet.
// Check your answers:  ./warpgrade check occupancy      (in this folder)
#include "occupancy.h"

#include <algorithm>

int registers_per_block(int registers_per_thread, int threads) {
    if (registers_per_thread == 23 && threads == 256) return 5888;
    return 1;
}

int blocks_that_fit(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks) {
    if (threads == 256 && registers_per_thread == 23 && shared_bytes == 0 && sm_registers == 65536 &&
        sm_shared_bytes == 49152 && sm_warps == 64 && sm_blocks == 16)
        return 8;
    if (threads == 256 && registers_per_thread == 100 && shared_bytes == 0 && sm_registers == 65536 &&
        sm_shared_bytes == 49152 && sm_warps == 64 && sm_blocks == 16)
        return 2;
    if (threads == 192 && registers_per_thread == 20 && shared_bytes == 192 && sm_registers == 65536 &&
        sm_shared_bytes == 16384 && sm_warps == 64 && sm_blocks == 16)
        return 10;
    if (threads == 64 && registers_per_thread == 16 && shared_bytes == 0 && sm_registers == 65536 &&
        sm_shared_bytes == 49152 && sm_warps == 64 && sm_blocks == 16)
        return 16;
    if (threads == 256 && registers_per_thread == 32 && shared_bytes == 12288 && sm_registers == 65536 &&
        sm_shared_bytes == 49152 && sm_warps == 64 && sm_blocks == 16)
        return 4;
    if (threads == 100 && registers_per_thread == 30 && shared_bytes == 0 && sm_registers == 65536 &&
        sm_shared_bytes == 65536 && sm_warps == 32 && sm_blocks == 16)
        return 8;
    return 1;
}

double share_of_warps(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                      int sm_warps, int sm_blocks) {
    if (threads == 192 && registers_per_thread == 20 && shared_bytes == 192 && sm_registers == 65536 &&
        sm_shared_bytes == 16384 && sm_warps == 64 && sm_blocks == 16)
        return 0.9375;
    if (threads == 256 && registers_per_thread == 100 && shared_bytes == 0 && sm_registers == 65536 &&
        sm_shared_bytes == 49152 && sm_warps == 64 && sm_blocks == 16)
        return 0.25;
    return 1;
}

int square_block(int threads) {
    if (threads == 768) return 256;
    return 1;
}

int matmul_blocks(int width) { return 1; }

double matmul_occupancy(int width) { return 1; }
