// Hidden tests of lab step: every kind of size, edges that are not there, awkward numbers, and no elements at all.
#include <cmath>
#include <limits>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "step.h"

using namespace warpgrade::judge;

namespace {

void check_all_versions(const std::vector<float>& d, int n) {
    check_step<step_v0>(d, n);
    check_step<step_v1>(d, n);
    check_step<step_1x8>(d, n);
    check_step<step_v2>(d, n);
    check_step<step_v3>(d, n);
    check_step<step_v4>(d, n);
}

template <auto function>
void check_nothing_is_launched(int n) {
    const std::vector<float> nothing;
    const auto run = submission().profile<function>(out<float>(0), in(nothing), n);
    CHECK_THAT(launches(run), is(0));
}

}  // namespace

TEST_CASE("step_v0 and step_v1 take every size", "[hidden][checks]") {
    const int n = GENERATE(1, 2, 15, 17, 31, 65, 130);
    check_step<step_v0>(lengths(n), n);
    check_step<step_v1>(lengths(n), n);
}

TEST_CASE("pad_and_transpose and step_1x8 take every size", "[hidden][checks]") {
    const int n = GENERATE(1, 2, 33, 63, 66, 127, 129);
    check_copies(n);
    check_step<step_1x8>(lengths(n), n);
}

// One element, less than one part of 64 × 64, one more and one less than whole parts, and each remainder by 4.
TEST_CASE("step_v2 takes every size", "[hidden][checks]") {
    const int n = GENERATE(1, 2, 7, 33, 63, 65, 66, 127, 129, 180);
    check_step<step_v2>(lengths(n), n);
}

TEST_CASE("step_v3 takes every size", "[hidden][checks]") {
    const int n = GENERATE(1, 2, 7, 33, 63, 65, 66, 127, 129, 180);
    check_step<step_v3>(lengths(n), n);
}

TEST_CASE("step_v4 takes every size", "[hidden][checks]") {
    const int n = GENERATE(1, 2, 7, 33, 63, 65, 66, 127, 129, 180);
    check_step<step_v4>(lengths(n), n);
}

// Nine of ten edges are missing, one node has none going out, one none coming in: a row and a column of r are infinite.
// A large number in place of infinity is not the same.
TEST_CASE("edges that are not there are infinitely long", "[hidden]") {
    const int n = 70;
    const float infinity = std::numeric_limits<float>::infinity();
    auto d = lengths(n);
    const auto is_there = integers<int>(n * n, 0, 9);
    const int without_out = integers<int>(1, 0, n - 1)[0], without_in = integers<int>(1, 0, n - 1)[0];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (is_there[i * n + j] != 0 || i == without_out || j == without_in) d[i * n + j] = infinity;
        }
    }
    check_all_versions(d, n);
}

// Lengths of either sign and of sizes from 2^-40 to 2^40: a format of a narrower range than float's overflows or
// loses the small ones, and sums that are rounded twice differ in the last bits.
TEST_CASE("lengths of any sign and size come out exactly", "[hidden]") {
    const int n = 96;
    auto d = uniform(n * n);
    const auto exponents = integers<int>(n * n, -40, 40);
    for (int e = 0; e < n * n; ++e) d[e] = std::ldexp(d[e], exponents[e]);
    check_all_versions(d, n);
}

TEST_CASE("no nodes, no launch", "[hidden]") {
    SECTION("n = 0 and below") {
        const int n = GENERATE(0, -1, -64);
        check_nothing_is_launched<step_v0>(n);
        check_nothing_is_launched<step_v1>(n);
        check_nothing_is_launched<step_v2>(n);
        check_nothing_is_launched<step_v3>(n);
        check_nothing_is_launched<step_v4>(n);
    }
    SECTION("and 64 nodes have their shortest ways") { check_all_versions(lengths(64), 64); }
}
