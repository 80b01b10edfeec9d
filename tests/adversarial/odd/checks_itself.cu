// Honest: compares with the host's own product, and gives up loudly if that differs.
#include "honest.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    honest(A, B, C, m, k, n);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n && k >= 0; ++j) {
            double sum = 0, size = 0;
            for (int q = 0; q < k; ++q) {
                sum += A[i * k + q] * B[q * n + j];
                size += std::fabs(A[i * k + q] * B[q * n + j]);
            }
            if (std::fabs(sum - C[i * n + j]) > 1e-3 * size + 1e-30) {
                std::fprintf(stderr, "wrong at %d, %d\n", i, j);
                std::exit(1);
            }
        }
}
