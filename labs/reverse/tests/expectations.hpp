// What the tests of lab reverse ask of every version: the elements reversed, and how they travelled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "judge/judge.hpp"
#include "reverse.h"

// All different, so that every wrong index shows; in random order, so that the index alone does not tell the value;
// small, so that a message is readable.
inline std::vector<int> distinct_integers(int n) { return warpgrade::judge::permutation<int>(n); }

template <class T>
std::vector<T> reversed(std::vector<T> d) {
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

// The device's checks find nothing, in a kernel that reverses.
template <auto function>
void check_no_mistakes(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto d = distinct_integers(n);
    const auto run = submission().profile<function>(inout(d), n);
    CHECK_THAT(run, clean());
    CHECK_THAT(run.output, equals_exactly(reversed(d)));  // who moves nothing makes no mistakes
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

// Three arrays of different types. Doubles with a fraction that float does not hold; bytes repeat after 256 elements.
struct ThreeArrays {
    std::vector<unsigned char> a;
    std::vector<int> b;
    std::vector<double> c;
};
inline ThreeArrays three_arrays(int a_n, int b_n, int c_n) {
    using namespace warpgrade::judge;
    return {integers<unsigned char>(a_n, 0, 255), distinct_integers(b_n), uniform_double(c_n)};
}

// All three are reversed, and by one kernel, whose record is returned.
inline warpgrade::device::LaunchRecord profile_three(int a_n, int b_n, int c_n) {
    using namespace warpgrade::judge;
    INFO("a_n = " << a_n << ", b_n = " << b_n << ", c_n = " << c_n);
    const auto [a, b, c] = three_arrays(a_n, b_n, c_n);
    const auto run = submission().profile<dynamic_reverse_three>(inout(a), a_n, inout(b), b_n, inout(c), c_n);
    const auto& [got_a, got_b, got_c] = run.output;
    REQUIRE_THAT(got_a, equals_exactly(reversed(a)));
    REQUIRE_THAT(got_b, equals_exactly(reversed(b)));
    REQUIRE_THAT(got_c, equals_exactly(reversed(c)));
    return run.kernel();
}

// Each row is reversed, and by one kernel with one block, whose record is returned.
template <auto function>
warpgrade::device::LaunchRecord profile_rows(int rows) {
    using namespace warpgrade::judge;
    INFO("rows = " << rows);
    const auto d = distinct_integers(rows * ROW_WIDTH);
    auto expected = d;
    for (auto row = expected.begin(); row != expected.end(); row += ROW_WIDTH) std::reverse(row, row + ROW_WIDTH);
    const auto run = submission().profile<function>(inout(d), rows);
    REQUIRE_THAT(run.output, equals_exactly(expected).shape(rows, ROW_WIDTH));
    const auto kernel = run.kernel();
    CHECK(kernel.config.grid.count() == 1);
    return kernel;
}

inline std::uint64_t bank_conflicts(const warpgrade::device::Counters& counters) {
    return counters.shared_load_bank_conflicts + counters.shared_store_bank_conflicts;
}
