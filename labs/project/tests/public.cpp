// Public tests of lab project: right products, and what the baseline wastes: loads and balance.
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "project.h"

using namespace warpgrade::judge;

namespace {

void compare_speed(const Matrix& A) {
    const auto x = uniform(A.width, 0.25, 1);
    const auto compared = compare_with_starter<spmv>(in(A.offsets), in(A.columns), in(A.values), in(x),
                                                     out<float>(A.rows), A.rows, A.width, A.nonzeros());
    INFO("the speed counts once the product is right");
    const auto& y = compared.submission.output;
    REQUIRE_THAT(y, near(product(A, x)));
    CHECK_THAT(thread_instructions(compared.submission), at_least(A.nonzeros(), "the device multiplies"));
    report_kernel_speedup(compared);
}

}  // namespace

TEST_CASE("even rows are multiplied", "[public]") {
    const int length = GENERATE(1, 7, 32, 100);
    multiplied(even(500, length));
    check_begun();
}

TEST_CASE("skewed rows are multiplied", "[public]") {
    const int longest = GENERATE(64, 3000);
    multiplied(skewed(700, longest));
    check_begun();
}

// Rows of 64 elements: a value and a column are 8 bytes, 4 elements a sector, and columns lie side by side, 8 of x a
// sector; that is 3 sectors for 8 elements. Half as many again leave room for pieces that begin within a sector, for
// offsets, and for sums that go through memory. With one thread a row nothing is side by side: 3 sectors an element.
TEST_CASE("neighbouring lanes load neighbouring elements", "[public][counter]") {
    const auto A = even(1024, 64);
    const auto run = multiplied(A);
    const double n = A.nonzeros();
    CHECK_THAT(sectors_loaded(run),
               at_most(n * 3 / 8 * 1.5, "3 for 8 elements, and half as many again").none_at(2 * n));
    CHECK_THAT(sectors_loaded(run), at_least(n / 8, "each value is loaded"));
    check_begun();
}

// The longest row has nearly a third of all elements. Whoever gives it to one block, or to one warp of it, lets that
// block do a quarter of the work or more. A tenth leaves room for equal shares of elements that fall on short rows
// only: each row costs something of its own.
TEST_CASE("no block has much more work than the others", "[public][counter]") {
    const auto run = multiplied(skewed(512, 65536));
    CHECK_THAT(part_of_busiest_block(run), at_most(0.1, "a long row is shared out").none_at(0.2));
    check_begun();
}

TEST_CASE("the checks find no mistakes", "[public][checks]") {
    const bool is_even = GENERATE(true, false);
    const auto A = is_even ? even(333, 33) : skewed(555, 1000);
    const auto x = uniform(A.width, 0.25, 1);
    const auto run = submission().profile<spmv>(in(A.offsets), in(A.columns), in(A.values), in(x), out<float>(A.rows),
                                                A.rows, A.width, A.nonzeros());
    CHECK_THAT(run, clean());
    const auto& y = run.output;
    CHECK_THAT(y, near(product(A, x)));
    CHECK_THAT(launches(run), at_least(1));
    check_begun();
}

TEST_CASE("speed on even rows", "[public][speed]") { compare_speed(even(size_to_time(4096, 1 << 17), 48)); }

TEST_CASE("speed on skewed rows", "[public][speed]") {
    compare_speed(skewed(size_to_time(8192, 1 << 17), size_to_time(32768, 1 << 19)));
}
