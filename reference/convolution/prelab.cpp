// SOLUTION BEGIN
// STARTER: // Lab convolution, prelab: each function answers a question of convolution.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check convolution      (in this folder)
// Lab convolution, prelab, reference solution: each function answers a question of convolution.h.
// SOLUTION END
#include "convolution.h"

int constant_bytes(int bins) {
    // SOLUTION BEGIN
    // TODO(student): return what convolution.h asks for, here and below.
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

int naive_requests(int n, int block, int mask_width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    (void)block;  // warps have 32 threads in blocks of any size
    return n / 32 * 2 * mask_width;
    // SOLUTION END
}

int constant_requests(int n, int block, int mask_width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    (void)block;
    return n / 32 * mask_width;
    // SOLUTION END
}

int tiled_requests(int n, int block, int mask_width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int tile = block + mask_width - 1;
    return n / block * ((tile + 31) / 32);
    // SOLUTION END
}

int cached_requests(int n, int block, int mask_width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int radius = mask_width / 2;
    // At each of the edges between two blocks, the warps on both sides load in `radius` turns of their loops.
    return n / 32 + 2 * radius * (n / block - 1);
    // SOLUTION END
}

double loads_per_product(int rows, int mask_width) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return static_cast<double>(rows + mask_width - 1) / (rows * mask_width);
    // SOLUTION END
}
