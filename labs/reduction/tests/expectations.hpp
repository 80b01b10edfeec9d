// What the tests of lab reduction ask of every version: the sum, formed on the device, and what travelled on the way.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "judge/judge.hpp"
#include "reduction.h"

// Quarters from 1/4 up whose sum stays below 2^22: single precision holds each sum of some of them, so that every order
// of the additions gives the same, exact result, and an int holds none of it. Up to 4096 elements they have 12 bits;
// half precision and TF32 hold 11. None is zero, and neither is a sum.
inline std::vector<float> quarters(int n) {
    auto x = warpgrade::judge::integers<float>(n, 1, std::min(4095, ((1 << 24) - 1) / std::max(n, 1)));
    for (float& value : x) value /= 4;
    return x;
}

inline std::vector<float> exact_sum(const std::vector<float>& x) {
    double sum = 0;
    for (const float value : x) sum += static_cast<double>(value);
    return {static_cast<float>(sum)};
}

// The sum in double, and how far from it a right one in single precision may be: an element that goes through k
// additions gets a relative error of at most gamma_k (judge/compare.hpp), so that the sum is off by at most
// gamma_k · Σ |x|. The contract allows k = 64 + n / 256; a tree of two passes over blocks of 1024 needs 20.
inline warpgrade::judge::Expected near_sum(const std::vector<float>& x) {
    double sum = 0, magnitude = 0;
    for (const float value : x) sum += value, magnitude += std::abs(value);
    return {{sum}, {warpgrade::judge::dot_bound(64 + static_cast<double>(x.size()) / 256, magnitude)}};
}

// Who adds up on the CPU and launches a kernel for show is right as well. n numbers take n - 1 additions, and one
// instruction of one thread adds at most once; half of them leave room for instructions that add more.
inline void check_device_work(const warpgrade::judge::Profile& run, std::size_t n) {
    using namespace warpgrade::judge;
    const char* const why = "the elements must be added up on the device";
    CHECK_THAT(launches(run), at_least(1, why));
    CHECK_THAT(thread_instructions(run), at_least(n / 2, why));
}

// The sum is exact, and the device's work.
template <auto version>
void check_sum(int n, int block_size) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", block_size = " << block_size);
    const auto x = quarters(n);
    const auto run = submission().profile<version>(in(x), n, block_size);
    const auto& sum = run.output;
    CHECK_THAT(sum, equals_exactly(exact_sum(x)));
    check_device_work(run, x.size());
}

// All versions are right in the starter, where they launch the kernel of version 1.
template <auto version>
void check_begun() {
    using namespace warpgrade::judge;
    profile_begun<version>(in(quarters(4096)), 4096, 256);
}

// What the device did for a right sum.
template <auto version>
warpgrade::judge::Profile profile_sum(int n, int block_size) {
    using namespace warpgrade::judge;
    const auto x = quarters(n);
    const auto run = submission().profile<version>(in(x), n, block_size);
    INFO("the counters are looked at once the sum is right");  // little work for a wrong sum proves nothing
    const auto& sum = run.output;
    REQUIRE_THAT(sum, equals_exactly(exact_sum(x)));
    REQUIRE_THAT(launches(run), at_least(1));
    check_device_work(run, x.size());
    return run;
}

// 2^26, and ones. Floats of that size are 8 apart: whoever adds ones to it one after the other, or up to four at a
// time, loses them, while a tree loses next to nothing, and 64 + n / 256 additions an element no more than near_sum
// allows. 4096 elements are eight blocks of 256 threads, or four.
template <auto version>
void check_short_chains() {
    using namespace warpgrade::judge;
    std::vector<float> x(4096, 1.0f);
    x[0] = 0x1p26f;
    const float sum = submission().call<version>(in(x), 4096, 256);
    const double right = 0x1p26 + 4095;
    CHECK_THAT(measure("what the sum of 2^26 and 4095 ones is off by", std::abs(sum - right)),
               at_most(dot_bound(64 + 4096 / 256, right),
                       "added one after the other, as by an atomic of each thread, every 1 is lost"));
}

// The device's checks find nothing while a right sum is formed.
template <auto version>
void check_no_mistakes(int n, int block_size) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", block_size = " << block_size);
    const auto x = quarters(n);
    const auto run = submission().profile<version>(in(x), n, block_size);
    check_begun<version>();
    CHECK_THAT(run, clean());
    const auto& sum = run.output;
    CHECK_THAT(sum, equals_exactly(exact_sum(x)));
    check_device_work(run, x.size());
}

// The divergent warps of one step, and that the threads of one block on the device found them: a thread needs its
// number, three arguments, the rule, a vote, the bits of its warp and what they say, a dozen instructions at least.
inline int counted_divergent_warps(int version, int block_size, int warp_size, int stride) {
    using namespace warpgrade::judge;
    const auto run = submission().profile<divergent_warps>(version, block_size, warp_size, stride);
    REQUIRE_THAT(launches(run), is(1));  // not begun yet: the result means nothing
    CHECK_THAT(thread_instructions(run), at_least(12 * block_size, "each thread applies the rule, and votes"));
    return run.output;
}
