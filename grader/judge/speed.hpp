// What a test measures, for points by speed and for the report.
#pragma once

#include <functional>
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

// Whether the submission's host code takes far more processor time than the starter's, which passes the same data
// through the same runtime.
bool works_on_the_host(const Profile& baseline, const Profile& submission);

namespace detail {
// The least processor time of the submission's call, `once` and repeated in new processes while it looks as if the
// host did the work. The test's inputs stay as they would be without the repeats.
double least_host_time(const Profile& baseline, const Profile& once, const std::function<double()>& again);
}  // namespace detail

// Calls Function in the starter and in the submission. Processor time is the one thing here that a busy machine can
// spoil: where it looks as if the host did the work, the call is made again, and the least time counts.
template <auto Function, class... Arguments>
auto compare_with_starter(const Arguments&... arguments) {
    auto base = baseline().profile<Function>(arguments...);
    auto mine = submission().profile<Function>(arguments...);
    const auto again = [&] { return submission().profile<Function>(arguments...).host_cpu_ns; };
    mine.host_cpu_ns = detail::least_host_time(base, mine, again);
    return Comparison<decltype(mine.output)>{std::move(base), std::move(mine)};
}

// Records "speedup", "time" and "baseline time", all of the device's clock. Fails the test when the submission
// launched no kernel, for there is then nothing whose speed could be compared, and when its host code did the work.
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
