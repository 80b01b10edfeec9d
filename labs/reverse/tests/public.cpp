// Public tests of lab reverse: each version reverses, and each uses the kind of shared memory that it is about.
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "reverse.h"

using namespace warpgrade::judge;

TEST_CASE("static_reverse reverses up to 64 elements", "[public]") {
    check_reversal<static_reverse>(GENERATE(64, 40, 63, 1));
}

TEST_CASE("dynamic_reverse reverses up to 1024 elements", "[public]") {
    check_reversal<dynamic_reverse>(GENERATE(64, 1024, 333, 1));
}

TEST_CASE("dynamic_reverse_n reverses up to 1024 elements", "[public]") {
    check_reversal<dynamic_reverse_n>(GENERATE(64, 1024, 333, 1));
}

TEST_CASE("dynamic_reverse_symbol reverses up to 1024 elements", "[public]") {
    check_reversal<dynamic_reverse_symbol>(GENERATE(64, 1024, 333, 1));
}

TEST_CASE("static_reverse works in static shared memory", "[public][counter]") {
    const int n = GENERATE(64, 61);
    const auto kernel = profile_reversal<static_reverse>(n);
    CHECK_THAT(static_shared_bytes(kernel), at_least(STATIC_CAPACITY * sizeof(int), "64 ints"));
    CHECK_THAT(dynamic_shared_bytes(kernel), is(0));
    check_size_loads(kernel, n, 0, 0);
    check_shared_traffic(kernel, n);
}

TEST_CASE("dynamic_reverse works in dynamic shared memory", "[public][counter]") {
    const int n = GENERATE(64, 1001);
    const auto kernel = profile_reversal<dynamic_reverse>(n);
    CHECK_THAT(static_shared_bytes(kernel), is(0));
    CHECK_THAT(dynamic_shared_bytes(kernel), is(n * sizeof(int), "n ints"));
    CHECK_THAT(threads_per_block(kernel), is(n));
    check_size_loads(kernel, n, 0, 0);
    check_shared_traffic(kernel, n);
}

TEST_CASE("dynamic_reverse_n has whole warps and gets the size by argument", "[public][counter]") {
    const int n = GENERATE(64, 1001);
    const auto kernel = profile_reversal<dynamic_reverse_n>(n);
    CHECK_THAT(static_shared_bytes(kernel), is(0));
    CHECK_THAT(dynamic_shared_bytes(kernel), is(n * sizeof(int), "n ints"));
    CHECK_THAT(threads_per_block(kernel), is(warps_of(n) * 32, "whole warps"));
    check_size_loads(kernel, n, 0, 0);  // an argument is no load from global memory
    check_shared_traffic(kernel, n);
}

// The compiler may load the variable again after the barrier, since another thread could have changed it meanwhile; who
// writes it out in both conditions and in the index gets up to three loads a warp.
TEST_CASE("dynamic_reverse_symbol has whole warps and loads the size", "[public][counter]") {
    const int n = GENERATE(64, 1001);
    const auto kernel = profile_reversal<dynamic_reverse_symbol>(n);
    CHECK_THAT(static_shared_bytes(kernel), is(0));
    CHECK_THAT(dynamic_shared_bytes(kernel), is(n * sizeof(int), "n ints"));
    CHECK_THAT(threads_per_block(kernel), is(warps_of(n) * 32, "whole warps"));
    check_size_loads(kernel, n, 1, 3);
    check_shared_traffic(kernel, n);
}

TEST_CASE("dynamic_reverse_three reverses three arrays", "[public]") {
    const auto [a_n, b_n, c_n] =
        GENERATE(table<int, int, int>({{64, 64, 64}, {64, 32, 96}, {5, 3, 2}, {333, 1024, 10}}));
    profile_three(a_n, b_n, c_n);
}

// One request for each warp that has elements of an array, in every direction; bytes fill a sector with 32, ints with
// 8, doubles with 4. The arrays together need a_n + 4 b_n + 8 c_n bytes, and what lies between them is less than 8
// bytes twice, for an int and a double that begin at multiples of their size. One allocation for the largest sizes, or
// for three arrays of doubles, is larger. 32 doubles are 64 words, which take two wavefronts at best; that is no
// conflict. Where a block of fewer threads goes through the arrays in loops, the compiler unrolls these, and a warp in
// which some threads have one element more than others takes up to 4 requests more for each array.
TEST_CASE("dynamic_reverse_three has all three in one allocation", "[public][counter]") {
    const auto [a_n, b_n, c_n] = GENERATE(table<int, int, int>({{64, 64, 64}, {1001, 77, 515}, {31, 1000, 33}}));
    const auto kernel = profile_three(a_n, b_n, c_n);
    const auto up = [](int n, int part) { return (static_cast<std::uint64_t>(n) + part - 1) / part; };
    const std::uint64_t requests = warps_of(a_n) + warps_of(b_n) + warps_of(c_n);
    const std::uint64_t sectors = up(a_n, 32) + up(b_n, 8) + up(c_n, 4);
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(a_n) + 4 * static_cast<std::uint64_t>(b_n) + 8 * static_cast<std::uint64_t>(c_n);
    CHECK_THAT(static_shared_bytes(kernel), is(0));
    CHECK_THAT(dynamic_shared_bytes(kernel), between(bytes, bytes + 15, "the three arrays, and gaps between them"));
    CHECK_THAT(blocks(kernel), is(1));
    const auto& counters = counted(kernel);
    const char* const why = "one for each warp that has elements of an array";
    constexpr std::uint64_t unrolled = 3 * 4;
    CHECK_THAT(shared_store_requests(counters), between(requests, requests + unrolled, why));
    CHECK_THAT(shared_load_requests(counters), between(requests, requests + unrolled, why));
    CHECK_THAT(bank_conflicts(counters), is(0));
    CHECK_THAT(barriers(counters), is(warps(counters), "one for each warp"));
    CHECK_THAT(global_load_requests(counters), between(requests, requests + unrolled, why));
    CHECK_THAT(sectors_loaded(counters), between(sectors, sectors + unrolled, "every element once"));
    CHECK_THAT(global_store_requests(counters), between(requests, requests + unrolled, why));
    CHECK_THAT(sectors_stored(counters), between(sectors, sectors + unrolled, "every element once"));
}

// The reversal takes ROW_WIDTH / 2 turns, each with two loads and two stores. The words of a warp lie 32 apart: 32
// words in one bank, 31 wavefronts more than one. Copies in and out touch neighbouring words.
TEST_CASE("rows_strided has 31 conflicts with every access", "[public][counter]") {
    const int rows = GENERATE(32, 64, 128);
    const auto kernel = profile_rows<rows_strided>(rows);
    CHECK_THAT(bank_conflicts(kernel),
               is(warps_of(rows) * (ROW_WIDTH / 2) * 4 * 31, "31 with each access of a warp to its rows"));
}

TEST_CASE("rows_padded reverses every row", "[public]") { profile_rows<rows_padded>(GENERATE(32, 64, 128)); }

// Rows are still copied along global memory: a row is 128 bytes, 4 sectors. And every row goes through shared memory,
// with one request of a warp at least.
TEST_CASE("rows_padded has no bank conflicts", "[public][counter]") {
    const int rows = GENERATE(32, 64, 128);
    const auto kernel = profile_rows<rows_padded>(rows);
    const auto& counters = counted(kernel);
    CHECK_THAT(bank_conflicts(counters), is(0));
    CHECK_THAT(shared_store_requests(counters), at_least(rows, "one for each row"));
    CHECK_THAT(shared_load_requests(counters), at_least(rows, "one for each row"));
    CHECK_THAT(sectors_loaded(counters), is(4 * rows, "four for each row"));
    CHECK_THAT(sectors_stored(counters), is(4 * rows, "four for each row"));
}

// Two warps in each: what a single warp does in order needs no barrier to come out right.
TEST_CASE("the checks find no mistakes in static_reverse and dynamic_reverse", "[public][checks]") {
    check_no_mistakes<static_reverse>(64);
    check_no_mistakes<dynamic_reverse>(64);
}

TEST_CASE("the checks find no mistakes in dynamic_reverse_n and dynamic_reverse_symbol", "[public][checks]") {
    check_no_mistakes<dynamic_reverse_n>(64);
    check_no_mistakes<dynamic_reverse_symbol>(64);
}

TEST_CASE("the checks find no mistakes in dynamic_reverse_three", "[public][checks]") {
    const auto before = three_arrays(64, 64, 64);
    const auto run =
        submission().profile<dynamic_reverse_three>(inout(before.a), 64, inout(before.b), 64, inout(before.c), 64);
    CHECK_THAT(run, clean());
    const auto& c = std::get<2>(run.output);
    CHECK_THAT(c, equals_exactly(reversed(before.c)));
}

TEST_CASE("the checks find no mistakes in rows_padded", "[public][checks]") {
    const auto run = check_rows<rows_padded>(64);
    CHECK_THAT(run, clean());
    profile_begun<rows_padded>(inout(distinct_integers(64 * ROW_WIDTH)), 64);  // in the starter as rows_strided
}
