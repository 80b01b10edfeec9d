// What a test measures, for points by speed and for the report.
#pragma once

#include <string>
#include <utility>

#include "judge/submission.hpp"

namespace warpgrade::judge {

// Goes into the test's verdict; lab.toml turns a speed-up into points. Finite, or it is an error of the test.
void report_measurement(std::string name, double value, std::string unit);

// The same call in the starter and in the submission.
template <class Output>
struct Comparison {
    Run<Output> baseline, submission;
};

// Calls Function in the starter and in the submission.
template <auto Function, class... Arguments>
auto compare_with_starter(const Arguments&... arguments) {
    auto base = baseline().profile<Function>(arguments...);
    auto mine = submission().profile<Function>(arguments...);
    return Comparison<decltype(mine.output)>{std::move(base), std::move(mine)};
}

// Records "speedup", "time" and "baseline time", all of the device's clock. Fails the test when the submission
// launched no kernel, for there is then nothing whose speed could be compared.
void report_speedup(const Profile& baseline, const Profile& submission);

// The same of the kernels alone, for labs whose copies take longer than what the lab is about.
void report_kernel_speedup(const Profile& baseline, const Profile& submission);

template <class Output>
void report_speedup(const Comparison<Output>& comparison) {
    report_speedup(comparison.baseline, comparison.submission);
}
template <class Output>
void report_kernel_speedup(const Comparison<Output>& comparison) {
    report_kernel_speedup(comparison.baseline, comparison.submission);
}

}  // namespace warpgrade::judge
