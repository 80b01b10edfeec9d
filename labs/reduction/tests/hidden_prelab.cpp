// Hidden tests of lab reduction's prelab: other blocks and warps, other arrays. Answers are counted, not computed by
// the formulas that are asked for.
#include <set>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "questions.hpp"
#include "reduction.h"

using namespace warpgrade::judge;

namespace {

// Runs the loop and looks at each warp's `if`.
template <class Takes>
int counted_divergence(int threads, int warp, const std::vector<int>& steps, Takes takes) {
    int divergent = 0;
    for (const int step : steps)
        for (int first = 0; first < threads; first += warp) {
            std::set<bool> ways;
            for (int t = first; t < first + warp; ++t) ways.insert(takes(t, step));
            divergent += ways.size() == 2;
        }
    return divergent;
}

void ask_divergence(int threads, int warp) {
    std::vector<int> rising, falling;
    for (int step = 1; step < threads; step *= 2) rising.push_back(step), falling.insert(falling.begin(), step);
    ask<divergent_interleaved>(
        counted_divergence(threads, warp, rising, [](int t, int step) { return t % (2 * step) == 0; }), {}, threads,
        warp);
    ask<divergent_halving>(counted_divergence(threads, warp, falling, [](int t, int step) { return t < step; }), {},
                           threads, warp);
}

// The warps that store to shared memory in a block of B threads: all of them first, then those in which a thread adds.
template <class Adds>
int counted_stores(int B, Adds adds) {
    int stores = B / 32;
    for (int stride = 1; stride < B; stride *= 2) {
        std::set<int> storing;
        for (int t = 0; t < B; ++t)
            if (adds(t, stride)) storing.insert(t / 32);
        stores += static_cast<int>(storing.size());
    }
    return stores;
}

}  // namespace

TEST_CASE("prelab: other loops", "[hidden]") {
    for (const int threads : {32, 64, 256, 512, 1024}) ask_divergence(threads, 32);
    ask_divergence(64, 16);
    ask_divergence(8, 8);
    ask_divergence(256, 8);
}

// A single element, one more than a block takes, a whole number of blocks, a power of the block.
TEST_CASE("prelab: other sums and blocks", "[hidden]") {
    check_predicted_sum(1, 64, 1, 1);
    check_predicted_sum(65, 64, 2, 9 + 1);
    check_predicted_sum(1024, 32, 2, 128 + 4);
    check_predicted_sum(1025, 32, 3, 129 + 5 + 1);
    check_predicted_sum(30000, 1024, 2, 3750 + 4);
    for (const int B : {32, 128, 1024}) {
        int steps = 0;
        while (1 << steps < B) ++steps;
        const auto first_ones = [](int t, int stride) { return t < stride; };
        check_predicted_block<reduce_divergent>(
            1, B, B, steps, counted_stores(B, [](int t, int stride) { return t % (2 * stride) == 0; }));
        check_predicted_block<reduce_sequential>(3, B, B, steps, counted_stores(B, first_ones));
        check_predicted_block<reduce_shuffle>(5, 2 * B, B, 1, B / 32);
    }
}
