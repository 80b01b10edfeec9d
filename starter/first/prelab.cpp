// Lab first, prelab: each function answers a question of first.h. None is answered yet.
// Check your answers:  ./warpgrade check first --only prelab      (in this folder)
#include "first.h"

int blocks_needed(int n, int block) {
    // TODO(student): return what first.h asks for, here and below.
    return 0;
}

int idle_threads(int n, int block) {
    return 0;
}

int blocks_in_grid(int x, int y, int z) {
    return 0;
}

int largest_block_index(int blocks) {
    return 0;
}

bool block_is_possible(int x, int y, int z) {
    return false;
}

bool grid_is_possible(long long x, long long y, long long z) {
    return false;
}

int thread_number(int x, int y, int z, int block_x, int block_y) {
    return 0;
}

int warps_in_block(int x, int y, int z) {
    return 0;
}

int image_idle_threads(int width, int height, int block_x, int block_y) {
    return 0;
}

int pixel_offset(int x, int y, int channel, int width) {
    return 0;
}

bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count) {
    return false;
}

bool runs_on(int device, int ptx, const int* cubins, int count) {
    return false;
}

// --- Predictions

int add_warps(int n, int block) {
    return 0;
}

int add_load_requests(int n) {
    return 0;
}

int add_sectors_loaded(int n) {
    return 0;
}
