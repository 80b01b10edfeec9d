// Lab matmul, prelab: each function answers a question of matmul.h. None is answered yet.
// Check your answers:  ./warpgrade check matmul --only prelab      (in this folder)
#include "matmul.h"

#include <algorithm>
#include <cmath>
#include <set>

long long naive_loads(int m, int k, int n) {
    // TODO(student): return what matmul.h asks for, here and below.
    return 0;
}

long long tiled_loads(int m, int k, int n, int width) {
    return 0;
}

double loads_per_operation(int rows, int columns) {
    return 0;
}

long long columns_sectors(int m, int k, int n) {
    return 0;
}

long long tiled_sectors(int m, int k, int n) {
    return 0;
}

long long tiled_barriers(int m, int k, int n) {
    return 0;
}

int tile_wavefronts(int x_stride, int y_stride) {
    return 0;
}

double error_bound(const float* a, const float* b, int k) {
    return 0;
}

double attainable_gflops(double operations_per_load, double gigabytes_per_second, double peak_gflops) {
    return 0;
}
