// Public tests of lab debug: each function at one or two sizes. Right results count where the checks find nothing.
#include "expectations.hpp"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

TEST_CASE("1 brighten: no findings, right result", "[public][checks]") { check_brighten(3000, 60); }

TEST_CASE("2 axpy: no findings, right result", "[public][checks]") { check_axpy(3000, 3); }

TEST_CASE("3 look_up: no findings, right result", "[public][checks]") { check_look_up(200, 3000); }

TEST_CASE("4 add_to_rows: no findings, right result", "[public][checks]") { check_add_to_rows(12, 1500); }

TEST_CASE("5 differences: no findings, right result", "[public][checks]") { check_differences(40, 70); }

TEST_CASE("6 histogram: no findings, right result", "[public][checks]") {
    check_histogram(integers<unsigned char>(3000, 0, 255));
}

TEST_CASE("7 block_maxima: no findings, right result", "[public][checks]") {
    check_block_maxima(integers<float>(3000, 1, 1'000'000));
}

TEST_CASE("8 closest: no findings, right result", "[public][checks]") { check_closest(1500, 600); }

TEST_CASE("9 running_sums: no findings, right result", "[public][checks]") {
    check_running_sums(integers<int>(3000, -1000, 1000));
}

TEST_CASE("10 powers: no findings, right result", "[public][checks]") { check_powers(100'000); }
