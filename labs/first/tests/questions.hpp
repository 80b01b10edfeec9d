// Not handed out as source.
// How the prelab of lab first asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include "expectations.hpp"
#include "first.h"
#include "judge/questions.hpp"

// What add_vectors takes for n elements, predicted: right is what this submission's own run took, in the blocks that it
// chose, or what one with a thread for each element takes. Before there is a kernel, only the latter is.
inline void ask_costs(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto a = uniform(n), b = uniform(n);
    const auto run = own_run<add_vectors>(equals_exactly(sums(a, b)), in(a), in(b), out<float>(n), n);
    int block = run.launches.size() == 1 ? static_cast<int>(run.launches.front().config.block.count()) : 256;
    if (block % 32 != 0) block = 256;
    INFO("blocks of " << block << " threads");
    check_prediction(submission().call<add_warps>(n, block), warps(run), (n + block - 1) / block * (block / 32), {});
    check_prediction(submission().call<add_load_requests>(n), global_load_requests(run), 2 * ((n + 31) / 32), {});
    check_prediction(submission().call<add_sectors_loaded>(n), sectors_loaded(run), 2 * ((n + 7) / 8), {});
}
