// What the tests of lab matmul ask of every product: near the one in double precision, and computed on the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
    using namespace warpgrade::judge;
    const char* const why = "the products must be computed on the device";
    CHECK_THAT(launches(run), at_least(1, why));
    CHECK_THAT(thread_instructions(run), at_least(m * n * k / 2, why));
}

// A version's product of random matrices is right, and not the host's work.
template <auto version>
void check_product(int m, int k, int n) {
    using namespace warpgrade::judge;
    INFO("m = " << m << ", k = " << k << ", n = " << n);
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto run = submission().profile<version>(in(A), in(B), out<float>(m * n), m, k, n);
    const auto& C = run.output;
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
    check_device_work(run, m, k, n);
}

// All versions are right in the starter, where they launch the kernel of version 1.
template <auto version>
void check_begun() {
    using namespace warpgrade::judge;
    const int m = 16, k = 32, n = 16;
    profile_begun<version>(in(uniform(m * k)), in(uniform(k * n)), out<float>(m * n), m, k, n);
}

// The device's checks find nothing, in a kernel of this version whose product is right.
template <auto version>
void check_no_mistakes(int m, int k, int n) {
    using namespace warpgrade::judge;
    INFO("m = " << m << ", k = " << k << ", n = " << n);
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto run = profile_begun<version>(in(A), in(B), out<float>(m * n), m, k, n);
    CHECK_THAT(run, clean());
    const auto& C = run.output;
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
}

// What the device did for a right product.
template <auto version>
warpgrade::judge::Profile profile_product(int m, int k, int n) {
    using namespace warpgrade::judge;
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto run = submission().profile<version>(in(A), in(B), out<float>(m * n), m, k, n);
    INFO("the counters are looked at once the product is right");  // few loads of wrong data prove nothing
    const auto& C = run.output;
    REQUIRE_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
    REQUIRE_THAT(launches(run), is(1));
    check_device_work(run, m, k, n);
    return run;
}

// Operations for each load of a thread: m·n·k multiplications and as many additions, over 32 thread-level loads for
// each warp-level one. Of loads from global memory this is the CGMA ratio. (A request that some lanes take no part in
// counts as 32 loads all the same, and a load of a vector as one.)
inline double operations_per_load(const warpgrade::judge::Measure& requests, std::uint64_t m, std::uint64_t k,
                                  std::uint64_t n) {
    return 2.0 * static_cast<double>(m * n * k) / (32.0 * requests.number.value());
}
inline warpgrade::judge::Measure operations_per_global_load(const warpgrade::device::Counters& counters,
                                                            std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    return {"operations for each load from global memory",
            operations_per_load(warpgrade::judge::global_load_requests(counters), m, k, n),
            {}};
}
inline warpgrade::judge::Measure operations_per_shared_load(const warpgrade::device::Counters& counters,
                                                            std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    return {"operations for each load from shared memory",
            operations_per_load(warpgrade::judge::shared_load_requests(counters), m, k, n),
            {}};
}

// At most one extra wavefront in eight accesses to shared memory, no points from one in two on; and the operands must
// come from there, else there is nothing to be free of conflicts. Why an eighth: public.cpp. (8 × 8 elements a thread,
// loaded as vectors, take 4 loads for 64 products. Tiles save nine tenths of the global loads, shallow ones less.)
// A term takes two loads, and half a request more where tiles are shallow: more accesses than that excuse no conflicts.
inline void check_few_conflicts(const warpgrade::device::Counters& counters, std::uint64_t m, std::uint64_t k,
                                std::uint64_t n) {
    using namespace warpgrade::judge;
    REQUIRE_THAT(shared_store_requests(counters), at_least(warps(counters), "one for each warp"));
    REQUIRE_THAT(shared_load_requests(counters), at_least(m * n * k / 32 / 16, "the operands come from the tiles"));
    REQUIRE_THAT(operations_per_global_load(counters, m, k, n),
                 at_least(TILE_WIDTH / 4, "the operands come from the tiles"));
    const double terms = static_cast<double>(m * n * k) / 32;
    const double requests = std::min(shared_requests(counters).number.value(), 2.5 * terms);
    CHECK_THAT(bank_conflicts(counters),
               at_most(requests / 8, "one in eight requests, see matmul.h").none_at(requests / 2));
}

// Of the loads that tiles of TILE_WIDTH need at least. Twice as many requests may be made, for a warp whose threads do
// not all load: sectors say whether anything is loaded that need not be.
inline void check_loads_shared_by_a_tile(const warpgrade::device::Counters& counters, std::uint64_t m, std::uint64_t k,
                                         std::uint64_t n) {
    using namespace warpgrade::judge;
    CHECK_THAT(operations_per_global_load(counters, m, k, n),
               at_least(TILE_WIDTH / 2, "with tiles it is TILE_WIDTH, or half of that where half of a warp loads"));
    const double sectors = static_cast<double>(m * n * k) / 4 / TILE_WIDTH;
    CHECK_THAT(sectors_loaded(counters), at_most(sectors, "whole sectors, shared by a tile").none_at(2 * sectors));
}
