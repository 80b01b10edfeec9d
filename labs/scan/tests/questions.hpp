// Not handed out as source.
// How the prelab of lab scan asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "scan.h"

// Predictions are compared with what the submission's own scans take once they are right, and with what those take that
// do just what the task sheet says.

inline void check_predicted_block_scan(int n, int described, const warpgrade::judge::Slips& slips = {}) {
    using namespace warpgrade::judge;
    const auto predicted = predict<block_scan_requests>(n);
    const auto x = for_scans(n);
    const auto run = own_run<block_scan>(equals_exactly(oracle::scan(x, BLOCK_SIZE)), in(x), out<int>(n), n);
    check_prediction(predicted, shared_requests(run), described, slips);
}

inline void check_predicted_scan(int n, int launches_described, int sectors_described,
                                 const warpgrade::judge::Slips& launch_slips = {},
                                 const warpgrade::judge::Slips& sector_slips = {}) {
    using namespace warpgrade::judge;
    const auto predicted_launches = predict<scan_launches>(n);
    const auto predicted_sectors = predict<scan_sectors>(n);
    const auto x = for_scans(n);
    const auto run = own_run<scan>(equals_exactly(oracle::scan(x, n)), in(x), out<int>(n), n);
    check_prediction(predicted_launches, launches(run), launches_described, launch_slips);
    const auto counters = run.total();
    const double moved = sectors_loaded(counters).number.value() + sectors_stored(counters).number.value();
    check_prediction(predicted_sectors, measure("sectors loaded and stored", moved), sectors_described, sector_slips,
                     0.15);
}

// Answers for other sizes: steps and additions are counted, not computed.

struct Cost {
    int steps = 0;
    long long additions = 0;
};

inline Cost counted_simple(int n) {
    Cost cost;
    for (long long distance = 1; distance < n; distance *= 2, ++cost.steps)
        for (int i = 0; i < n; ++i) cost.additions += i >= distance;
    return cost;
}

inline Cost counted_tree(int n) {
    Cost cost;
    for (int distance = 1; distance < n; distance *= 2, cost.steps += 2)
        for (int last = 2 * distance - 1; last < n; last += 2 * distance) cost.additions += 2;  // up and down
    return cost;
}

inline void ask_simple(int n) {
    warpgrade::judge::ask<simple_steps>(counted_simple(n).steps, {}, n);
    warpgrade::judge::ask<simple_additions>(counted_simple(n).additions, {}, n);
}
inline void ask_tree(int n) {
    warpgrade::judge::ask<tree_steps>(counted_tree(n).steps, {}, n);
    warpgrade::judge::ask<tree_additions>(counted_tree(n).additions, {}, n);
}

// A number from low to high: who is asked at random cannot hand in the number that a message has shown.
inline int pick(int low, int high) { return warpgrade::judge::integers<int>(1, low, high)[0]; }
