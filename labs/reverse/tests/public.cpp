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
    CHECK(kernel.static_shared_bytes >= STATIC_CAPACITY * sizeof(int));
    CHECK(kernel.config.dynamic_shared_bytes == 0);
    check_size_loads(kernel, n, 0, 0);
    check_shared_traffic(kernel, n);
}

TEST_CASE("dynamic_reverse works in dynamic shared memory", "[public][counter]") {
    const int n = GENERATE(64, 1001);
    const auto kernel = profile_reversal<dynamic_reverse>(n);
    CHECK(kernel.static_shared_bytes == 0);
    CHECK(kernel.config.dynamic_shared_bytes == n * sizeof(int));
    CHECK(kernel.config.block.count() == static_cast<std::uint64_t>(n));
    check_size_loads(kernel, n, 0, 0);
    check_shared_traffic(kernel, n);
}

TEST_CASE("dynamic_reverse_n has whole warps and gets the size by argument", "[public][counter]") {
    const int n = GENERATE(64, 1001);
    const auto kernel = profile_reversal<dynamic_reverse_n>(n);
    CHECK(kernel.static_shared_bytes == 0);
    CHECK(kernel.config.dynamic_shared_bytes == n * sizeof(int));
    CHECK(kernel.config.block.count() == warps_of(n) * 32);
    check_size_loads(kernel, n, 0, 0);  // an argument is no load from global memory
    check_shared_traffic(kernel, n);
}

// The compiler may load the variable again after the barrier, since another thread could have changed it meanwhile; who
// writes it out in both conditions and in the index gets up to three loads a warp.
TEST_CASE("dynamic_reverse_symbol has whole warps and loads the size", "[public][counter]") {
    const int n = GENERATE(64, 1001);
    const auto kernel = profile_reversal<dynamic_reverse_symbol>(n);
    CHECK(kernel.static_shared_bytes == 0);
    CHECK(kernel.config.dynamic_shared_bytes == n * sizeof(int));
    CHECK(kernel.config.block.count() == warps_of(n) * 32);
    check_size_loads(kernel, n, 1, 3);
    check_shared_traffic(kernel, n);
}
