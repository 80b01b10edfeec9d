// Hidden tests of lab vecadd: sizes around blocks and pieces, special values, other sizes, and nothing to add.
#include <limits>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "vecadd.h"

using namespace warpgrade::judge;

namespace {

void check_all_versions(const std::vector<float>& a, const std::vector<float>& b) {
    const int n = static_cast<int>(a.size());
    check_sum<vecadd_copies>(a, b, n);
    check_sum<vecadd_managed>(a, b, n);
    check_sum<vecadd_mapped>(a, b, n);
    check_sum<vecadd_streams>(a, b, n, 3, 1);
}

template <auto function, class... More>
void check_nothing_happens(int n, More... more) {
    INFO("n = " << n);
    const auto some = uniform(8);
    const auto run = submission().profile<function>(in(some), in(some), inout(some), n, more...);
    const auto& c = run.output;
    CHECK_THAT(c, equals_exactly(some));
    CHECK_THAT(launches(run), is(0));
}

}  // namespace

TEST_CASE("every version adds sizes around whole blocks", "[hidden][checks]") {
    for (const int n : {1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 4099})
        check_all_versions(uniform(n), uniform(n));
}

// Rounding to the nearest even float, subnormal numbers, overflow, infinities and NaN, as IEEE 754 has them; each pair
// once in either order, and among ordinary numbers.
TEST_CASE("special values add as on the host", "[hidden]") {
    using limits = std::numeric_limits<float>;
    const float special[] = {0.0f,
                             1.0f,
                             -1.0f,
                             0x1p-24f,
                             0x1.8p-24f,
                             0x1.000002p-24f,
                             16777216.0f,
                             limits::min(),
                             -limits::min(),
                             limits::denorm_min(),
                             3 * limits::denorm_min(),
                             limits::max(),
                             -limits::max(),
                             limits::infinity(),
                             -limits::infinity(),
                             limits::quiet_NaN()};
    auto a = uniform(300), b = uniform(300);
    std::size_t next = 20;
    for (const float x : special)
        for (const float y : special) a[next] = x, b[next] = y, ++next;
    check_all_versions(a, b);
}

// ⌈n / streams⌉ elements a piece may leave the last pieces short or empty: 5 elements in 4 pieces are 2, 2, 1 and 0.
TEST_CASE("vecadd_streams cuts uneven pieces and takes more streams than elements", "[hidden]") {
    for (const auto& [n, streams] : std::vector<std::pair<int, int>>{
             {1, 1}, {1, 16}, {5, 4}, {7, 3}, {16, 16}, {17, 16}, {33, 2}, {1000, 7}, {4097, 16}}) {
        INFO("n = " << n << ", streams = " << streams);
        profile_streams(n, streams);
    }
}

TEST_CASE("count_above divides the work otherwise", "[hidden]") {
    for (const auto& [n, on_host] :
         std::vector<std::pair<int, int>>{{1, 0}, {1, 1}, {255, 0}, {257, 256}, {1000, 999}, {4099, 4099}, {5000, 0}})
        check_count(n, on_host);
    CHECK_THAT(measure("elements above the limit", submission().call<count_above>(in(uniform(8)), 0, 0.0f, 0)), is(0));
}

TEST_CASE("each version goes its own way for other sizes", "[hidden][counter]") {
    const int n = GENERATE(777, 20001);
    SECTION("vecadd_copies") { check_way<vecadd_copies>(n); }
    SECTION("vecadd_managed") { check_way<vecadd_managed>(n); }
    SECTION("vecadd_mapped") { check_way<vecadd_mapped>(n); }
    SECTION("vecadd_streams") { profile_streams(n, MAX_STREAMS); }
}

TEST_CASE("without elements or streams nothing is launched", "[hidden]") {
    for (const int n : {0, -1, -1000}) {
        check_nothing_happens<vecadd_copies>(n);
        check_nothing_happens<vecadd_managed>(n);
        check_nothing_happens<vecadd_mapped>(n);
        check_nothing_happens<vecadd_streams>(n, 2, 1);
    }
    for (const int streams : {0, -3, MAX_STREAMS + 1}) check_nothing_happens<vecadd_streams>(8, streams, 1);
    check_all_versions(uniform(8), uniform(8));
}
