// Not handed out as source.
// How the prelab of lab reduction asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "reduction.h"

// Predictions are compared with what the submission's own version takes once it is right, and with what one takes that
// does just what the contract describes.

// A number from low to high: who is asked at random cannot hand in the number that a message has shown.
inline int pick(int low, int high) { return warpgrade::judge::integers<int>(1, low, high)[0]; }

// The launches and sectors of a sum by version 3.
inline void check_predicted_sum(int n, int block_size, int launches_described, int sectors_described,
                                const warpgrade::judge::Slips& launch_slips = {},
                                const warpgrade::judge::Slips& sector_slips = {}) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", per_block = " << block_size);
    const auto predicted_launches = predict<launches_of_sum>(n, block_size);
    const auto predicted_sectors = predict<sectors_of_sum>(n, block_size);
    const auto x = quarters(n);
    const auto run = own_run<reduce_sequential>(equals_exactly(exact_sum(x)), in(x), n, block_size);
    check_prediction(predicted_launches, launches(run), launches_described, launch_slips);
    check_prediction(predicted_sectors, sectors_loaded(run), sectors_described, sector_slips);
}

// Barriers and stores of one full block of `sum`, which is version 1, 3 or 5 and takes n elements a block.
template <auto sum>
void check_predicted_block(int version, int n, int block_size, int barriers_described, int stores_described,
                           const warpgrade::judge::Slips& barrier_slips = {},
                           const warpgrade::judge::Slips& store_slips = {}) {
    using namespace warpgrade::judge;
    INFO("version " << version << ", block_size = " << block_size);
    const auto predicted_barriers = predict<barriers_of_block>(version, block_size);
    const auto predicted_stores = predict<stores_of_block>(version, block_size);
    const auto x = quarters(n);
    const auto run = own_run<sum>(equals_exactly(exact_sum(x)), in(x), n, block_size);
    const auto counters = run.launches.empty() ? run.total() : counted(run.launches.front());
    const double each = barriers(counters).number.value() / std::max(warps(counters).number.value(), 1.0);
    check_prediction(predicted_barriers, measure("barriers that each thread of the block passes", each),
                     barriers_described, barrier_slips);
    const auto stored =
        measure("requests that store to shared memory in the block", shared_store_requests(counters).number);
    check_prediction(predicted_stores, stored, stores_described, store_slips);
}

// Answers for other sizes are counted, not computed by the formulas that are asked for.

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

inline void ask_divergence(int threads, int warp) {
    using warpgrade::judge::ask;
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

// The sum of n elements, as check_predicted_sum asks for it.
inline void ask_sum(int n, int per_block) {
    int launches = 0, sectors = 0;
    for (int left = n; launches == 0 || left > 1; left = (left - 1) / per_block + 1) {
        ++launches;
        for (int first = 0; first < left; first += 8) ++sectors;
    }
    check_predicted_sum(n, per_block, launches, sectors);
}

// Blocks of B threads of versions 1, 3 and 5.
inline void ask_blocks(int B) {
    int steps = 0;
    while (1 << steps < B) ++steps;
    const auto spread = [](int t, int stride) { return t % (2 * stride) == 0; };
    const auto first_ones = [](int t, int stride) { return t < stride; };
    check_predicted_block<reduce_divergent>(1, B, B, steps, counted_stores(B, spread));
    check_predicted_block<reduce_sequential>(3, B, B, steps, counted_stores(B, first_ones));
    check_predicted_block<reduce_shuffle>(5, 2 * B, B, 1, B / 32);
}
