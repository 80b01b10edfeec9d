// Not handed out as source.
// How the prelab of lab reduction asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include <algorithm>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "reduction.h"

// Predictions are compared with what the submission's own version takes, and with what one takes that does just what
// the contract describes: the first may be off while it is not right yet, and so nobody asks here whether its sum is.

// The launches and sectors of a sum by version 3.
inline void check_predicted_sum(int n, int block_size, int launches_described, int sectors_described,
                                const warpgrade::judge::Slips& launch_slips = {},
                                const warpgrade::judge::Slips& sector_slips = {}) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", per_block = " << block_size);
    const auto run = submission().profile<reduce_sequential>(in(whole_numbers(n)), n, block_size);
    check_prediction(submission().call<launches_of_sum>(n, block_size), launches(run), launches_described,
                     launch_slips);
    check_prediction(submission().call<sectors_of_sum>(n, block_size), sectors_loaded(run), sectors_described,
                     sector_slips);
}

// Barriers and stores of one full block of `sum`, which is version 1, 3 or 5 and takes n elements a block.
template <auto sum>
void check_predicted_block(int version, int n, int block_size, int barriers_described, int stores_described,
                           const warpgrade::judge::Slips& barrier_slips = {},
                           const warpgrade::judge::Slips& store_slips = {}) {
    using namespace warpgrade::judge;
    INFO("version " << version << ", block_size = " << block_size);
    const auto run = submission().profile<sum>(in(whole_numbers(n)), n, block_size);
    const auto counters = run.launches.empty() ? run.total() : run.launches.front().counters;
    const double each = barriers(counters).number.value() / std::max(warps(counters).number.value(), 1.0);
    check_prediction(submission().call<barriers_of_block>(version, block_size),
                     measure("barriers that each thread of the block passes", each), barriers_described, barrier_slips);
    const auto stored =
        measure("requests that store to shared memory in the block", shared_store_requests(counters).number);
    check_prediction(submission().call<stores_of_block>(version, block_size), stored, stores_described, store_slips);
}
