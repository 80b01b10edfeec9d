// What the tests of lab histogram ask of every version: the right counts, by additions on the device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "histogram.h"
#include "judge/judge.hpp"

using Data = std::vector<unsigned char>;

namespace oracle {

inline std::vector<int> counts(const Data& data, int bins) {
    std::vector<int> counts(static_cast<std::size_t>(bins));
    for (const int value : data) {
        if (value < bins) ++counts[static_cast<std::size_t>(value)];
    }
    return counts;
}

// For each 32 values, how often the one occurs that occurs most.
inline std::vector<int> queues(const Data& data) {
    std::vector<int> queues;
    for (std::size_t first = 0; first < data.size(); first += 32) {
        std::array<int, 256> same{};
        for (std::size_t i = first; i < std::min(first + 32, data.size()); ++i) ++same[data[i]];
        queues.push_back(*std::ranges::max_element(same));
    }
    return queues;
}

// The different values among 32.
inline int distinct(const Data& values) {
    Data sorted = values;
    std::ranges::sort(sorted);
    return static_cast<int>(std::ranges::distance(sorted.begin(), std::ranges::unique(sorted).begin()));
}

}  // namespace oracle

// Values of all bins, and some that have none.
inline Data spread(int n, int bins) {
    return warpgrade::judge::integers<unsigned char>(n, 0, std::min(bins + bins / 8, 255));
}

// Values of all bins, each of which has one.
inline Data all_in(int n, int bins) { return warpgrade::judge::integers<unsigned char>(n, 0, bins - 1); }

// Of eight values seven are the same, as the background of a picture is.
inline Data skewed(int n, int bins) {
    auto data = spread(n, bins);
    const auto rolled = warpgrade::judge::integers<int>(n, 0, 7);
    const auto most = static_cast<unsigned char>(warpgrade::judge::integers<int>(1, 0, bins - 1)[0]);
    for (std::size_t i = 0; i < data.size(); ++i)
        if (rolled[i] > 0) data[i] = most;
    return data;
}

// Who counts on the CPU and launches a kernel for show is right as well. Four values share a word, and the quickest way
// needs an instruction of a thread for some of them at once; an eighth of n leaves room for any.
inline void check_device_work(const warpgrade::judge::Profile& run, std::size_t n) {
    using namespace warpgrade::judge;
    const char* const why = "the values must be counted on the device";
    CHECK_THAT(launches(run), at_least(1, why));
    CHECK_THAT(thread_instructions(run), at_least(n / 8, why));
}

// The counts are right, and the device's work.
template <auto version>
void check_counts(const Data& data, int bins) {
    using namespace warpgrade::judge;
    const int n = static_cast<int>(data.size());
    INFO("n = " << n << ", bins = " << bins);
    const auto run = submission().profile<version>(in(data), out<int>(bins), n, bins);
    const auto& counts = run.output;
    CHECK_THAT(counts, equals_exactly(oracle::counts(data, bins)));
    check_device_work(run, data.size());
}

// All versions are right in the starter, where they launch the kernel of version 0.
template <auto version>
void check_begun() {
    using namespace warpgrade::judge;
    profile_begun<version>(in(spread(4096, FEW_BINS)), out<int>(FEW_BINS), 4096, FEW_BINS);
}

// What the device did for right counts.
template <auto version>
warpgrade::judge::Profile profile_counts(const Data& data, int bins) {
    using namespace warpgrade::judge;
    const int n = static_cast<int>(data.size());
    const auto run = submission().profile<version>(in(data), out<int>(bins), n, bins);
    INFO("the counters are looked at once the counts are right");  // little work for wrong counts proves nothing
    const auto& counts = run.output;
    REQUIRE_THAT(counts, equals_exactly(oracle::counts(data, bins)));
    REQUIRE_THAT(launches(run), at_least(1));
    check_device_work(run, data.size());
    return run;
}

// The device's checks find nothing while the counts are formed.
template <auto version>
void check_no_mistakes(int n, int bins) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", bins = " << bins);
    const auto data = skewed(n, bins);
    const auto run = submission().profile<version>(in(data), out<int>(bins), n, bins);
    check_begun<version>();
    CHECK_THAT(run, clean());
    const auto& counts = run.output;
    CHECK_THAT(counts, equals_exactly(oracle::counts(data, bins)));
    check_device_work(run, data.size());
}

inline warpgrade::judge::Profile profile_contention(const Data& data) {
    using namespace warpgrade::judge;
    const int n = static_cast<int>(data.size());
    INFO("n = " << n);
    const auto run = submission().profile<contention>(in(data), out<int>((n + 31) / 32), n);
    const auto& queues = run.output;
    REQUIRE_THAT(queues, equals_exactly(oracle::queues(data)));
    CHECK_THAT(launches(run), at_least(1));
    CHECK_THAT(thread_instructions(run), at_least(4 * n, "each thread compares its value with the others'"));
    return run;
}
