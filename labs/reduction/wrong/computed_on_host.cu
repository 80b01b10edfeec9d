// WRONG: loses "reduce_strided adds up", "reduce_sequential adds up", "reduce_first_add adds up", "reduce_shuffle adds up", "reduce_grid_stride adds up", "reduce_strided keeps its warps together", "reduce_sequential has no bank conflicts", "reduce_first_add takes half the warps", "reduce_shuffle leaves shared memory to the sums of warps", "reduce_grid_stride loads four floats at a time in a fixed grid", "divergent_warps counts the example of 32 threads in warps of 8", "divergent_warps agrees with the counter of the virtual GPU", "divergent_warps is decided by votes", "speed on 524,288 floats", "every version takes sizes around its blocks", "every version takes every block size", "rounded sums stay within the bound of a tree", "NaN and infinity reach the sum", "empty arrays and impossible blocks launch nothing", "divergent_warps takes other blocks and warps", "the checks find no mistakes" - right sums and counts from the CPU; no kernel is launched
#include "reduction.h"

static float sum_on_host(const float* x, int n, int block_size) {
    if (block_size < 32 || block_size > 1024 || (block_size & (block_size - 1)) != 0) return 0.0f;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return static_cast<float>(sum);
}

float reduce_divergent(const float* x, int n, int block_size) { return sum_on_host(x, n, block_size); }
float reduce_strided(const float* x, int n, int block_size) { return sum_on_host(x, n, block_size); }
float reduce_sequential(const float* x, int n, int block_size) { return sum_on_host(x, n, block_size); }
float reduce_first_add(const float* x, int n, int block_size) { return sum_on_host(x, n, block_size); }
float reduce_shuffle(const float* x, int n, int block_size) { return sum_on_host(x, n, block_size); }
float reduce_grid_stride(const float* x, int n, int block_size) { return sum_on_host(x, n, block_size); }

int divergent_warps(int version, int block_size, int warp_size, int stride) {
    int divergent = 0;
    for (int first = 0; first < block_size; first += warp_size) {
        int adding = 0;
        for (int t = first; t < first + warp_size; ++t) {
            adding += version == 1 ? t % (2 * stride) == 0 : version == 2 ? 2 * stride * t < block_size : t < stride;
        }
        divergent += adding != 0 && adding != warp_size;
    }
    return divergent;
}
