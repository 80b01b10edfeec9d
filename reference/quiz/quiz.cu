// SOLUTION BEGIN
// STARTER: // Lab quiz: each function answers a question of quiz.h. None is answered yet.
// STARTER: // Grade it:  ./warpgrade check quiz      (in this folder)
// Lab quiz, reference solution: each function answers a question of quiz.h.
// Grade it:  ./warpgrade grade quiz reference/quiz
// SOLUTION END
#include "quiz.h"

// SOLUTION BEGIN
#include <algorithm>
#include <cstddef>
#include <set>

// SOLUTION END
// --- Launches -------------------------------------------------------------------------------------------------------

int blocks_needed(int n, int block) {
    // SOLUTION BEGIN
    // TODO(student): return what quiz.h asks for, here and below.
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

// --- Compiling ------------------------------------------------------------------------------------------------------

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

// --- Occupancy ------------------------------------------------------------------------------------------------------

int registers_per_block(int registers_per_thread, int threads) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return registers_per_thread * threads;
    // SOLUTION END
}

int resident_blocks(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                    int sm_warps, int sm_blocks) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int by_registers = sm_registers / registers_per_block(registers_per_thread, threads);
    const int by_warps = sm_warps / warps_in_block(threads, 1, 1);
    int blocks = std::min({sm_blocks, by_registers, by_warps});
    if (shared_bytes > 0) blocks = std::min(blocks, sm_shared_bytes / shared_bytes);
    return blocks;
    // SOLUTION END
}

double occupancy(int threads, int registers_per_thread, int shared_bytes, int sm_registers, int sm_shared_bytes,
                 int sm_warps, int sm_blocks) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int blocks = resident_blocks(threads, registers_per_thread, shared_bytes, sm_registers, sm_shared_bytes, sm_warps,
                                       sm_blocks);
    return static_cast<double>(blocks * warps_in_block(threads, 1, 1)) / sm_warps;
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

// --- Shared and constant memory -------------------------------------------------------------------------------------

int shared_bytes(int k, int l, int m) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (k + l + m) * static_cast<int>(sizeof(float));
    // SOLUTION END
}

int offset_of_third(int k, int l) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (k + l) * static_cast<int>(sizeof(float));
    // SOLUTION END
}

int aligned_offset(int bytes_before, int alignment) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (bytes_before + alignment - 1) / alignment * alignment;
    // SOLUTION END
}

// SOLUTION BEGIN
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
// SOLUTION END

int wavefronts(int stride) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return wavefronts_of(stride, 4);
    // SOLUTION END
}

int byte_wavefronts(int stride) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return wavefronts_of(stride, 1);
    // SOLUTION END
}

int constant_bytes(int bins) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return bins * static_cast<int>(sizeof(float));
    // SOLUTION END
}

int largest_constant_table() {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 64 * 1024 / static_cast<int>(sizeof(float));
    // SOLUTION END
}

// --- Global memory --------------------------------------------------------------------------------------------------

int sectors(int first, int stride) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    std::set<int> touched;
    for (int lane = 0; lane < 32; ++lane) touched.insert((first + lane * stride) / 8);  // 8 floats a sector
    return static_cast<int>(touched.size());
    // SOLUTION END
}

double operations_per_access(double operations, double accesses) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return operations / accesses;
    // SOLUTION END
}

double gflops(double gigabytes_per_second, double ratio) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return gigabytes_per_second / sizeof(float) * ratio;
    // SOLUTION END
}

int neuron_operations(int firing, int quiet) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 13 * firing + 12 * quiet;
    // SOLUTION END
}

int neuron_accesses(int firing, int quiet) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 7 * firing + 6 * quiet;
    // SOLUTION END
}

long long naive_loads(int m, int k, int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2LL * m * n * k;
    // SOLUTION END
}

long long tiled_loads(int m, int k, int n, int width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return naive_loads(m, k, n) / width;
    // SOLUTION END
}

double loads_per_operation(int rows, int columns) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return static_cast<double>(rows + columns) / (rows * columns);
    // SOLUTION END
}

// --- Divergence -----------------------------------------------------------------------------------------------------

int divergent_interleaved(int threads, int warp) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int count = 0;
    for (int step = 1; step < threads; step *= 2) {
        for (int first = 0; first < threads; first += warp) {
            int active = 0;
            for (int t = first; t < first + warp; ++t) active += t % (2 * step) == 0;
            count += active > 0 && active < warp;
        }
    }
    return count;
    // SOLUTION END
}

int divergent_halving(int threads, int warp) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int count = 0;
    for (int step = threads / 2; step >= 1; step /= 2) {
        for (int first = 0; first < threads; first += warp) count += first < step && step < first + warp;
    }
    return count;
    // SOLUTION END
}

// --- Convolution ----------------------------------------------------------------------------------------------------

void convolve(const int* n, int width, const int* mask, int mask_width, int* p) {
    // SOLUTION BEGIN
    // STARTER: for (int j = 0; j < width; ++j) p[j] = 0;
    for (int j = 0; j < width; ++j) {
        p[j] = 0;
        for (int i = 0; i < mask_width; ++i) {
            const int at = j + i - mask_width / 2;
            if (at >= 0 && at < width) p[j] += n[at] * mask[i];
        }
    }
    // SOLUTION END
}
