// Hidden tests of lab project: other shapes, empty rows, what is no number.
#include <limits>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "project.h"

using namespace warpgrade::judge;

TEST_CASE("other shapes", "[hidden][checks]") {
    check_begun();
    for (const int rows : {1, 2, 31, 33, 255, 257, 1025}) {
        for (const int length : {1, 5, 31, 33, 129}) multiplied(even(rows, length));
        multiplied(skewed(rows, 2048));
    }
    multiplied(even(1, 20000));
    multiplied(even(20000, 1));
}

TEST_CASE("rows without elements", "[hidden][checks]") {
    check_begun();
    std::vector<int> lengths(3000);
    for (std::size_t r = 0; r < lengths.size(); r += 17) lengths[r] = 1 + static_cast<int>(r % 40);
    multiplied(with_rows(lengths, 500));
    lengths.assign(2500, 0);
    lengths.back() = 300;
    multiplied(with_rows(lengths, 400));
    lengths.back() = 0;
    lengths.front() = 1500;
    multiplied(with_rows(lengths, 1600));
    // No element at all, and no rows.
    const auto A = with_rows(std::vector<int>(40), 9);
    const auto x = uniform(9);
    const auto y = submission().call<spmv>(in(A.offsets), in(A.columns), in(A.values), in(x), out<float>(40), 40, 9, 0);
    CHECK_THAT(y, equals_exactly(std::vector<float>(40)));
    const auto before = uniform(40);
    const auto run =
        submission().profile<spmv>(in(A.offsets), in(A.columns), in(A.values), in(x), inout(before), 0, 9, 0);
    const auto& untouched = run.output;
    CHECK_THAT(untouched, equals_exactly(before));
    CHECK_THAT(launches(run), is(0));
}

// An infinity and a NaN in x reach the rows with their columns; a sum of both signs of infinity is no number.
TEST_CASE("NaN and infinity reach their rows", "[hidden]") {
    check_begun();
    const auto A = skewed(600, 1500);
    auto x = uniform(A.width, 0.25, 1);
    const float infinity = std::numeric_limits<float>::infinity();
    x[static_cast<std::size_t>(A.width / 3)] = infinity;
    multiplied(A, x);
    x[static_cast<std::size_t>(A.width / 3 + 2)] = -infinity;
    multiplied(A, x);
    x[static_cast<std::size_t>(A.width / 2)] = std::numeric_limits<float>::quiet_NaN();
    multiplied(A, x);
}
