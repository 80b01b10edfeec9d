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

// Where times vary, makes both calls again in turn (judge/timed_call.hpp).
void time_in_turn(Profile& baseline, Profile& submission);

// The size of a speed test's call: `usual`, or `on_gpu` where a real GPU takes the times, on which small kernels take
// no longer than their launch. Large enough for a tenth of a millisecond, and no larger, since the virtual GPU looks at
// the same call.
int size_to_time(int usual, int on_gpu);

template <auto Function, class... Arguments>
auto compare_with_starter(const Arguments&... arguments) {
    auto base = baseline().profile<Function>(arguments...);
    auto mine = submission().profile<Function>(arguments...);
    time_in_turn(base, mine);
    return Comparison<decltype(mine.output)>{std::move(base), std::move(mine)};
}

// False if the submission launched no kernel, or if its kernels count just what the starter's do: then nobody has begun
// this function, however right its results are. Throws MissingAnalysis if the device does not count.
bool has_begun(const Profile& baseline, const Profile& submission);
// Fails the test if has_begun is false.
void require_begun(const Profile& baseline, const Profile& submission);

// The submission's call of a function that has been begun.
template <auto Function, class... Arguments>
auto profile_begun(const Arguments&... arguments) {
    auto compared = compare_with_starter<Function>(arguments...);
    require_begun(compared.baseline, compared.submission);
    return std::move(compared.submission);
}

// Reports "speedup", "time" and "baseline time" by the device's clock; where times vary, also the bounds of the
// speed-up. Fails the test if the submission launched no kernel, since there is no speed to compare then.
void report_call_speedup(const Profile& baseline, const Profile& submission);

// The same for the kernels alone, for labs whose copies take longer than their kernels.
void report_kernel_speedup(const Profile& baseline, const Profile& submission);

// Of the whole call, or of the kernels alone where a real GPU takes the times: its copies take longer than most
// kernels, and vary more.
void report_speedup(const Profile& baseline, const Profile& submission);

template <class Output>
void report_speedup(const Comparison<Output>& comparison) {
    report_speedup(comparison.baseline, comparison.submission);
}
template <class Output>
void report_call_speedup(const Comparison<Output>& comparison) {
    report_call_speedup(comparison.baseline, comparison.submission);
}
template <class Output>
void report_kernel_speedup(const Comparison<Output>& comparison) {
    report_kernel_speedup(comparison.baseline, comparison.submission);
}

}  // namespace warpgrade::judge
