#include "judge/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/signs.hpp"
#include "judge/timed_call.hpp"

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

// Whatever the trick was.
void check_possible(const Profile& run) {
    const double least_ns = impossible_time_ns(run.total(), submission().timing_device());
    if (run.kernel_time_ns() >= least_ns) return;
    context().review.emplace_back("its kernels took less time than any such GPU needs for them");
    throw InfrastructureError(
        fmt::format("the time cannot be right: {:.3g} µs for kernels that take at least {:.3g} µs at the GPU's peak "
                    "rates, by what they do. Somebody should look at it",
                    run.kernel_time_ns() / 1000, least_ns / 1000));
}

// A program that keeps what an earlier call with the same inputs found has a first call that is not like the others.
void check_later_calls(std::span<const double> samples_ns) {
    constexpr double ratio = 2, least_ns = 20'000;
    if (samples_ns.size() < 2) return;
    const double first = samples_ns.front(), later = median({samples_ns.begin() + 1, samples_ns.end()});
    if (first > ratio * later && first > later + least_ns)
        throw SubmissionFailure(
            fmt::format("a call with the same inputs as an earlier one takes less time: the first {:.3g} µs, those "
                        "after it {:.3g}. "
                        "Compute the results anew in each call",
                        first / 1000, later / 1000));
}

void report_bounds(std::span<const double> baseline_ns, std::span<const double> submission_ns) {
    if (baseline_ns.empty() || submission_ns.empty()) return;
    check_later_calls(submission_ns);
    const Ratio speedup = find_ratio(baseline_ns, submission_ns);
    report_measurement("speedup at least", speedup.least, "x");
    report_measurement("speedup at most", speedup.most, "x");
}

}  // namespace

void report_measurement(std::string name, double value, std::string unit) {
    if (!std::isfinite(value)) throw InfrastructureError("the measurement '" + name + "' is not a number");
    context().measurements.push_back({std::move(name), value, std::move(unit)});
}

// Until it is known to a few per cent how many times as fast the submission is.
void time_in_turn(Profile& baseline, Profile& submission) {
    if (!has_varying_times()) return;
    constexpr std::size_t least = 12, most = 60;
    constexpr double precise = 0.03;
    const auto is_known = [&] {
        const Ratio calls = find_ratio(baseline.call_samples_ns, submission.call_samples_ns);
        const Ratio kernels = find_ratio(baseline.kernel_samples_ns, submission.kernel_samples_ns);
        return std::max(calls.most / calls.least, kernels.most / kernels.least) < 1 + precise;
    };
    // Each time with other inputs, so that nothing can be kept from the time before, and with the starter's result as
    // the right one: if it is one at all.
    const bool starter_is_right =
        judge::submission().are_same(judge::submission().first_timed(), judge::baseline().first_timed());
    unsigned made = 0;
    const auto time_both = [&](bool starter_first) {
        const unsigned inputs = starter_is_right ? ++made : 0;
        CallResult mine, its;
        for (const bool starter : {starter_first, !starter_first})
            if (starter)
                its = judge::baseline().time_again(baseline, inputs);
            else
                mine = judge::submission().time_again(submission, inputs);
        if (starter_is_right && !judge::submission().are_same(mine, its))
            throw SubmissionFailure(
                "called again with other inputs, to take the time, your program has other results than the starter. "
                "Compute the results anew in each call");
    };
    // In the order A B B A, so that a clock that rises or falls disturbs both alike.
    std::size_t tried = 0;
    while (submission.call_samples_ns.size() < least || (submission.call_samples_ns.size() < most && !is_known())) {
        if (tried > 2 * most)
            throw InfrastructureError(
                "the clock of the GPU that takes the times does not hold still, so they do not count. Grade again when "
                "it is free and cool");
        time_both(true);
        time_both(false);
        tried += 2;
        drop_slow_pairs(baseline, submission);
    }
    check_possible(submission);
}

int size_to_time(int usual, int on_gpu) { return has_varying_times() ? on_gpu : usual; }

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

void report_call_speedup(const Profile& baseline, const Profile& submission) {
    check_comparable(baseline, submission);
    report(baseline.time_ns, submission.time_ns);
    report_bounds(baseline.call_samples_ns, submission.call_samples_ns);
}

void report_kernel_speedup(const Profile& baseline, const Profile& submission) {
    check_comparable(baseline, submission);
    report(baseline.kernel_time_ns(), submission.kernel_time_ns());
    report_bounds(baseline.kernel_samples_ns, submission.kernel_samples_ns);
}

void report_speedup(const Profile& baseline, const Profile& submission) {
    if (has_varying_times())
        report_kernel_speedup(baseline, submission);
    else
        report_call_speedup(baseline, submission);
}

}  // namespace warpgrade::judge
