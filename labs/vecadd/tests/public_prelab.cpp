// Not handed out as source.
// Public tests of lab vecadd's prelab.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "vecadd.h"

using namespace warpgrade::judge;

// Answered by host code.
[[maybe_unused]] const bool answered_by_host =
    computed_on_host<&operations_per_access, &gflops, &bytes_with_copies, &bytes_mapped, &streams_time>();

TEST_CASE("prelab: exercise 13, operations for each access", "[public]") {
    ask<operations_per_access>(16.0, {{0.0625, "operations over accesses, not the other way round"}}, 32.0, 2.0);
    ask<gflops>(50.0,
                {{200, "each access is of four bytes: 200 GB/s are 50 · 10^9 accesses a second"},
                 {800, "a float has four bytes: divide, do not multiply"}},
                200.0, 1.0);
    ask<gflops>(800.0, {{3200, "each access is of four bytes"}}, 200.0, 16.0);
}

TEST_CASE("prelab: bytes that cross the link", "[public][counter]") {
    ask_bytes(8192, 1);
    ask_bytes(8192, 10);
}

TEST_CASE("prelab: time with one stream and with four", "[public][counter]") {
    const int n = 1 << 20;
    ask_time(n, 1);
    ask_time(n, 4);
}
