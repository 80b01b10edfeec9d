// Lab matmul, prelab: each function answers a question of matmul.h. None is answered yet.
// Check your answers:  ./warpgrade check matmul --only prelab      (in this folder)
#include "matmul.h"

#include <algorithm>
#include <cmath>
#include <set>

long long naive_loads(int m, int k, int n) {
    if (m == 64 && k == 64 && n == 64) return 524288;
    if (m == 96 && k == 144 && n == 144) return 3981312;
    return 1;
}

long long tiled_loads(int m, int k, int n, int width) {
    if (m == 64 && k == 64 && n == 64 && width == 16) return 32768;
    if (m == 96 && k == 144 && n == 144 && width == 16) return 248832;
    return 1;
}

double loads_per_operation(int rows, int columns) {
    if (rows == 8 && columns == 8) return 0.25;
    return 1;
}

long long columns_sectors(int m, int k, int n) { return 1; }

long long tiled_sectors(int m, int k, int n) { return 1; }

long long tiled_barriers(int m, int k, int n) { return 1; }

int tile_wavefronts(int x_stride, int y_stride) {
    if (x_stride == 16 && y_stride == 0) return 8;
    return 1;
}

double error_bound(const float* a, const float* b, int k) { return 0; }

double attainable_gflops(double operations_per_load, double gigabytes_per_second, double peak_gflops) {
    if (operations_per_load == 1.000000 && gigabytes_per_second == 3000.000000 && peak_gflops == 66900.000000)
        return 750;
    if (operations_per_load == 128.000000 && gigabytes_per_second == 3000.000000 && peak_gflops == 66900.000000)
        return 66900;
    if (operations_per_load == 8.000000 && gigabytes_per_second == 892.000000 && peak_gflops == 60000.000000)
        return 1784;
    return 1;
}
