// Measurements of a test, for points by speed and for the report.
#pragma once

#include <string>
#include <utility>

#include "judge/submission.hpp"

namespace warpgrade::judge {

// Adds a measurement to the test's verdict; lab.toml turns a speed-up into points. Throws InfrastructureError if the
// value is not finite.
void report_measurement(std::string name, double value, std::string unit);

// The same call in the starter and in the submission.
template <class Output>
struct Comparison {
    Run<Output> baseline, submission;
};

template <auto Function, class... Arguments>
auto compare_with_starter(const Arguments&... arguments) {
    auto base = baseline().profile<Function>(arguments...);
    auto mine = submission().profile<Function>(arguments...);
    return Comparison<decltype(mine.output)>{std::move(base), std::move(mine)};
}

// Reports "speedup", "time" and "baseline time" by the device's clock. Fails the test if the submission launched no
// kernel, since there is no speed to compare then.
void report_speedup(const Profile& baseline, const Profile& submission);

// The same for the kernels alone, for labs whose copies take longer than their kernels.
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
