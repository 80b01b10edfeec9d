// Hidden tests of lab matmul: other shapes, exact and awkward numbers, and the stretch goal.
#include <cmath>
#include <limits>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "matmul.h"

using namespace warpgrade::judge;

namespace {

std::size_t at(int row, int column, int columns) { return static_cast<std::size_t>(row) * columns + column; }

}  // namespace

TEST_CASE("multiplies long and flat matrices", "[hidden]") {
    const auto [m, k, n] =
        GENERATE(table<int, int, int>({{16, 16, 16}, {16, 256, 16}, {208, 16, 16}, {16, 32, 240}, {144, 48, 176}}));
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto C = product_on_device(A, B, m, k, n);
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
}

// Whole numbers whose partial sums all stay within 64 · 4095 · 63 = 16,511,040 < 2^24: single precision holds each of
// them, so that every order of the additions gives the same, exact result. 4095 has 12 bits; half precision and TF32
// hold 11. Once A holds the large numbers, once B.
TEST_CASE("whole numbers come out exactly", "[hidden]") {
    const auto [a_limit, b_limit] = GENERATE(table<int, int>({{4095, 63}, {63, 4095}}));
    const int m = 48, k = 64, n = 80;
    const auto A = integers<float>(m * k, -a_limit, a_limit), B = integers<float>(k * n, -b_limit, b_limit);
    const auto C = product_on_device(A, B, m, k, n);
    const auto exact = oracle::matmul(A, B, m, k, n);
    CHECK_THAT(C, equals_exactly(std::vector<float>(exact.value.begin(), exact.value.end())).shape(m, n));
}

// Column q of A is scaled by 2^e and row q of B by 2^-e, with e from -40 to 40. That changes no product, and so neither
// the result nor its bound; but a number format with a narrower range than float's loses terms or overflows.
TEST_CASE("badly scaled values keep their precision", "[hidden]") {
    const int m = 32, k = 48, n = 64;
    auto A = uniform(m * k), B = uniform(k * n);
    const auto exponents = integers<int>(k, -40, 40);
    for (int q = 0; q < k; ++q) {
        for (int i = 0; i < m; ++i) A[at(i, q, k)] = std::ldexp(A[at(i, q, k)], exponents[q]);
        for (int j = 0; j < n; ++j) B[at(q, j, n)] = std::ldexp(B[at(q, j, n)], -exponents[q]);
    }
    const auto C = product_on_device(A, B, m, k, n);
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
}

// One NaN in A makes its row of C NaN, one infinity in B makes its column of C infinite (A is positive here); all else
// is as ever. Elements that meet no special value must not be reached by one: 0 · NaN is no harmless padding.
TEST_CASE("NaN and infinity stay in their row and column", "[hidden]") {
    const int m = 48, k = 32, n = 64;
    auto A = uniform(m * k, 0.5, 1.0), B = uniform(k * n);
    const int nan_row = integers<int>(1, 0, m - 1)[0], infinite_column = integers<int>(1, 0, n - 1)[0];
    const auto finite = oracle::matmul(A, B, m, k, n);
    A[at(nan_row, integers<int>(1, 0, k - 1)[0], k)] = std::numeric_limits<float>::quiet_NaN();
    B[at(integers<int>(1, 0, k - 1)[0], infinite_column, n)] = std::numeric_limits<float>::infinity();

    auto C = product_on_device(A, B, m, k, n);
    // What each element is: 0 finite, 1 infinite, 2 NaN.
    std::vector<int> kind(C.size()), expected_kind(C.size(), 0);
    for (int i = 0; i < m; ++i) expected_kind[at(i, infinite_column, n)] = 1;
    for (int j = 0; j < n; ++j) expected_kind[at(nan_row, j, n)] = 2;
    for (std::size_t e = 0; e < C.size(); ++e) kind[e] = std::isnan(C[e]) ? 2 : std::isinf(C[e]) ? 1 : 0;
    CHECK_THAT(kind, equals_exactly(expected_kind).shape(m, n));

    for (std::size_t e = 0; e < C.size(); ++e) {
        if (expected_kind[e] != 0) C[e] = static_cast<float>(finite.value[e]);
    }
    CHECK_THAT(C, near(finite).shape(m, n));
}

TEST_CASE("empty sums are zero and empty matrices launch nothing", "[hidden]") {
    SECTION("k = 0") {
        const int m = 32, n = 16;
        const std::vector<float> nothing;
        const auto C = submission().call<matmul>(in(nothing), in(nothing), out<float>(m * n), m, 0, n);
        CHECK_THAT(C, equals_exactly(std::vector<float>(m * n, 0.0f)).shape(m, n));
    }
    SECTION("m = 0 or n = 0") {
        const auto [m, n] = GENERATE(table<int, int>({{0, 16}, {16, 0}, {0, 0}}));
        const int k = 16;
        const auto A = uniform(m * k), B = uniform(k * n);
        const auto run = submission().profile<matmul>(in(A), in(B), out<float>(0), m, k, n);
        CHECK(run.launches.size() == 0);
    }
    SECTION("and the smallest that is not empty is multiplied") {
        const int n = TILE_WIDTH;
        const auto A = uniform(n * n), B = uniform(n * n);
        CHECK_THAT(product_on_device(A, B, n, n, n), near(oracle::matmul(A, B, n, n, n)).shape(n, n));
    }
}

TEST_CASE("stretch: sizes that are not multiples of the tile", "[hidden][stretch]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{1, 1, 1},
                                                          {1, 17, 33},
                                                          {15, 15, 15},
                                                          {17, 1, 16},
                                                          {31, 33, 1},
                                                          {33, 31, 17},
                                                          {16, 47, 32},
                                                          {65, 79, 63},
                                                          {100, 7, 129}}));
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto C = product_on_device(A, B, m, k, n);
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
}
