// Not handed out as source.
// How the prelab of lab convolution asks for predictions and a convolution; judge/questions.hpp asks all else.
#pragma once

#include <cstdint>
#include <vector>

#include "convolution.h"
#include "expectations.hpp"
#include "judge/errors.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"

// p of the contract's convolve.
inline std::vector<int> convolved(const std::vector<int>& n, const std::vector<int>& mask) {
    using namespace warpgrade::judge;
    const int width = static_cast<int>(n.size()), mask_width = static_cast<int>(mask.size());
    return submission().call<convolve>(in(n), width, in(mask), mask_width, out<int>(width));
}

// The load requests of `version` for n elements, if it runs in blocks of this size; else none, which is no answer. A
// kernel that crashes is told elsewhere: predictions are right before there is one. After a call that ended badly there
// are no others in a test, so ask first.
template <auto version>
warpgrade::judge::Measure requests_of(int n, int block, int mask_width) {
    using namespace warpgrade::judge;
    const Measure none = global_load_requests(Profile());
    try {
        const auto run =
            submission().profile<version>(in(uniform(n)), in(uniform(mask_width)), out<float>(n), n, mask_width);
        const bool comparable =
            run.launches.size() == 1 && run.launches.front().config.block.count() == static_cast<std::uint64_t>(block);
        return comparable ? global_load_requests(run) : none;
    } catch (const SubmissionFailure&) {
        return none;
    }
}

// What takes many more than `version` as the contract describes it is another version, as long as this one is not
// written yet: no answer either.
template <auto version>
void check_requests(int predicted, int described, const warpgrade::judge::Slips& slips, int n, int block,
                    int mask_width) {
    using namespace warpgrade::judge;
    auto requests = requests_of<version>(n, block, mask_width);
    if (requests.number.value() > 1.5 * described) requests.number = 0;
    check_prediction(predicted, requests, described, slips);
}
