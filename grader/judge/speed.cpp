#include "judge/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/context.hpp"
#include "judge/errors.hpp"

namespace warpgrade::judge {
namespace {

// Processor time that is free besides twice the starter's. A busy machine lengthens short calls by some milliseconds.
constexpr int host_allowance_ms = 10;
constexpr int host_time_repeats = 4;

void check_comparable(const Profile& baseline, const Profile& submission) {
    if (baseline.launches.empty() || !(baseline.kernel_time_ns() > 0))
        throw InfrastructureError("the starter launched no kernel, so there is no baseline for the speed");
    if (submission.launches.empty() || !(submission.kernel_time_ns() > 0))
        throw SubmissionFailure("no kernel was launched, so there is no speed to measure");
    if (works_on_the_host(baseline, submission))
        throw SubmissionFailure(
            fmt::format("the call's host code takes more than twice the starter's processor time plus {} ms: do the "
                        "work in a kernel",
                        host_allowance_ms));
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

bool works_on_the_host(const Profile& baseline, const Profile& submission) {
    return submission.host_cpu_ns > 2 * baseline.host_cpu_ns + host_allowance_ms * 1e6;
}

double detail::least_host_time(const Profile& baseline, const Profile& once, const std::function<double()>& again) {
    auto& current = context();
    const auto stream = current.stream;
    Profile least;
    least.host_cpu_ns = once.host_cpu_ns;
    for (int repeat = 0; repeat < host_time_repeats && works_on_the_host(baseline, least); ++repeat) {
        // What a program remembers of its first call must not make the next one short.
        submission().reset();
        least.host_cpu_ns = std::min(least.host_cpu_ns, again());
    }
    current.stream = stream;
    return least.host_cpu_ns;
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
