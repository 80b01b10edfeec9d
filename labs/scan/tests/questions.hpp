// Not handed out as source.
// How the tests of the prelab ask: a wrong answer is told which misconception leads to it, where one is known.
#pragma once

#include <initializer_list>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "scan.h"

// A wrong answer, and how one comes by it.
struct Slip {
    long long answer;
    const char* reason;
};

// Asks `question` about n elements, and explains a wrong answer.
template <auto question>
long long answer_to(std::initializer_list<Slip> slips, int n) {
    const long long answer = warpgrade::judge::submission().call<question>(n);
    for (const Slip& slip : slips) {
        if (answer == slip.answer) UNSCOPED_INFO(slip.reason);
    }
    return answer;
}

// Asks a question whose answer is known.
template <auto question>
void ask(long long right, std::initializer_list<Slip> slips, int n) {
    using namespace warpgrade::judge;
    CHECK_THAT(measure("your answer", answer_to<question>(slips, n)), is(right));
}

// Predictions are compared with what the submission's own scans take, and with what those take that do just what the
// task sheet says: the first may be off while they are not right yet, and so nobody asks here whether they are.

inline void check_predicted_block_scan(int n, int described, std::initializer_list<Slip> slips = {}) {
    using namespace warpgrade::judge;
    const auto run = submission().profile<block_scan>(in(for_scans(n)), out<int>(n), n);
    const auto requests = answer_to<block_scan_requests>(slips, n);
    CHECK_THAT(requests, predicts(shared_requests(run), described));
}

inline void check_predicted_scan(int n, int launches_described, int sectors_described,
                                 std::initializer_list<Slip> launch_slips = {},
                                 std::initializer_list<Slip> sector_slips = {}) {
    using namespace warpgrade::judge;
    const auto run = submission().profile<scan>(in(for_scans(n)), out<int>(n), n);
    const auto launched = answer_to<scan_launches>(launch_slips, n);
    CHECK_THAT(launched, predicts(launches(run), launches_described));
    const auto sectors = answer_to<scan_sectors>(sector_slips, n);
    const auto counters = run.total();
    CHECK_THAT(sectors, predicts(measure("sectors loaded and stored", sectors_loaded(counters).number.value() +
                                                                          sectors_stored(counters).number.value()),
                                 sectors_described)
                            .within(0.15));
}
