// Hidden tests of lab reverse: every size that a version takes, sizes that it does not take, and calls in a row.
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "reverse.h"

using namespace warpgrade::judge;

namespace {

template <auto function>
void check_left_alone(const std::vector<int>& before, int size) {
    const auto run = submission().profile<function>(inout(before), size);
    const auto& d = run.output;
    CHECK_THAT(d, equals_exactly(before));
    CHECK_THAT(launches(run), is(0));
}

// A full array is reversed; one that is too large, empty or of negative size is left alone, and nothing is launched.
template <auto function>
void check_capacity(int capacity) {
    check_reversal<function>(capacity);
    for (const int n : {capacity + 1, 2 * capacity, 0, -1}) {
        INFO("n = " << n);
        const auto before = distinct_integers(std::max(n, 5));
        check_left_alone<function>(before, n);
    }
}

}  // namespace

TEST_CASE("static_reverse reverses every size from 1 to 64", "[hidden][checks]") {
    for (int n = 1; n <= STATIC_CAPACITY; ++n) check_reversal<static_reverse>(n);
}

TEST_CASE("the dynamic versions reverse sizes around whole warps", "[hidden][checks]") {
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

// Every order of the arrays in the allocation but the right one leaves an int or a double unaligned for some of these
// lengths. Empty arrays first, last and between.
TEST_CASE("dynamic_reverse_three takes every length", "[hidden][checks]") {
    for (const auto& [a_n, b_n, c_n] : {std::tuple{1, 1, 1},
                                        {1, 0, 1},
                                        {0, 1, 1},
                                        {1, 2, 3},
                                        {2, 3, 4},
                                        {3, 5, 0},
                                        {0, 33, 0},
                                        {7, 1024, 1},
                                        {1023, 31, 65},
                                        {1024, 1024, 1024},
                                        {0, 0, 129}})
        profile_three(a_n, b_n, c_n);
}

TEST_CASE("dynamic_reverse_three leaves arrays of other lengths alone", "[hidden]") {
    for (const auto& [a_n, b_n, c_n] :
         {std::tuple{0, 0, 0}, {-1, 8, 8}, {8, -1, 8}, {8, 8, -1}, {1025, 8, 8}, {8, 1025, 8}, {8, 8, 1025}}) {
        INFO("a_n = " << a_n << ", b_n = " << b_n << ", c_n = " << c_n);
        const auto before = three_arrays(std::max(a_n, 5), std::max(b_n, 5), std::max(c_n, 5));
        const auto run = submission().profile<dynamic_reverse_three>(inout(before.a), a_n, inout(before.b), b_n,
                                                                     inout(before.c), c_n);
        const auto& [a, b, c] = run.output;
        CHECK_THAT(a, equals_exactly(before.a));
        CHECK_THAT(b, equals_exactly(before.b));
        CHECK_THAT(c, equals_exactly(before.c));
        CHECK_THAT(launches(run), is(0));
    }
    profile_three(8, 8, 8);
}

TEST_CASE("rows_strided and rows_padded take 1 to 128 rows", "[hidden]") {
    for (const int rows : {1, 2, 31, 33, 63, 100, 127, 128}) {
        profile_rows<rows_strided>(rows);
        const auto kernel = profile_rows<rows_padded>(rows);
        CHECK_THAT(bank_conflicts(kernel), is(0));
    }
    for (const int rows : {129, 1024, 0, -1}) {
        INFO("rows = " << rows);
        const auto before = distinct_integers(std::max(rows, 1) * ROW_WIDTH);
        check_left_alone<rows_strided>(before, rows);
        check_left_alone<rows_padded>(before, rows);
    }
}
