// Lab quiz: each function answers a question of quiz.h. None is answered yet.
// Grade it:  ./warpgrade check quiz      (in this folder)
#include "quiz.h"

// --- Launches -------------------------------------------------------------------------------------------------------

int blocks_needed(int n, int block) {
    // TODO(student): return what quiz.h asks for, here and below.
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

// --- Compiling ------------------------------------------------------------------------------------------------------

bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count) {
    return false;
}

bool runs_on(int device, int ptx, const int* cubins, int count) {
    return false;
}

// --- Occupancy ------------------------------------------------------------------------------------------------------

int registers_per_block(int registers_per_thread, int threads) {
    return 0;
}

int resident_blocks(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks) {
    return 0;
}

double occupancy(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                 int sm_warps, int sm_blocks) {
    return 0;
}

int square_block(int threads) {
    return 0;
}

// --- Shared and constant memory -------------------------------------------------------------------------------------

int shared_bytes(int k, int l, int m) {
    return 0;
}

int offset_of_third(int k, int l) {
    return 0;
}

int aligned_offset(int bytes_before, int alignment) {
    return 0;
}

int wavefronts(int stride) {
    return 0;
}

int byte_wavefronts(int stride) {
    return 0;
}

int constant_bytes(int bins) {
    return 0;
}

int largest_constant_table() {
    return 0;
}

// --- Global memory --------------------------------------------------------------------------------------------------

int sectors(int first, int stride) {
    return 0;
}

double operations_per_access(double operations, double accesses) {
    return 0;
}

double gflops(double gigabytes_per_second, double ratio) {
    return 0;
}

int neuron_operations(int firing, int quiet) {
    return 0;
}

int neuron_accesses(int firing, int quiet) {
    return 0;
}

long long naive_loads(int m, int k, int n) {
    return 0;
}

long long tiled_loads(int m, int k, int n, int width) {
    return 0;
}

double loads_per_operation(int rows, int columns) {
    return 0;
}

// --- Divergence -----------------------------------------------------------------------------------------------------

int divergent_interleaved(int threads, int warp) {
    return 0;
}

int divergent_halving(int threads, int warp) {
    return 0;
}

// --- Convolution ----------------------------------------------------------------------------------------------------

void convolve(const int* n, int width, const int* mask, int mask_width, int* p) {
    for (int j = 0; j < width; ++j) p[j] = 0;
}
