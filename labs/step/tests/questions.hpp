// How the prelab of lab step asks: a wrong answer is told which misconception leads to it, where one is known.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "step.h"

// A wrong answer, and how one comes by it.
struct Slip {
    double answer;
    const char* reason;
};

// Whole numbers must be right exactly. A double may differ by eight roundings, each of 2^-53 of the value at most: the
// formulas asked for have up to five operations, in any order.
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
    using namespace warpgrade::judge;
    const auto answer = submission().call<question>(arguments...);
    const auto right = static_cast<std::remove_const_t<decltype(answer)>>(right_answer);
    for (const Slip& slip : slips) {
        if (is_right(static_cast<double>(answer), slip.answer)) UNSCOPED_INFO(slip.reason);
    }
    if (is_right(answer, right))
        SUCCEED();
    else
        CHECK_THAT(measure("your answer", answer), is(right));
}

// What a version will load, beside what the submission's own loads.
template <auto function>
void ask_sectors(int version, std::uint64_t described, int n) {
    using namespace warpgrade::judge;
    INFO("version " << version << ", n = " << n);
    const auto run = submission().profile<function>(out<float>(n * n), in(lengths(n)), n);
    const auto predicted = submission().call<step_sectors>(version, n);
    CHECK(predicted > 0);  // an empty kernel loads nothing, and that is no answer
    CHECK_THAT(predicted, predicts(sectors_loaded(run), described));
}

// Where the numbers come from: public.cpp, and n² / 8 sectors for the kernel that pads.
inline void ask_all_sectors(int nodes) {
    const auto n = static_cast<std::uint64_t>(nodes);
    ask_sectors<step_v0>(0, 17 * n * n * n / 32, nodes);
    ask_sectors<step_v1>(1, 4 * n * n * n / 32, nodes);
    ask_sectors<step_v2>(2, 16 * n * n * n / 2048 + n * n / 8, nodes);
    ask_sectors<step_v3>(3, 16 * n * n * n / 4096 + n * n / 8, nodes);
}
