// What the tests of lab matmul ask of every product: near the one in double precision, and computed on the device.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "judge/judge.hpp"
#include "matmul.h"

namespace oracle {

// The product in double, and how far a right solution in single precision may be from it.
//
// The bound is derived, not guessed (judge/compare.hpp, dot_bound). Each element is a sum of k products: whatever the
// order of the additions, and with or without fused multiply-add, it differs from the exact one by at most
//     gamma_k · Σ |a·b|,   gamma_k = k·u / (1 − k·u),   u = 2^-24.
// Operands rounded to half precision or TF32 (u = 2^-11) exceed it for the sizes tested here: on random inputs, the
// worst element was off by 117 bounds for k = 31 and by 6 for k = 256; in float, by less than a tenth of one.
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
    for (double& b : bound) b = warpgrade::judge::dot_bound(k, b);
    return {value, bound};
}

}  // namespace oracle

// Who computes on the CPU and launches a kernel for show is right as well, and fast. One instruction of one thread
// multiplies at most one pair of floats; half of the products leave room for algorithms that save some.
inline void check_device_work(const warpgrade::judge::Profile& run, std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    INFO("the products must be computed on the device");
    CHECK(run.launches.size() >= 1);
    CHECK(run.total().thread_inst_executed >= m * n * k / 2);
}

// The submission's product, which must not be the host's work.
inline std::vector<float> product_on_device(const std::vector<float>& A, const std::vector<float>& B, int m, int k,
                                            int n) {
    using namespace warpgrade::judge;
    const auto run = submission().profile<matmul>(in(A), in(B), out<float>(m * n), m, k, n);
    check_device_work(run, m, k, n);
    return run.output;
}
