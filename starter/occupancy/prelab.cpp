// Lab occupancy, prelab: each function answers a question of occupancy.h. None is answered yet.
// Check your answers:  ./warpgrade check occupancy      (in this folder)
#include "occupancy.h"

#include <algorithm>

int registers_per_block(int registers_per_thread, int threads) {
    // TODO(student): return what occupancy.h asks for, here and below.
    return 0;
}

int blocks_that_fit(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks) {
    return 0;
}

double share_of_warps(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                      int sm_warps, int sm_blocks) {
    return 0;
}

int square_block(int threads) {
    return 0;
}

int matmul_blocks(int width) {
    return 0;
}

double matmul_occupancy(int width) {
    return 0;
}
