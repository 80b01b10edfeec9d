// SOLUTION BEGIN
// STARTER: // Lab matmul, prelab: each function answers a question of matmul.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check matmul --only prelab      (in this folder)
// Lab matmul, prelab, reference solution: each function answers a question of matmul.h.
// SOLUTION END
#include "matmul.h"

#include <algorithm>
#include <cmath>
#include <set>

long long naive_loads(int m, int k, int n) {
    // SOLUTION BEGIN
    // TODO(student): return what matmul.h asks for, here and below.
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

long long columns_sectors(int m, int k, int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const long long warps = 1LL * m * n / 32;
    return warps * k * (2 + 2);  // with each term 2 elements of A, in two rows, and 16 neighbours in a row of B
    // SOLUTION END
}

long long tiled_sectors(int m, int k, int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const long long warps = 1LL * m * n / 32;
    return warps * (k / TILE_WIDTH) * (4 + 4);  // with each pair of tiles 2 · 16 elements of A and as many of B
    // SOLUTION END
}

long long tiled_barriers(int m, int k, int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const long long warps = 1LL * m * n / 32;
    return warps * (k / TILE_WIDTH) * 2;
    // SOLUTION END
}

int tile_wavefronts(int x_stride, int y_stride) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    std::set<int> words[32];  // of each bank
    for (int lane = 0; lane < 32; ++lane) {
        const int word = lane % TILE_WIDTH * x_stride + lane / TILE_WIDTH * y_stride;
        words[word % 32].insert(word);
    }
    int most = 0;
    for (const auto& bank : words) most = std::max(most, static_cast<int>(bank.size()));
    return most;
    // SOLUTION END
}

double error_bound(const float* a, const float* b, int k) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    double magnitude = 0;
    for (int q = 0; q < k; ++q) magnitude += std::abs(1.0 * a[q] * b[q]);
    return 2 * k * 0x1p-24 * magnitude;
    // SOLUTION END
}

double attainable_gflops(double operations_per_load, double gigabytes_per_second, double peak_gflops) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return std::min(peak_gflops, operations_per_load * gigabytes_per_second / 4);
    // SOLUTION END
}
