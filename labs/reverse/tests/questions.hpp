// Not handed out as source.
// How the prelab of lab reverse asks: wavefronts of a warp, answered by counting, and what the versions cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "reverse.h"

// Elements of 8 bytes are two words, and a warp is served in two halves.
inline int counted_wavefronts(int stride, int bytes) {
    const int lanes_at_once = bytes == 8 ? 16 : 32, words_of_element = bytes / 4;
    int wavefronts_of_all = 0;
    for (int first = 0; first < 32; first += lanes_at_once) {
        std::vector<std::set<int>> words(32);
        for (int lane = first; lane < first + lanes_at_once; ++lane) {
            for (int part = 0; part < words_of_element; ++part) {
                const int word = lane * stride * words_of_element + part;
                words[word % 32].insert(word);
            }
        }
        std::size_t most = 0;
        for (const auto& bank : words) most = std::max(most, bank.size());
        wavefronts_of_all += static_cast<int>(most);
    }
    return wavefronts_of_all;
}

// The reversal takes ROW_WIDTH / 2 turns, each with two loads and two stores of every warp.
inline int counted_conflicts(int rows, int pitch) {
    return rows / 32 * (ROW_WIDTH / 2) * 4 * (counted_wavefronts(pitch, 4) - 1);
}

// What dynamic_reverse_n takes by the contract, beside what the submission's own takes.
inline void ask_traffic(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto predicted_barriers = predict<reverse_barriers>(n);
    const auto predicted_requests = predict<reverse_requests>(n);
    const auto before = distinct_integers(n);
    const auto run = own_run<dynamic_reverse_n>(equals_exactly(reversed(before)), inout(before), n);
    const double warps_of_block = static_cast<double>(warps_of(n));
    check_prediction(predicted_barriers, barriers(run), warps_of_block,
                     {{1, "one for the block, but each of its warps executes it"},
                      {std::floor(n / 32.0), "rounded down: the last warp, which is not full, waits as well"},
                      {static_cast<double>(n), "it is warps that execute instructions, not threads"}});
    check_prediction(predicted_requests, shared_requests(run), 2 * warps_of_block,
                     {{warps_of_block, "each element is stored and loaded"},
                      {2.0 * n, "a request is one instruction of a whole warp, not of a thread"}});
}

// What rows_strided takes, which is given.
inline void ask_strided(int rows) {
    using namespace warpgrade::judge;
    INFO("rows = " << rows << ", pitch = " << ROW_WIDTH);
    const int right = counted_conflicts(rows, ROW_WIDTH);
    check_prediction(submission().call<rows_conflicts>(rows, ROW_WIDTH), measure("bank conflicts", 0), right,
                     {{right / 31.0 * 32, "those are wavefronts: the first one of each request is no conflict"},
                      {right / 2.0, "each turn has two loads and two stores"},
                      {right / 4.0, "each turn has two loads and two stores"},
                      {2.0 * right, "a row of 32 elements is reversed in 16 turns"}});
}
