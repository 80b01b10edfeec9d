// What matmul must yield: the product in double, and how far a right solution in single precision may be from it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "judge/judge.hpp"

namespace oracle {

// The bound is derived, not guessed. Each element is a sum of k products. Whatever the order of the additions, and with
// or without fused multiply-add, the computed sum differs from the exact one by at most
//     gamma_k · Σ |a·b|,   gamma_k = k·u / (1 − k·u),   u = 2^-24 (half a unit in the last place of a float)
// (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Products below the normal range may lose
// another half of the smallest denormal each, 2^-150. The oracle's own sum in double is 2^29 times as exact and is paid
// for by counting one term more. Operands rounded to half precision or TF32 (u = 2^-11) exceed the bound for the sizes
// tested here: their error grows with √k only, but starts 8192 times as large.
inline warpgrade::judge::Expected matmul(const std::vector<float>& A, const std::vector<float>& B, int m, int k,
                                         int n) {
    const auto columns = static_cast<std::size_t>(n);
    std::vector<double> value(static_cast<std::size_t>(m) * columns, 0.0);
    std::vector<double> bound(value.size(), 0.0);
    for (int i = 0; i < m; ++i) {
        double* const sum = value.data() + i * columns;
        double* const magnitude = bound.data() + i * columns;
        for (int q = 0; q < k; ++q) {
            const double a = A[static_cast<std::size_t>(i) * k + q];
            const float* const row = B.data() + q * columns;
            for (std::size_t j = 0; j < columns; ++j) {
                sum[j] += a * row[j];
                magnitude[j] += std::abs(a * row[j]);
            }
        }
    }
    const double terms = k + 1;
    const double gamma = terms * 0x1p-24 / (1.0 - terms * 0x1p-24);
    for (double& b : bound) b = gamma * b + terms * 0x1p-150;
    return {value, bound};
}

}  // namespace oracle
