// Lab first, prelab: each function answers a question of first.h. None is answered yet.
// Check your answers:  ./warpgrade check first --only prelab      (in this folder)
#include "first.h"

int blocks_needed(int n, int block) {
    if (n == 1000 && block == 256) return 4;
    if (n == 1000 && block == 200) return 5;
    return 1;
}

int idle_threads(int n, int block) {
    if (n == 1000 && block == 256) return 24;
    if (n == 1000 && block == 200) return 0;
    return 1;
}

int blocks_in_grid(int x, int y, int z) {
    if (x == 2 && y == 2 && z == 2) return 8;
    return 1;
}

int largest_block_index(int blocks) {
    if (blocks == 32) return 31;
    return 1;
}

bool block_is_possible(int x, int y, int z) {
    if (x == 32 && y == 32 && z == 2) return 0;
    if (x == 1 && y == 1 && z == 65) return 0;
    if (x == 16 && y == 0 && z == 1) return 0;
    return 1;
}

bool grid_is_possible(long long x, long long y, long long z) {
    if (x == 1 && y == 65536 && z == 1) return 0;
    return 1;
}

int thread_number(int x, int y, int z, int block_x, int block_y) {
    if (x == 5 && y == 2 && z == 0 && block_x == 16 && block_y == 16) return 37;
    return 1;
}

int warps_in_block(int x, int y, int z) {
    if (x == 16 && y == 16 && z == 1) return 8;
    if (x == 8 && y == 5 && z == 1) return 2;
    return 1;
}

int image_idle_threads(int width, int height, int block_x, int block_y) {
    if (width == 100 && height == 75 && block_x == 16 && block_y == 16) return 1460;
    return 1;
}

int pixel_offset(int x, int y, int channel, int width) {
    if (x == 6 && y == 2 && channel == 1 && width == 100) return 619;
    if (x == 2 && y == 0 && channel == 0 && width == 100) return 6;
    return 1;
}

bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count) { return false; }

bool runs_on(int device, int ptx, const int* cubins, int count) { return false; }

// --- Predictions

int add_warps(int n, int block) {
    if (n == 1000 && block == 256) return 32;
    return 1;
}

int add_load_requests(int n) {
    if (n == 1000) return 64;
    return 1;
}

int add_sectors_loaded(int n) {
    if (n == 1000) return 250;
    return 1;
}
