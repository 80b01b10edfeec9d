// Public tests of lab vecadd: right sums, and for each version the way that its data travels.
#include <algorithm>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "vecadd.h"

using namespace warpgrade::judge;

namespace {

using Interval = warpgrade::device::Interval;

// Sizes of the tests of the data's way: whole blocks, and not.
constexpr int whole_blocks = 1 << 14, odd_size = 12345;

// For how long something of `ones` and something of `others` were at work at the same time.
double overlap_ns(const std::vector<Interval>& ones, const std::vector<Interval>& others) {
    // The others run into each other as well: time in which two of them are at work counts once.
    std::vector<Interval> merged = others;
    std::sort(merged.begin(), merged.end(), [](const auto& x, const auto& y) { return x.start_ns < y.start_ns; });
    double total = 0;
    for (const auto& one : ones) {
        double done = one.start_ns;
        for (const auto& other : merged) {
            const double begin = std::max(done, other.start_ns), end = std::min(one.end_ns, other.end_ns);
            if (end > begin) total += end - begin, done = end;
        }
    }
    return total;
}

double length_ns(const std::vector<Interval>& intervals) {
    double total = 0;
    for (const auto& interval : intervals) total += interval.end_ns - interval.start_ns;
    return total;
}

// Copies to the device; kernels and copies back.
std::pair<std::vector<Interval>, std::vector<Interval>> ways_in_and_out(const Profile& run) {
    std::vector<Interval> in, out;
    for (const auto& transfer : run.transfers)
        (transfer.kind == Transfer::Kind::to_device ? in : out).push_back(transfer.when);
    for (const auto& launch : run.launches) out.push_back(when(launch));
    return {in, out};
}

}  // namespace

TEST_CASE("vecadd_copies adds", "[public]") {
    const int n = GENERATE(256, 1000, 4096);
    check_sum<vecadd_copies>(uniform(n), uniform(n), n);
}

TEST_CASE("vecadd_copies makes three copies and has a grid that grows with n", "[public][counter]") {
    check_way<vecadd_copies>(GENERATE(whole_blocks, odd_size));
}

TEST_CASE("vecadd_managed adds in managed memory, without copies", "[public][counter]") {
    check_way<vecadd_managed>(GENERATE(whole_blocks, odd_size));
}

TEST_CASE("vecadd_mapped adds in the host's memory, without copies", "[public][counter]") {
    check_way<vecadd_mapped>(GENERATE(whole_blocks, odd_size));
}

TEST_CASE("vecadd_streams does each piece in a stream of its own", "[public][counter]") {
    const auto [n, streams] = GENERATE(table<int, int>({{whole_blocks, 4}, {whole_blocks, 1}, {odd_size, 5}}));
    profile_streams(n, streams);
}

// The way in is the copies to the device, the way out the kernels and copies back. With S pieces, the first piece is
// alone on its way in and the last one on its way out; all else may have a piece on the other way beside it, so that
// up to (S - 1) / S of the shorter way is hidden. Half of that is asked for, so that every order of issue which lets
// streams overlap at all passes: piece by piece, or all copies first. Nothing is hidden with one stream, with pageable
// memory (the host waits for each copy), or when the host waits for each piece.
TEST_CASE("copies and kernels of different streams overlap", "[public][counter]") {
    const int n = 1 << 20, streams = 4;
    const auto several = profile_streams(n, streams);
    const auto [in, out] = ways_in_and_out(several);
    const double hidden_ns = overlap_ns(in, out), shorter_ns = std::min(length_ns(in), length_ns(out));
    CHECK_THAT(measure("time in which copies to the device and other work overlap", hidden_ns, "ns"),
               at_least(0.5 * (streams - 1) / streams * shorter_ns, "half of what four streams can hide").none_at(0));

    // The same copies and kernels, one after the other.
    const auto single = profile_streams(n, 1);
    const auto [single_in, single_out] = ways_in_and_out(single);
    CHECK_THAT(
        measure("time in which the copies and kernels of one stream overlap", overlap_ns(single_in, single_out), "ns"),
        is(0));
    CHECK_THAT(measure("time with four streams", several.time_ns, "ns"), below(single.time_ns, "with one stream"));
}

// Twice in the same program: the variable does not begin at 0 by itself.
TEST_CASE("count_above counts on both sides", "[public][counter]") {
    const int on_host = GENERATE(0, 1000);
    check_count(whole_blocks, on_host);
    check_count(odd_size, on_host);
}

TEST_CASE("the checks find no mistakes in vecadd_managed", "[public][checks]") {
    const auto run = profile_sum<vecadd_managed>(uniform(odd_size), uniform(odd_size), odd_size);
    check_shared_by_both_sides(run, odd_size, "cudaMallocManaged", "managed memory");  // the starter's copies are right
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in vecadd_mapped", "[public][checks]") {
    const auto run = profile_sum<vecadd_mapped>(uniform(odd_size), uniform(odd_size), odd_size);
    check_shared_by_both_sides(run, odd_size, "cudaHost", "page-locked host memory");
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in vecadd_streams", "[public][checks]") {
    const int streams = GENERATE(3, 4);
    const auto run = profile_streams(odd_size, streams);
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in count_above", "[public][checks]") {
    const auto run = check_count(odd_size, GENERATE(0, 1000));
    CHECK_THAT(run, clean());
}

TEST_CASE("speed of four streams on 2^20 elements", "[public][speed]") {
    const int n = size_to_time(1 << 20, 1 << 22);
    const auto a = uniform(n), b = uniform(n);
    const int times = 2;
    const auto compared = compare_with_starter<vecadd_streams>(in(a), in(b), out<float>(n), n, 4, times);
    INFO("the speed counts once the sums are right");
    const auto& c = compared.submission.output;
    REQUIRE_THAT(c, equals_exactly(sums(a, b)));
    check_device_work(compared.submission, n);
    check_copies(compared.submission, n, 4, times);
    check_made_once(compared.submission, n, times);
    report_call_speedup(compared);
}
