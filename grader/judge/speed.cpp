#include "judge/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/signs.hpp"

namespace warpgrade::judge {
namespace {

// True if a launch took time, or the device does not report it.
bool has_work(const Profile& run) {
    return std::ranges::any_of(run.launches, [](const auto& launch) { return launch.duration_ns.value_or(1) > 0; });
}

void check_comparable(const Profile& baseline, const Profile& submission) {
    if (!has_work(baseline))
        throw InfrastructureError("the starter launched no kernel, so there is no baseline for the speed");
    if (!has_work(submission)) throw SubmissionFailure("no kernel was launched, so there is no speed to measure");
}

void report(double baseline_ns, double submission_ns) {
    report_measurement("speedup", baseline_ns / submission_ns, "x");
    report_measurement("time", submission_ns, "ns");
    report_measurement("baseline time", baseline_ns, "ns");
}

}  // namespace

void report_measurement(std::string name, double value, std::string unit) {
    if (!std::isfinite(value)) throw InfrastructureError("the measurement '" + name + "' is not a number");
    context().measurements.push_back({std::move(name), value, std::move(unit)});
}

bool has_begun(const Profile& baseline, const Profile& submission) {
    return !submission.launches.empty() && baseline.total() != submission.total();
}

void require_begun(const Profile& baseline, const Profile& submission) {
    if (submission.launches.empty()) throw SubmissionFailure("no kernel was launched that the result comes from");
    if (has_begun(baseline, submission)) return;
    context().add_sign(sign::unbegun);
    throw SubmissionFailure(
        "this function still does just what it does in the starter: is its own kernel written, and is it launched?");
}

void report_speedup(const Profile& baseline, const Profile& submission) {
    check_comparable(baseline, submission);
    report(baseline.time_ns, submission.time_ns);
}

void report_kernel_speedup(const Profile& baseline, const Profile& submission) {
    check_comparable(baseline, submission);
    report(baseline.kernel_time_ns(), submission.kernel_time_ns());
}

}  // namespace warpgrade::judge
