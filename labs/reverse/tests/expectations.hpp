// What the tests of lab reverse ask of every version: the elements reversed, and how they travelled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "judge/judge.hpp"

// All different, so that every wrong index shows; in random order, so that the index alone does not tell the value;
// small, so that a message is readable.
inline std::vector<int> distinct_integers(int n) { return warpgrade::judge::permutation<int>(n); }

inline std::vector<int> reversed(std::vector<int> d) {
    std::reverse(d.begin(), d.end());
    return d;
}

inline std::uint64_t warps_of(int n) { return (static_cast<std::uint64_t>(n) + 31) / 32; }

// The array is reversed, and on the device.
template <auto function>
void check_reversal(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto d = distinct_integers(n);
    const auto run = submission().profile<function>(inout(d), n);
    CHECK_THAT(run.output, equals_exactly(reversed(d)));
    CHECK(run.launches.size() == 1);
}

// The array is reversed, and by one kernel, whose record is returned.
template <auto function>
warpgrade::device::LaunchRecord profile_reversal(int n) {
    using namespace warpgrade::judge;
    const auto d = distinct_integers(n);
    const auto run = submission().profile<function>(inout(d), n);
    INFO("the counters are looked at when the array is reversed");
    REQUIRE_THAT(run.output, equals_exactly(reversed(d)));
    return run.kernel();
}

// One block; every warp that has elements stores them once into shared memory, meets the block at one barrier, loads
// them once from there, and stores them once into global memory: one request each. Neighbouring threads touch
// neighbouring words, so that shared memory needs one wavefront a request, and the n ints that are stored span
// n / 8 sectors, rounded up: the array begins at a sector. Stored backwards, an array whose size is no multiple of 8
// starts each warp within a sector and touches up to five instead of four a warp.
inline void check_shared_traffic(const warpgrade::device::LaunchRecord& kernel, int n) {
    const std::uint64_t requests = warps_of(n), sectors = (static_cast<std::uint64_t>(n) + 7) / 8;
    const auto& counters = kernel.counters;
    CHECK(kernel.config.grid.count() == 1);
    CHECK(counters.shared_store_requests == requests);
    CHECK(counters.shared_load_requests == requests);
    CHECK(counters.shared_store_bank_conflicts + counters.shared_load_bank_conflicts == 0);
    CHECK(counters.barriers == counters.warps_launched);
    CHECK(counters.global_store_requests == requests);
    CHECK(counters.global_store_sectors == sectors);
}

// The elements are loaded once, as they are stored: one request for each warp that has some. Beside them each warp may
// load the size, the same word for all lanes (one sector): between `least` and `most` times.
inline void check_size_loads(const warpgrade::device::LaunchRecord& kernel, int n, unsigned least, unsigned most) {
    const std::uint64_t requests = warps_of(n), sectors = (static_cast<std::uint64_t>(n) + 7) / 8;
    const auto& counters = kernel.counters;
    CHECK(counters.global_load_requests >= requests + least * counters.warps_launched);
    CHECK(counters.global_load_requests <= requests + most * counters.warps_launched);
    CHECK(counters.global_load_sectors == sectors + (counters.global_load_requests - requests));
}
