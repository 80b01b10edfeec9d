// Hidden tests of lab reverse: every size that a version takes, sizes that it does not take, and calls in a row.
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "reverse.h"

using namespace warpgrade::judge;

namespace {

// A full array is reversed; one that is too large, empty or of negative size is left alone, and nothing is launched.
template <auto function>
void check_capacity(int capacity) {
    check_reversal<function>(capacity);
    for (const int n : {capacity + 1, 2 * capacity, 0, -1}) {
        INFO("n = " << n);
        const auto d = distinct_integers(std::max(n, 5));
        const auto run = submission().profile<function>(inout(d), n);
        CHECK_THAT(run.output, equals_exactly(d));
        CHECK(run.launches.size() == 0);
    }
}

}  // namespace

TEST_CASE("static_reverse reverses every size from 1 to 64", "[hidden]") {
    for (int n = 1; n <= STATIC_CAPACITY; ++n) check_reversal<static_reverse>(n);
}

TEST_CASE("the dynamic versions reverse sizes around whole warps", "[hidden]") {
    for (const int n : {1, 2, 31, 32, 33, 63, 65, 95, 127, 129, 511, 992, 993, 1023, 1024}) {
        check_reversal<dynamic_reverse>(n);
        check_reversal<dynamic_reverse_n>(n);
        check_reversal<dynamic_reverse_symbol>(n);
    }
}

TEST_CASE("sizes beyond the capacity leave the array alone", "[hidden]") {
    SECTION("static_reverse") { check_capacity<static_reverse>(STATIC_CAPACITY); }
    SECTION("dynamic_reverse") { check_capacity<dynamic_reverse>(BLOCK_CAPACITY); }
    SECTION("dynamic_reverse_n") { check_capacity<dynamic_reverse_n>(BLOCK_CAPACITY); }
    SECTION("dynamic_reverse_symbol") { check_capacity<dynamic_reverse_symbol>(BLOCK_CAPACITY); }
}

// A size that is left over from the call before is too large once and too small once.
TEST_CASE("each call sets its own size", "[hidden]") {
    for (const int n : {100, 7, 640, 33}) check_reversal<dynamic_reverse_symbol>(n);
    check_reversal<static_reverse>(48);
    check_reversal<dynamic_reverse_symbol>(250);
}
