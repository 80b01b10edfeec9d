// Not handed out as source.
// How the prelab of lab histogram asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include <vector>

#include "expectations.hpp"
#include "histogram.h"
#include "judge/judge.hpp"
#include "judge/questions.hpp"

// Predictions are compared with what the submission's own version takes once it is right, and with what one takes that
// does just what the contract describes.

// 32 values of so many different ones, in random order.
inline Data warp_of(const std::vector<int>& how_many) {
    const auto values = warpgrade::judge::permutation(256);
    const auto places = warpgrade::judge::permutation(32);
    Data warp(32);
    std::size_t at = 0;
    for (std::size_t i = 0; i < how_many.size(); ++i) {
        for (int k = 0; k < how_many[i]; ++k)
            warp[static_cast<std::size_t>(places[at++])] = static_cast<unsigned char>(values[i]);
    }
    return warp;
}

inline void ask_warp(const Data& values, const warpgrade::judge::Slips& adding_slips = {},
                     const warpgrade::judge::Slips& queue_slips = {}) {
    using namespace warpgrade::judge;
    ask<adding_lanes>(oracle::distinct(values), adding_slips, in(values));
    ask<longest_queue>(oracle::queues(values)[0], queue_slips, in(values));
}

template <auto version, auto question, class... Arguments>
void check_predicted_requests(int n, int bins, int described, const warpgrade::judge::Slips& slips,
                              const Arguments&... arguments) {
    using namespace warpgrade::judge;
    const auto predicted = predict<question>(arguments...);
    const auto data = all_in(n, bins);
    const auto run = own_run<version>(equals_exactly(oracle::counts(data, bins)), in(data), out<int>(bins), n, bins);
    check_prediction(predicted, global_atomic_requests(run), described, slips);
}

inline void check_predicted_global(int n, int described, const warpgrade::judge::Slips& slips = {}) {
    INFO("n = " << n);
    check_predicted_requests<histogram_global, requests_of_global>(n, MOST_BINS, described, slips, n);
}

inline void check_predicted_shared(int n, int bins, int described, const warpgrade::judge::Slips& slips = {}) {
    INFO("n = " << n << ", bins = " << bins);
    check_predicted_requests<histogram_shared, requests_of_shared>(n, bins, described, slips, n, bins);
}

// 16 values a thread fill `blocks` blocks.
inline void check_predicted_few(int blocks, int bins, int described, const warpgrade::judge::Slips& slips = {}) {
    using namespace warpgrade::judge;
    INFO("blocks = " << blocks << ", bins = " << bins);
    const auto predicted = predict<shared_requests_of_few>(blocks, bins);
    const int n = 16 * BLOCK_SIZE * blocks;
    const auto data = all_in(n, bins);
    auto run = own_run<histogram_few>(equals_exactly(oracle::counts(data, bins)), in(data), out<int>(bins), n, bins);
    // Another grid is not what is asked for.
    auto counted = shared_atomic_requests(run);
    if (run.launches.size() != 1 || static_cast<int>(run.launches.front().config.grid.count()) != blocks)
        counted.number = 0;
    check_prediction(predicted, counted, described, slips);
}

// A number from low to high: who is asked at random cannot hand in the number that a message has shown.
inline int pick(int low, int high) { return warpgrade::judge::any_int(low, high); }
