// What the tests of lab scan ask: the right elements, moved and added up on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "judge/judge.hpp"
#include "scan.h"

namespace oracle {

// The number of the first element of i's part, where the array is cut into parts of `size` elements.
inline int first_of(int i, int size) { return i / size * size; }

// One past the last element of that part, which may be cut off by the end of the array.
inline int end_of(int i, int size, int n) { return std::min(first_of(i, size) + size, n); }

// One result an element, f(i).
template <class F>
std::vector<int> each(int n, const F& f) {
    std::vector<int> out(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) out[i] = f(i);
    return out;
}

// The elements before `end` in i's warp that are different from 0.
inline int non_zero(const std::vector<int>& x, int i, int end) {
    return static_cast<int>(std::count_if(x.begin() + first_of(i, 32), x.begin() + end, [](int v) { return v != 0; }));
}

inline std::vector<int> vote_all(const std::vector<int>& x) {
    const int n = static_cast<int>(x.size());
    return each(n, [&](int i) {
        const int end = end_of(i, 32, n);
        return non_zero(x, i, end) == end - first_of(i, 32);
    });
}
inline std::vector<int> vote_any(const std::vector<int>& x) {
    const int n = static_cast<int>(x.size());
    return each(n, [&](int i) { return non_zero(x, i, end_of(i, 32, n)) != 0; });
}
inline std::vector<int> vote_rank(const std::vector<int>& x) {
    return each(static_cast<int>(x.size()), [&](int i) { return non_zero(x, i, i); });
}

// x[source(i)] where that lies in i's part of `size` elements and in the array, else x[i].
template <class Source>
std::vector<int> shuffle(const std::vector<int>& x, int size, const Source& source) {
    const int n = static_cast<int>(x.size());
    return each(n, [&](int i) {
        const int from = source(i);
        return from >= first_of(i, size) && from < end_of(i, size, n) ? x[from] : x[i];
    });
}
inline std::vector<int> shuffle_broadcast(const std::vector<int>& x, int lane, int width) {
    return shuffle(x, width, [&](int i) { return first_of(i, width) + lane; });
}
inline std::vector<int> shuffle_up(const std::vector<int>& x, int delta, int width) {
    return shuffle(x, width, [&](int i) { return i - delta; });
}
inline std::vector<int> shuffle_down(const std::vector<int>& x, int delta, int width) {
    return shuffle(x, width, [&](int i) { return i + delta; });
}
inline std::vector<int> shuffle_xor(const std::vector<int>& x, int mask) {
    return shuffle(x, 32, [&](int i) { return i ^ mask; });
}

// The inclusive scan of each part of `size` elements.
inline std::vector<int> scan(const std::vector<int>& x, int size) {
    std::vector<int> out(x);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i % size != 0) out[i] += out[i - 1];
    }
    return out;
}

// For each warp the sum of the elements before it in its block.
inline std::vector<int> warp_offsets(const std::vector<int>& x) {
    std::vector<int> out;
    int sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i % BLOCK_SIZE == 0) sum = 0;
        if (i % 32 == 0) out.push_back(sum);
        sum += x[i];
    }
    return out;
}

inline std::vector<int> add_block_sums(const std::vector<int>& x, const std::vector<int>& sums) {
    std::vector<int> out(x);
    for (std::size_t i = BLOCK_SIZE; i < x.size(); ++i) out[i] += sums[i / BLOCK_SIZE - 1];
    return out;
}

}  // namespace oracle

// Elements for votes: zeros in random places. Warps of zeros only and warps without any come first, then, over and
// over, warps with many zeros, with few, and with a single one.
inline std::vector<int> for_votes(int n) {
    auto x = warpgrade::judge::integers<int>(n, 1, 1000);
    const auto odds = warpgrade::judge::integers<int>(n, 0, 31);
    for (int i = 0; i < n; ++i) {
        const int warp = i / 32, kind = warp < 2 ? warp : 2 + warp % 3;
        const bool zero = kind == 0 || (kind == 2 && odds[i] < 24) || (kind == 3 && odds[i] < 2) ||
                          (kind == 4 && i % 32 == odds[warp * 32]);
        if (zero) x[i] = 0;
    }
    return x;
}

// All different, and none of them zero: every element that comes from a wrong place shows.
inline std::vector<int> for_shuffles(int n) {
    auto x = warpgrade::judge::permutation<int>(n);
    for (int& value : x) ++value;
    return x;
}

// Sums stay below 2^31 for up to two million elements, and no element is zero: none can be left out.
inline std::vector<int> for_scans(int n) {
    auto x = warpgrade::judge::integers<int>(n, 1, 999);
    const auto signs = warpgrade::judge::integers<int>(n, 0, 1);
    for (int i = 0; i < n; ++i) {
        if (signs[i] != 0) x[i] = -x[i];
    }
    return x;
}

// Each of the n elements takes an instruction of some thread at least.
inline void check_device_work(const warpgrade::judge::Profile& run, std::size_t n) {
    using namespace warpgrade::judge;
    const char* const why = "the work must be done on the device";
    REQUIRE_THAT(launches(run), at_least(1, why));
    REQUIRE_THAT(thread_instructions(run), at_least(n, why));
}

// Calls `function` with x, room for the results, n and its further arguments; the results are right, and the device's
// work. Returns what the device did.
template <auto function, class... Arguments>
warpgrade::judge::Profile check_result(const std::vector<int>& x, const std::vector<int>& expected,
                                       Arguments... arguments) {
    using namespace warpgrade::judge;
    const auto run =
        submission().profile<function>(in(x), out<int>(expected.size()), static_cast<int>(x.size()), arguments...);
    INFO("n = " << x.size());
    const auto& out = run.output;
    REQUIRE_THAT(out, equals_exactly(expected));
    check_device_work(run, x.size());
    return run;
}

// One check for each function that votes or shuffles.
inline auto check_vote_all(const std::vector<int>& x) { return check_result<vote_all>(x, oracle::vote_all(x)); }
inline auto check_vote_any(const std::vector<int>& x) { return check_result<vote_any>(x, oracle::vote_any(x)); }
inline auto check_vote_rank(const std::vector<int>& x) { return check_result<vote_rank>(x, oracle::vote_rank(x)); }
inline auto check_shuffle_broadcast(const std::vector<int>& x, int lane, int width) {
    INFO("lane = " << lane << ", width = " << width);
    return check_result<shuffle_broadcast>(x, oracle::shuffle_broadcast(x, lane, width), lane, width);
}
inline auto check_shuffle_up(const std::vector<int>& x, int delta, int width) {
    INFO("delta = " << delta << ", width = " << width);
    return check_result<shuffle_up>(x, oracle::shuffle_up(x, delta, width), delta, width);
}
inline auto check_shuffle_down(const std::vector<int>& x, int delta, int width) {
    INFO("delta = " << delta << ", width = " << width);
    return check_result<shuffle_down>(x, oracle::shuffle_down(x, delta, width), delta, width);
}
inline auto check_shuffle_xor(const std::vector<int>& x, int mask) {
    INFO("mask = " << mask);
    return check_result<shuffle_xor>(x, oracle::shuffle_xor(x, mask), mask);
}
inline auto check_warp_scan(const std::vector<int>& x) { return check_result<warp_scan>(x, oracle::scan(x, 32)); }
inline auto check_warp_offsets(const std::vector<int>& x) {
    return check_result<warp_offsets>(x, oracle::warp_offsets(x));
}
inline auto check_add_block_sums(const std::vector<int>& x, const std::vector<int>& sums) {
    using namespace warpgrade::judge;
    INFO("n = " << x.size());
    const auto run =
        submission().profile<add_block_sums>(in(x), in(sums), out<int>(x.size()), static_cast<int>(x.size()));
    const auto& out = run.output;
    REQUIRE_THAT(out, equals_exactly(oracle::add_block_sums(x, sums)));
    check_device_work(run, x.size());
    return run;
}
inline auto check_block_scan(const std::vector<int>& x) {
    return check_result<block_scan>(x, oracle::scan(x, BLOCK_SIZE));
}
inline auto check_scan(const std::vector<int>& x) {
    return check_result<scan>(x, oracle::scan(x, std::max(static_cast<int>(x.size()), 1)));
}
