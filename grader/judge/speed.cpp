#include "judge/speed.hpp"

#include <algorithm>
#include <cmath>

#include "judge/context.hpp"
#include "judge/errors.hpp"

namespace warpgrade::judge {

void report_measurement(std::string name, double value, std::string unit) {
    context().measurements.push_back({std::move(name), value, std::move(unit)});
}

double charged_ns(const Profile& profile, double allowance_ns) {
    return profile.time_ns + std::max(0.0, profile.host_cpu_ns - allowance_ns);
}

void report_speedup(const Profile& baseline, const Profile& submission) {
    if (baseline.launches.empty() || !(baseline.time_ns > 0))
        throw InfrastructureError("the starter launched no kernel, so that there is no baseline for the speed");
    if (submission.launches.empty() || !(submission.time_ns > 0))
        throw SubmissionFailure("no kernel was launched, so that there is no speed to measure");
    // The starter passes the same data through the same runtime. Twice its processor time, and 2 ms for a busy machine,
    // are far from what computing the result on the host takes.
    const double allowance_ns = 2 * baseline.host_cpu_ns + 2e6;
    const double mine_ns = charged_ns(submission, allowance_ns);
    report_measurement("speedup", baseline.time_ns / mine_ns, "x");
    report_measurement("time", mine_ns, "ns");
    report_measurement("baseline time", baseline.time_ns, "ns");
    if (mine_ns > submission.time_ns) report_measurement("charged host time", mine_ns - submission.time_ns, "ns");
}

}  // namespace warpgrade::judge
