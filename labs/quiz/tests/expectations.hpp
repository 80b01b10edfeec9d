// How the tests of lab quiz ask: a wrong answer is told which misconception leads to it, where one is known.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "judge/judge.hpp"
#include "quiz.h"

namespace judge = warpgrade::judge;

// A wrong answer, and how one comes by it.
struct Slip {
    double answer;
    const char* reason;
};

// Whole numbers and yes or no must be right exactly. A double may differ by eight roundings, each of 2^-53 of the value
// at most: the formulas asked for have three operations, in any order.
template <class T>
bool is_right(T answer, T right) {
    if constexpr (std::is_floating_point_v<T>)
        return std::abs(answer - right) <= 8 * 0x1p-53 * std::abs(right);
    else
        return answer == right;
}

// Asks `question` with these arguments.
template <auto question, class Right, class... Arguments>
void ask(Right right_answer, std::initializer_list<Slip> slips, const Arguments&... arguments) {
    const auto answer = judge::submission().call<question>(arguments...);
    const auto right = static_cast<std::remove_const_t<decltype(answer)>>(right_answer);
    for (const Slip& slip : slips) {
        if (is_right(static_cast<double>(answer), slip.answer)) UNSCOPED_INFO(slip.reason);
    }
    if (is_right(answer, right))
        SUCCEED();
    else
        CHECK_THAT(judge::measure("your answer", answer), judge::is(right));
}

// p of the contract's convolve.
inline std::vector<int> convolved(const std::vector<int>& n, const std::vector<int>& mask) {
    const int width = static_cast<int>(n.size()), mask_width = static_cast<int>(mask.size());
    return judge::submission().call<convolve>(judge::in(n), width, judge::in(mask), mask_width, judge::out<int>(width));
}
