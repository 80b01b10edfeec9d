// SOLUTION BEGIN
// STARTER: // Lab first, prelab: each function answers a question of first.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check first --only prelab      (in this folder)
// Lab first, prelab, reference solution: each function answers a question of first.h.
// SOLUTION END
#include "first.h"

int blocks_needed(int n, int block) {
    // SOLUTION BEGIN
    // TODO(student): return what first.h asks for, here and below.
    // STARTER: return 0;
    return (n + block - 1) / block;
    // SOLUTION END
}

int idle_threads(int n, int block) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return blocks_needed(n, block) * block - n;
    // SOLUTION END
}

int blocks_in_grid(int x, int y, int z) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return x * y * z;
    // SOLUTION END
}

int largest_block_index(int blocks) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return blocks - 1;
    // SOLUTION END
}

bool block_is_possible(int x, int y, int z) {
    // SOLUTION BEGIN
    // STARTER: return false;
    if (x < 1 || x > 1024 || y < 1 || y > 1024 || z < 1 || z > 64) return false;
    return x * y * z <= 1024;
    // SOLUTION END
}

bool grid_is_possible(long long x, long long y, long long z) {
    // SOLUTION BEGIN
    // STARTER: return false;
    return x >= 1 && x <= 2147483647 && y >= 1 && y <= 65535 && z >= 1 && z <= 65535;
    // SOLUTION END
}

int thread_number(int x, int y, int z, int block_x, int block_y) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return x + block_x * (y + block_y * z);
    // SOLUTION END
}

int warps_in_block(int x, int y, int z) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (x * y * z + 31) / 32;
    // SOLUTION END
}

int image_idle_threads(int width, int height, int block_x, int block_y) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    // Each direction is rounded up for itself.
    const int threads_x = blocks_needed(width, block_x) * block_x;
    const int threads_y = blocks_needed(height, block_y) * block_y;
    return threads_x * threads_y - width * height;
    // SOLUTION END
}

int pixel_offset(int x, int y, int channel, int width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 3 * (y * width + x) + channel;
    // SOLUTION END
}

bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count) {
    // SOLUTION BEGIN
    // STARTER: return false;
    if (virtual_architecture < oldest) return false;
    for (int i = 0; i < count; ++i) {
        if (real[i] < virtual_architecture) return false;
    }
    return true;
    // SOLUTION END
}

bool runs_on(int device, int ptx, const int* cubins, int count) {
    // SOLUTION BEGIN
    // STARTER: return false;
    if (ptx != 0 && ptx <= device) return true;  // compiled on the spot, for any later device
    for (int i = 0; i < count; ++i) {
        if (cubins[i] / 10 == device / 10 && cubins[i] <= device) return true;
    }
    return false;
    // SOLUTION END
}

// --- Predictions

int add_warps(int n, int block) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return blocks_needed(n, block) * warps_in_block(block, 1, 1);
    // SOLUTION END
}

int add_load_requests(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2 * ((n + 31) / 32);  // warps beyond n load nothing
    // SOLUTION END
}

int add_sectors_loaded(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2 * ((n + 7) / 8);  // 8 floats a sector
    // SOLUTION END
}
