// Questions that a host function answers, as in a prelab. For a wrong answer the message names the misconception that
// leads to it, if it is known:
//     ask<sectors>(4, {{1, "32 floats are 128 bytes, but four sectors"}}, in(addresses));
#pragma once

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/judge.hpp"

namespace warpgrade::judge {

// A wrong answer and the misconception that leads to it.
struct Slip {
    double answer;
    const char* reason;
};
using Slips = std::vector<Slip>;

// Whole numbers and yes or no must be right exactly. A double may differ by eight roundings, each of 2^-53 of the value
// at most: the formulas asked for have a handful of operations, in any order.
template <class T>
bool is_right(T answer, T right) {
    if constexpr (std::is_floating_point_v<T>)
        return answer == right || (std::isfinite(right) && std::abs(answer - right) <= 8 * 0x1p-53 * std::abs(right));
    else
        return answer == right;
}

// The misconception behind this answer; null if none is known.
template <class T>
const char* reason_of(T answer, const Slips& slips) {
    for (const Slip& slip : slips) {
        if (is_right(static_cast<double>(answer), slip.answer)) return slip.reason;
    }
    return nullptr;
}

// Adds the misconception behind a wrong answer to the message of the next check.
template <class T>
void explain_slip(T answer, const Slips& slips) {
    if (const char* const reason = reason_of(answer, slips)) UNSCOPED_INFO(reason);
}

// Asks `question` with these arguments.
template <auto question, class Right, class... Arguments>
void ask(Right right_answer, const Slips& slips, const Arguments&... arguments) {
    const auto answer = submission().call<question>(arguments...);
    const auto right = static_cast<std::remove_const_t<decltype(answer)>>(right_answer);
    explain_slip(answer, slips);
    if (is_right(answer, right))
        SUCCEED();
    else
        CHECK_THAT(measure("your answer", answer), is(right));
}

// A random number, for a question whose answer students cannot look up.
inline int any_int(int low, int high) { return integers<int>(1, low, high)[0]; }

// The profile of a call of the submission's own kernel, for a prediction. It is empty if the call fails, if its output
// does not match, or if it does just what the starter's does: the kernel's own tests report that, and a prediction may
// be right before there is a kernel. A failed call ends the program, so ask for its predictions first.
template <auto function, class Matcher, class... Arguments>
Profile own_run(const Matcher& right, const Arguments&... arguments) {
    try {
        const auto compared = compare_with_starter<function>(arguments...);
        const Profile& did = compared.submission;
        const OrdinaryOrder alone;
        return right.match(compared.submission.output) && has_begun(compared.baseline, did) ? did : Profile();
    } catch (const SubmissionFailure&) {
        return {};
    }
}

// Returns 0 for a measure above the limit, which comes from another version while this one is not written yet.
inline Measure unless_above(double limit, Measure measured) {
    if (measured.number.value() > limit) measured.number = 0;
    return measured;
}

// A prediction is right if it equals the measured value of the submission's own run or the `described` value of the
// contract's version, up to the relative error `within`. A measured value of 0 means that the kernel is not right yet.
template <class T>
void check_prediction(T predicted, const Measure& measured, double described, const Slips& slips, double within = 0) {
    explain_slip(predicted, slips);
    CHECK_THAT(predicted, predicts(measured, described).within(within));
}

// A prediction that was asked for before the kernel ran, which may end the program; its message names the question.
template <class T>
struct Asked {
    T answer;
    std::string call;
};
template <auto question, class... Arguments>
auto predict(const Arguments&... arguments) {
    auto answer = submission().call<question>(arguments...);
    return Asked<decltype(answer)>{std::move(answer), context().last_call};
}

template <class T>
void check_prediction(const Asked<T>& predicted, const Measure& measured, double described, const Slips& slips,
                      double within = 0) {
    context().last_call = predicted.call;
    check_prediction(predicted.answer, measured, described, slips, within);
}

}  // namespace warpgrade::judge
