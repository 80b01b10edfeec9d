// Hidden tests of lab reduction: sizes around blocks and vectors, other blocks, rounded sums, and what is no sum.
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "reduction.h"

using namespace warpgrade::judge;

namespace {

// Calls check.template operator()<version>() for each version.
template <class Check>
void for_each_version(const Check& check) {
    SECTION("reduce_divergent") { check.template operator()<reduce_divergent>(); }
    SECTION("reduce_strided") { check.template operator()<reduce_strided>(); }
    SECTION("reduce_sequential") { check.template operator()<reduce_sequential>(); }
    SECTION("reduce_first_add") { check.template operator()<reduce_first_add>(); }
    SECTION("reduce_shuffle") { check.template operator()<reduce_shuffle>(); }
    SECTION("reduce_grid_stride") { check.template operator()<reduce_grid_stride>(); }
}

// The rule of the contract, for each thread.
int divergent_warps_by_hand(int version, int block_size, int warp_size, int stride) {
    int divergent = 0;
    for (int first = 0; first < block_size; first += warp_size) {
        int adding = 0;
        for (int t = first; t < first + warp_size; ++t) {
            if (version == 1) adding += t % (2 * stride) == 0;
            if (version == 2) adding += 2 * stride * t + stride < block_size;
            if (version == 3) adding += t < stride;
        }
        divergent += adding != 0 && adding != warp_size;
    }
    return divergent;
}

}  // namespace

// With blocks of 64 threads, 64 · 64 + 1 elements need three passes; 2, 3 and 4 · 64 are edges of later versions.
TEST_CASE("every version takes sizes around its blocks", "[hidden][checks]") {
    for_each_version([]<auto version>() {
        for (const int n : {1, 2, 3, 5, 31, 33, 63, 64, 65, 96, 127, 129, 191, 193, 255, 256, 257, 511, 513, 4097})
            check_sum<version>(n, 64);
    });
}

TEST_CASE("every version takes every block size", "[hidden][checks]") {
    for_each_version([]<auto version>() {
        for (const int block_size : {32, 64, 128, 512, 1024}) {
            check_sum<version>(3 * block_size + 7, block_size);
            check_sum<version>(4096, block_size);
        }
        check_sum<version>(40000, 32);  // two passes are not enough, even with two elements a thread
    });
}

TEST_CASE("rounded sums stay within the bound of a tree", "[hidden]") {
    for_each_version([]<auto version>() {
        for (const int n : {1000, 10001}) {
            const auto x = uniform(n, 0.25, 1);
            const auto run = submission().profile<version>(in(x), n, 128);
            const auto& sum = run.output;
            CHECK_THAT(sum, near(near_sum(x)));
            check_device_work(run, x.size());
        }
        check_short_chains<version>();
    });
}

// A NaN anywhere makes the sum NaN, an infinity makes it infinite, and both signs of infinity make it NaN.
TEST_CASE("NaN and infinity reach the sum", "[hidden]") {
    const int n = 777;
    const float infinity = std::numeric_limits<float>::infinity();
    const float not_a_number = std::numeric_limits<float>::quiet_NaN();
    for_each_version([&]<auto version>() {
        auto x = quarters(n);
        // In the upper lanes of the last warp of a block, whether a thread takes one element, two or four: where a
        // reduction that leaves something out is sure to leave it out.
        const auto parts = permutation(n / 128);
        const auto place = [&](int i) { return 128 * parts[i] + 112 + 5 * i; };
        const auto check_sum_is = [&](double expected) {
            const auto run = submission().profile<version>(in(x), n, 64);
            check_device_work(run, x.size());
            const float sum = run.output;
            CHECK_THAT(sum, near({{expected}, {0}}));
        };
        x[place(0)] = -infinity;
        check_sum_is(-infinity);
        x[place(1)] = infinity;
        check_sum_is(not_a_number);
        x[place(0)] = 1;
        check_sum_is(infinity);
        x[place(2)] = not_a_number;
        check_sum_is(not_a_number);
    });
}

TEST_CASE("empty arrays and impossible blocks launch nothing", "[hidden]") {
    for_each_version([]<auto version>() {
        check_sum<version>(100, 32);
        const auto x = quarters(100);
        for (const auto& [n, block_size] : std::vector<std::pair<int, int>>{
                 {0, 64}, {-1, 64}, {100, 0}, {100, 16}, {100, 96}, {100, -32}, {100, 2048}}) {
            INFO("n = " << n << ", block_size = " << block_size);
            const auto run = submission().profile<version>(in(x), n, block_size);
            CHECK_THAT(measure("sum", run.output), is(0));
            CHECK_THAT(launches(run), is(0));
        }
    });
}

TEST_CASE("divergent_warps takes other blocks and warps", "[hidden]") {
    const int version = GENERATE(1, 2, 3);
    for (const int block_size : {32, 256}) {
        for (const int warp_size : {2, 4, 16, 32}) {
            for (int stride = 1; stride < block_size; stride *= 2) {
                INFO("version " << version << ", block_size = " << block_size << ", warp_size = " << warp_size
                                << ", stride = " << stride);
                const int divergent = counted_divergent_warps(version, block_size, warp_size, stride);
                CHECK_THAT(measure("divergent warps", divergent),
                           is(divergent_warps_by_hand(version, block_size, warp_size, stride)));
            }
        }
    }
    for (const auto& [block_size, warp_size, stride] : std::vector<std::array<int, 3>>{{96, 32, 1},
                                                                                       {2048, 32, 1},
                                                                                       {64, 1, 1},
                                                                                       {64, 64, 1},
                                                                                       {64, 12, 1},
                                                                                       {64, 32, 0},
                                                                                       {64, 32, 64},
                                                                                       {64, 32, 3}}) {
        INFO("block_size = " << block_size << ", warp_size = " << warp_size << ", stride = " << stride);
        const auto run = submission().profile<divergent_warps>(version, block_size, warp_size, stride);
        CHECK_THAT(measure("divergent warps", run.output), is(0));
        CHECK_THAT(launches(run), is(0));
    }
    for (const int no_version : {0, 4}) {
        const int divergent = submission().call<divergent_warps>(no_version, 64, 32, 1);
        CHECK_THAT(measure("divergent warps", divergent), is(0));
    }
}
