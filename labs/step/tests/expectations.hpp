// What the tests of lab step ask of every version: the result to the last bit, computed on the device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "judge/judge.hpp"
#include "step.h"

namespace oracle {

// Exact, without a tolerance. Each sum of two floats is rounded once, to nearest, as IEEE 754 defines it, so that it is
// the same here and on the device; the minimum rounds nothing and does not depend on the order. Operands or sums in
// half precision (11 bits instead of 24) give other numbers.
inline std::vector<float> step(const std::vector<float>& d, int n) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<float> r(size * size, std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < size; ++i) {
        float* const to = r.data() + i * size;
        for (std::size_t k = 0; k < size; ++k) {
            const float x = d[i * size + k];
            const float* const row = d.data() + k * size;
            for (std::size_t j = 0; j < size; ++j) to[j] = std::min(to[j], x + row[j]);
        }
    }
    return r;
}

// d, padded with infinity to whole parts of 64, and behind it the transpose of that.
inline std::vector<float> copies(const std::vector<float>& d, int n) {
    const auto size = static_cast<std::size_t>(n), padded = (size + 63) / 64 * 64;
    std::vector<float> both(2 * padded * padded, std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            both[padded * i + j] = d[size * i + j];
            both[padded * (padded + j) + i] = d[size * i + j];
        }
    }
    return both;
}

}  // namespace oracle

// Lengths of edges, all positive: a zero that slips in from outside of the matrix is shorter than any of them.
inline std::vector<float> lengths(int n) { return warpgrade::judge::uniform(n * n, 1.0, 100.0); }

// Who computes on the CPU and launches a kernel for show is right as well, and fast. A thread needs two instructions
// for each of the n³ terms, an addition and a minimum; half of that leaves room for instructions that do both at once.
inline void check_device_work(const warpgrade::judge::Profile& run, std::uint64_t n) {
    using namespace warpgrade::judge;
    const char* const why = "the terms must be computed on the device";
    REQUIRE_THAT(launches(run), at_least(1, why));
    CHECK_THAT(thread_instructions(run), at_least(n * n * n, why));
}

// The submission's result for d is right, and not the host's work.
template <auto function>
void check_step(const std::vector<float>& d, int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto run = submission().profile<function>(out<float>(n * n), in(d), n);
    const auto& r = run.output;
    CHECK_THAT(r, equals_exactly(oracle::step(d, n)).shape(n, n));
    check_device_work(run, n);
}

// Both copies are right, with all of their padding.
inline void check_copies(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto d = lengths(n);
    const int padded = (n + 63) / 64 * 64;
    const auto copies = submission().call<pad_and_transpose>(out<float>(2 * padded * padded), in(d), n);
    CHECK_THAT(copies, equals_exactly(oracle::copies(d, n)).shape(2 * padded, padded));
}

// All versions are right in the starter, where they launch the kernel of version 0.
template <auto function>
void check_begun() {
    const int n = 65;
    using namespace warpgrade::judge;
    profile_begun<function>(out<float>(n * n), in(lengths(n)), n);
}

// The device's checks find nothing, in kernels that get the right result.
template <auto function>
void check_no_mistakes() {
    using namespace warpgrade::judge;
    const int n = 102;
    const auto d = lengths(n);
    const auto run = profile_begun<function>(out<float>(n * n), in(d), n);
    CHECK_THAT(run, clean());
    const auto& r = run.output;
    CHECK_THAT(r, equals_exactly(oracle::step(d, n)).shape(n, n));
}
