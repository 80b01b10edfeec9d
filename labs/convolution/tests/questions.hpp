// Not handed out as source.
// How the prelab of lab convolution asks: a wrong answer is told which misconception leads to it, where one is known.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "convolution.h"
#include "expectations.hpp"
#include "judge/errors.hpp"
#include "judge/judge.hpp"

// A wrong answer, and how one comes by it.
struct Slip {
    double answer;
    const char* reason;
};

// Says where a wrong answer comes from, if that is known.
template <class Answer>
void explain(Answer answer, std::initializer_list<Slip> slips) {
    for (const Slip& slip : slips) {
        if (static_cast<double>(answer) == slip.answer) UNSCOPED_INFO(slip.reason);
    }
}

// Asks `question` with these arguments.
template <auto question, class Right, class... Arguments>
void ask(Right right, std::initializer_list<Slip> slips, const Arguments&... arguments) {
    using namespace warpgrade::judge;
    const auto answer = submission().call<question>(arguments...);
    explain(answer, slips);
    CHECK_THAT(measure("your answer", answer), is(right));
}

// p of the contract's convolve.
inline std::vector<int> convolved(const std::vector<int>& n, const std::vector<int>& mask) {
    using namespace warpgrade::judge;
    const int width = static_cast<int>(n.size()), mask_width = static_cast<int>(mask.size());
    return submission().call<convolve>(in(n), width, in(mask), mask_width, out<int>(width));
}

// The requests of `version` for n elements, if it runs in blocks of this size. A kernel that crashes is told elsewhere:
// predictions are right before there is one. After a call that ended badly there are no others in a test, so ask first.
template <auto version>
std::optional<warpgrade::judge::Measure> requests_of(int n, int block, int mask_width) {
    using namespace warpgrade::judge;
    try {
        const auto run =
            submission().profile<version>(in(uniform(n)), in(uniform(mask_width)), out<float>(n), n, mask_width);
        const bool comparable =
            run.launches.size() == 1 && run.launches.front().config.block.count() == static_cast<std::uint64_t>(block);
        return comparable ? std::optional(global_load_requests(run)) : std::nullopt;
    } catch (const SubmissionFailure&) {
        return {};
    }
}

// A prediction of load requests is right if it is what `version` took here, in blocks of this size, or what the version
// that the contract describes takes. What is not the version asked for, because it is not written yet, takes more.
template <auto version>
void check_requests(int predicted, int described, std::initializer_list<Slip> slips, int n, int block, int mask_width) {
    using namespace warpgrade::judge;
    const auto requests = requests_of<version>(n, block, mask_width);
    explain(predicted, slips);
    if (requests && requests->number.value() > 0 && requests->number.value() <= 1.5 * described)
        CHECK_THAT(predicted, predicts(*requests, described));
    else
        CHECK_THAT(measure("predicted global-memory load requests", predicted), is(described));
}
