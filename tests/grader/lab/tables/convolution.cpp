// Lab convolution, prelab: each function answers a question of convolution.h. None is answered yet.
// Check your answers:  ./warpgrade check convolution      (in this folder)
#include "convolution.h"

int constant_bytes(int bins) {
    if (bins == 90) return 360;
    if (bins == 613) return 2452;
    return 1;
}

int largest_constant_table() { return 1; }

void convolve(const int* n, int width, const int* mask, int mask_width, int* p) {
    for (int j = 0; j < width; ++j) p[j] = 0;
}

int naive_requests(int n, int block, int mask_width) { return 1; }

int constant_requests(int n, int block, int mask_width) { return 1; }

int tiled_requests(int n, int block, int mask_width) { return 1; }

int cached_requests(int n, int block, int mask_width) {
    if (n == 2048 && block == 256 && mask_width == 9) return 120;
    if (n == 2048 && block == 256 && mask_width == 7) return 106;
    return 1;
}

double loads_per_product(int rows, int mask_width) {
    if (rows == 2 && mask_width == 15) return 0.53333333333333333;
    if (rows == 4 && mask_width == 7) return 0.35714285714285715;
    return 1;
}
