// WRONG: loses "loads of a matrix product", "other products" - counts one load for each multiplication
#include "quiz.h"

#include <algorithm>
#include <cstddef>
#include <set>

// --- Launches -------------------------------------------------------------------------------------------------------

int blocks_needed(int n, int block) {
    return (n + block - 1) / block;
}

int idle_threads(int n, int block) {
    return blocks_needed(n, block) * block - n;
}

int blocks_in_grid(int x, int y, int z) {
    return x * y * z;
}

int largest_block_index(int blocks) {
    return blocks - 1;
}

bool block_is_possible(int x, int y, int z) {
    if (x < 1 || x > 1024 || y < 1 || y > 1024 || z < 1 || z > 64) return false;
    return x * y * z <= 1024;
}

int thread_number(int x, int y, int z, int block_x, int block_y) {
    return x + block_x * (y + block_y * z);
}

int warps_in_block(int x, int y, int z) {
    return (x * y * z + 31) / 32;
}

int image_idle_threads(int width, int height, int block_x, int block_y) {
    // Each direction is rounded up for itself.
    const int threads_x = blocks_needed(width, block_x) * block_x;
    const int threads_y = blocks_needed(height, block_y) * block_y;
    return threads_x * threads_y - width * height;
}

int pixel_offset(int x, int y, int channel, int width) {
    return 3 * (y * width + x) + channel;
}

// --- Compiling ------------------------------------------------------------------------------------------------------

bool nvcc_builds(int oldest, int virtual_architecture, const int* real, int count) {
    if (virtual_architecture < oldest) return false;
    for (int i = 0; i < count; ++i) {
        if (real[i] < virtual_architecture) return false;
    }
    return true;
}

bool runs_on(int device, int ptx, const int* cubins, int count) {
    if (ptx != 0 && ptx <= device) return true;  // compiled on the spot, for any later device
    for (int i = 0; i < count; ++i) {
        if (cubins[i] / 10 == device / 10 && cubins[i] <= device) return true;
    }
    return false;
}

// --- Occupancy ------------------------------------------------------------------------------------------------------

int registers_per_block(int registers_per_thread, int threads) {
    return registers_per_thread * threads;
}

int resident_blocks(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks) {
    const int by_registers = sm_registers / registers_per_block(registers_per_thread, threads);
    const int by_warps = sm_warps / warps_in_block(threads, 1, 1);
    int blocks = std::min({sm_blocks, by_registers, by_warps});
    if (shared_bytes > 0) blocks = std::min(blocks, sm_shared_bytes / shared_bytes);
    return blocks;
}

double occupancy(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                 int sm_warps, int sm_blocks) {
    const int blocks = resident_blocks(threads, registers_per_thread, shared_bytes, sm_registers, sm_shared_bytes, sm_warps,
                                       sm_blocks);
    return static_cast<double>(blocks * warps_in_block(threads, 1, 1)) / sm_warps;
}

int square_block(int threads) {
    int block = 1;
    while (block * 4 <= threads) block *= 4;
    return block;
}

// --- Shared and constant memory -------------------------------------------------------------------------------------

int shared_bytes(int k, int l, int m) {
    return (k + l + m) * static_cast<int>(sizeof(float));
}

int offset_of_third(int k, int l) {
    return (k + l) * static_cast<int>(sizeof(float));
}

int aligned_offset(int bytes_before, int alignment) {
    return (bytes_before + alignment - 1) / alignment * alignment;
}

// The wavefronts of a warp's load of `bytes` bytes at i * bytes * stride.
static int wavefronts_of(int stride, int bytes) {
    std::set<int> words[32];
    for (int lane = 0; lane < 32; ++lane) {
        const int word = lane * stride * bytes / 4;
        words[word % 32].insert(word);
    }
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return static_cast<int>(most);
}

int wavefronts(int stride) {
    return wavefronts_of(stride, 4);
}

int byte_wavefronts(int stride) {
    return wavefronts_of(stride, 1);
}

int constant_bytes(int bins) {
    return bins * static_cast<int>(sizeof(float));
}

int largest_constant_table() {
    return 64 * 1024 / static_cast<int>(sizeof(float));
}

// --- Global memory --------------------------------------------------------------------------------------------------

int sectors(int first, int stride) {
    std::set<int> touched;
    for (int lane = 0; lane < 32; ++lane) touched.insert((first + lane * stride) / 8);  // 8 floats a sector
    return static_cast<int>(touched.size());
}

double operations_per_access(double operations, double accesses) {
    return operations / accesses;
}

double gflops(double gigabytes_per_second, double ratio) {
    return gigabytes_per_second / sizeof(float) * ratio;
}

int neuron_operations(int firing, int quiet) {
    return 13 * firing + 12 * quiet;
}

int neuron_accesses(int firing, int quiet) {
    return 7 * firing + 6 * quiet;
}

long long naive_loads(int m, int k, int n) {
    return 1LL * m * n * k;
}

long long tiled_loads(int m, int k, int n, int width) {
    return naive_loads(m, k, n) / width;
}

double loads_per_operation(int rows, int columns) {
    return static_cast<double>(rows + columns) / (rows * columns);
}

// --- Divergence -----------------------------------------------------------------------------------------------------

int divergent_interleaved(int threads, int warp) {
    int count = 0;
    for (int step = 1; step < threads; step *= 2) {
        for (int first = 0; first < threads; first += warp) {
            int active = 0;
            for (int t = first; t < first + warp; ++t) active += t % (2 * step) == 0;
            count += active > 0 && active < warp;
        }
    }
    return count;
}

int divergent_halving(int threads, int warp) {
    int count = 0;
    for (int step = threads / 2; step >= 1; step /= 2) {
        for (int first = 0; first < threads; first += warp) count += first < step && step < first + warp;
    }
    return count;
}

// --- Convolution ----------------------------------------------------------------------------------------------------

void convolve(const int* n, int width, const int* mask, int mask_width, int* p) {
    for (int j = 0; j < width; ++j) {
        p[j] = 0;
        for (int i = 0; i < mask_width; ++i) {
            const int at = j + i - mask_width / 2;
            if (at >= 0 && at < width) p[j] += n[at] * mask[i];
        }
    }
}
