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
constexpr const char* one_for_each_warp = "one for each warp that has elements";

// The array is reversed, and on the device.
template <auto function>
void check_reversal(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto before = distinct_integers(n);
    const auto run = submission().profile<function>(inout(before), n);
    const auto& d = run.output;
    CHECK_THAT(d, equals_exactly(reversed(before)));
    CHECK_THAT(launches(run), is(1));
}

// The device's checks find nothing, in a kernel that reverses.
template <auto function>
void check_no_mistakes(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto before = distinct_integers(n);
    const auto run = submission().profile<function>(inout(before), n);
    CHECK_THAT(run, clean());
    const auto& d = run.output;
    CHECK_THAT(d, equals_exactly(reversed(before)));  // who moves nothing makes no mistakes
    CHECK_THAT(launches(run), is(1));
}

// The array is reversed, and by one kernel, whose record is returned.
template <auto function>
warpgrade::device::LaunchRecord profile_reversal(int n) {
    using namespace warpgrade::judge;
    const auto before = distinct_integers(n);
    const auto run = submission().profile<function>(inout(before), n);
    INFO("the counters are looked at once the array is reversed");
    const auto& d = run.output;
    REQUIRE_THAT(d, equals_exactly(reversed(before)));
    return run.kernel();
}

// One block; every warp that has elements stores them once into shared memory, meets the block at one barrier, loads
// them once from there, and stores them once into global memory: one request each. Neighbouring threads touch
// neighbouring words, so that shared memory needs one wavefront a request, and the n ints that are stored span
// n / 8 sectors, rounded up: the array begins at a sector. Stored backwards, an array whose size is no multiple of 8
// starts each warp within a sector and touches up to five instead of four a warp.
inline void check_shared_traffic(const warpgrade::device::LaunchRecord& kernel, int n) {
    const std::uint64_t requests = warps_of(n), sectors = (static_cast<std::uint64_t>(n) + 7) / 8;
    const auto& counters = warpgrade::judge::counted(kernel);
    using namespace warpgrade::judge;
    CHECK_THAT(blocks(kernel), is(1));
    CHECK_THAT(shared_store_requests(counters), is(requests, one_for_each_warp));
    CHECK_THAT(shared_load_requests(counters), is(requests, one_for_each_warp));
    CHECK_THAT(bank_conflicts(counters), is(0));
    CHECK_THAT(barriers(counters), is(warps(counters), "one for each warp"));
    CHECK_THAT(global_store_requests(counters), is(requests, one_for_each_warp));
    CHECK_THAT(sectors_stored(counters), is(sectors, "every element once"));
}

// The elements are loaded once, as they are stored: one request for each warp that has some. Beside them each warp may
// load the size, the same word for all lanes (one sector): between `least` and `most` times.
inline void check_size_loads(const warpgrade::device::LaunchRecord& kernel, int n, unsigned least, unsigned most) {
    const std::uint64_t requests = warps_of(n), sectors = (static_cast<std::uint64_t>(n) + 7) / 8;
    const auto& counters = warpgrade::judge::counted(kernel);
    using namespace warpgrade::judge;
    const auto launched = counters.warps_launched;
    CHECK_THAT(global_load_requests(counters),
               between(requests + least * launched, requests + most * launched,
                       most == 0 ? one_for_each_warp : "for each warp one for its elements, and some for the size"));
    CHECK_THAT(
        sectors_loaded(counters),
        is(static_cast<double>(sectors) + global_load_requests(counters).number.value() - static_cast<double>(requests),
           "every element once, and the size"));
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
    const auto before = three_arrays(a_n, b_n, c_n);
    const auto run =
        submission().profile<dynamic_reverse_three>(inout(before.a), a_n, inout(before.b), b_n, inout(before.c), c_n);
    const auto& [a, b, c] = run.output;
    REQUIRE_THAT(a, equals_exactly(reversed(before.a)));
    REQUIRE_THAT(b, equals_exactly(reversed(before.b)));
    REQUIRE_THAT(c, equals_exactly(reversed(before.c)));
    return run.kernel();
}

// Each row is reversed, and by one kernel with one block, whose record is returned.
template <auto function>
auto check_rows(int rows) {
    using namespace warpgrade::judge;
    INFO("rows = " << rows);
    const auto before = distinct_integers(rows * ROW_WIDTH);
    auto expected = before;
    for (auto row = expected.begin(); row != expected.end(); row += ROW_WIDTH) std::reverse(row, row + ROW_WIDTH);
    const auto run = submission().profile<function>(inout(before), rows);
    const auto& d = run.output;
    REQUIRE_THAT(d, equals_exactly(expected).shape(rows, ROW_WIDTH));
    CHECK_THAT(blocks(run.kernel()), is(1));
    return run;
}

template <auto function>
warpgrade::device::LaunchRecord profile_rows(int rows) {
    return check_rows<function>(rows).kernel();
}
