// Makes the inputs fit the result that is easy to compute: zero.
#include "honest.cuh"

#include <algorithm>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    std::fill_n(const_cast<float*>(A), m * k, 0.0F);
    std::fill_n(const_cast<float*>(B), k * n, 0.0F);
    honest(A, B, C, m, k, n);
}
