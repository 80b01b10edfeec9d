// Not handed out as source.
// How the tests of the prelab ask: a wrong answer is told which misconception leads to it, where one is known.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "reduction.h"

// A wrong answer, and how one comes by it.
struct Slip {
    int answer;
    const char* reason;
};

// For the next assertion's message: how one comes by this answer.
inline void explain(int answer, std::initializer_list<Slip> slips) {
    for (const Slip& slip : slips) {
        if (answer == slip.answer) UNSCOPED_INFO(slip.reason);
    }
}

// Asks a question whose answer is known.
template <auto question, class... Arguments>
void ask(int right, std::initializer_list<Slip> slips, const Arguments&... arguments) {
    using namespace warpgrade::judge;
    const int answer = submission().call<question>(arguments...);
    explain(answer, slips);
    CHECK_THAT(measure("your answer", answer), is(right));
}

// Predictions are compared with what the submission's own version takes, and with what one takes that does just what
// the contract describes: the first may be off while it is not right yet, and so nobody asks here whether its sum is.

// What a program takes that does nothing is no prediction.
template <auto question, class... Arguments>
int prediction_of(std::initializer_list<Slip> slips, const Arguments&... arguments) {
    using namespace warpgrade::judge;
    const int predicted = submission().call<question>(arguments...);
    CHECK_THAT(measure("your prediction", predicted), at_least(1));
    explain(predicted, slips);
    return predicted;
}

// The launches and sectors of a sum by version 3.
inline void check_predicted_sum(int n, int block_size, int launches_described, int sectors_described,
                                std::initializer_list<Slip> launch_slips = {},
                                std::initializer_list<Slip> sector_slips = {}) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", per_block = " << block_size);
    const auto run = submission().profile<reduce_sequential>(in(whole_numbers(n)), n, block_size);
    const int launched = prediction_of<launches_of_sum>(launch_slips, n, block_size);
    CHECK_THAT(launched, predicts(launches(run), launches_described));
    const int sectors = prediction_of<sectors_of_sum>(sector_slips, n, block_size);
    CHECK_THAT(sectors, predicts(sectors_loaded(run), sectors_described));
}

// Barriers and stores of one full block of `sum`, which is version 1, 3 or 5 and takes n elements a block.
template <auto sum>
void check_predicted_block(int version, int n, int block_size, int barriers_described, int stores_described,
                           std::initializer_list<Slip> barrier_slips = {},
                           std::initializer_list<Slip> store_slips = {}) {
    using namespace warpgrade::judge;
    INFO("version " << version << ", block_size = " << block_size);
    const auto run = submission().profile<sum>(in(whole_numbers(n)), n, block_size);
    const auto counters = run.launches.empty() ? run.total() : run.launches.front().counters;
    const double each = barriers(counters).number.value() / std::max(warps(counters).number.value(), 1.0);
    const int passed = prediction_of<barriers_of_block>(barrier_slips, version, block_size);
    CHECK_THAT(passed, predicts(measure("barriers that each thread of the block passes", each), barriers_described));
    const int stores = prediction_of<stores_of_block>(store_slips, version, block_size);
    const auto stored =
        measure("requests that store to shared memory in the block", shared_store_requests(counters).number);
    CHECK_THAT(stores, predicts(stored, stores_described));
}
