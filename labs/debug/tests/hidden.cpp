// Hidden tests of lab debug: other sizes and other numbers, where half a fix gives wrong results or leaves a finding.
#include "expectations.hpp"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

TEST_CASE("1 brighten: other sizes", "[hidden][checks]") {
    for (const int n : {1, 255, 256, 257, 4097}) check_brighten(n, 200);
}

TEST_CASE("2 axpy: other sizes", "[hidden][checks]") {
    for (const int n : {1, 256, 1025}) check_axpy(n, -2);
    check_axpy(300, 0);
}

TEST_CASE("3 look_up: other sizes", "[hidden][checks]") {
    check_look_up(1, 100);
    check_look_up(257, 1025);
    check_look_up(4096, 2000);
}

TEST_CASE("4 add_to_rows: other sizes", "[hidden][checks]") {
    check_add_to_rows(1, 1);
    check_add_to_rows(100, 33);
    check_add_to_rows(3, 1025);
    check_add_to_rows(2, 10'000);
}

TEST_CASE("5 differences: other sizes", "[hidden][checks]") {
    check_differences(1, 1);
    check_differences(50, 1);
    check_differences(9, 33);
    check_differences(3, 1000);
}

TEST_CASE("6 histogram: other sizes", "[hidden][checks]") {
    check_histogram(integers<unsigned char>(1, 0, 255));
    check_histogram(integers<unsigned char>(5000, 250, 255));
    check_histogram(std::vector<unsigned char>(2049, 7));
}

TEST_CASE("7 block_maxima: other sizes and numbers", "[hidden][checks]") {
    check_block_maxima(integers<float>(1, -1'000'000, -1));
    check_block_maxima(integers<float>(700, -1'000'000, -1));
    check_block_maxima(integers<float>(1025, -1'000'000, 1'000'000));
    check_block_maxima(std::vector<float>(300, std::numeric_limits<float>::lowest()));
}

TEST_CASE("8 closest: other sizes", "[hidden][checks]") {
    check_closest(1, 1);
    check_closest(300, 257);
    check_closest(257, 1024);
}

TEST_CASE("9 running_sums: other sizes", "[hidden][checks]") {
    for (const int n : {1, 255, 257, 1500}) check_running_sums(integers<int>(n, 1, 1'000'000));
}

TEST_CASE("10 powers: other sizes", "[hidden][checks]") {
    for (const int n : {2, 3, 511, 100'001}) check_powers(n);
}
