// Hidden tests of lab matmul: other shapes, exact and awkward numbers, sizes that are no multiples of anything.
#include <cmath>
#include <limits>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "matmul.h"

using namespace warpgrade::judge;

namespace {

std::size_t at(int row, int column, int columns) { return static_cast<std::size_t>(row) * columns + column; }

// A version's product, which must be the device's work.
template <auto version>
std::vector<float> product_on_device(const std::vector<float>& A, const std::vector<float>& B, int m, int k, int n) {
    const auto run = submission().profile<version>(in(A), in(B), out<float>(m * n), m, k, n);
    check_device_work(run, m, k, n);
    return run.output;
}

// Whole numbers whose partial sums all stay within 32 · 8191 · 63 = 16,513,056 < 2^24: single precision holds each of
// them, so that every order of the additions gives the same, exact result. 8191 has 13 bits; half precision and TF32
// hold 11. Once A holds the large numbers, once B. All sizes are within the limit of matmul_one_block.
template <auto version>
void check_whole_numbers() {
    for (const auto& [a_limit, b_limit] : {std::pair{8191, 63}, {63, 8191}}) {
        const int m = 16, k = 32, n = 32;
        const auto A = integers<float>(m * k, -a_limit, a_limit), B = integers<float>(k * n, -b_limit, b_limit);
        const auto C = product_on_device<version>(A, B, m, k, n);
        const auto exact = oracle::matmul(A, B, m, k, n);
        CHECK_THAT(C, equals_exactly(std::vector<float>(exact.value.begin(), exact.value.end())).shape(m, n));
    }
}

// Column q of A is scaled by 2^e and row q of B by 2^-e, with e from -40 to 40. That changes no product, and so neither
// the result nor its bound; but a number format with a narrower range than float's loses terms or overflows.
template <auto version>
void check_badly_scaled() {
    const int m = 32, k = 32, n = 16;
    auto A = uniform(m * k), B = uniform(k * n);
    const auto exponents = integers<int>(k, -40, 40);
    for (int q = 0; q < k; ++q) {
        for (int i = 0; i < m; ++i) A[at(i, q, k)] = std::ldexp(A[at(i, q, k)], exponents[q]);
        for (int j = 0; j < n; ++j) B[at(q, j, n)] = std::ldexp(B[at(q, j, n)], -exponents[q]);
    }
    const auto C = product_on_device<version>(A, B, m, k, n);
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
}

// One NaN in A makes its row of C NaN, one infinity in B makes its column of C infinite (A is positive here); all else
// is as ever. Elements that meet no special value must not be reached by one: 0 · NaN is no harmless padding.
template <auto version>
void check_special_values() {
    const int m = 32, k = 32, n = 16;
    auto A = uniform(m * k, 0.5, 1.0), B = uniform(k * n);
    const int nan_row = integers<int>(1, 0, m - 1)[0], infinite_column = integers<int>(1, 0, n - 1)[0];
    const auto finite = oracle::matmul(A, B, m, k, n);
    A[at(nan_row, integers<int>(1, 0, k - 1)[0], k)] = std::numeric_limits<float>::quiet_NaN();
    B[at(integers<int>(1, 0, k - 1)[0], infinite_column, n)] = std::numeric_limits<float>::infinity();

    auto C = product_on_device<version>(A, B, m, k, n);
    // What each element is: 0 finite, 1 infinite, 2 NaN.
    std::vector<int> kind(C.size()), expected_kind(C.size(), 0);
    for (int i = 0; i < m; ++i) expected_kind[at(i, infinite_column, n)] = 1;
    for (int j = 0; j < n; ++j) expected_kind[at(nan_row, j, n)] = 2;
    for (std::size_t e = 0; e < C.size(); ++e) kind[e] = std::isnan(C[e]) ? 2 : std::isinf(C[e]) ? 1 : 0;
    {
        INFO("0 stands for a finite element of C, 1 for an infinite one, 2 for NaN");
        CHECK_THAT(kind, equals_exactly(expected_kind).shape(m, n));
    }

    for (std::size_t e = 0; e < C.size(); ++e) {
        if (expected_kind[e] != 0) C[e] = static_cast<float>(finite.value[e]);
    }
    CHECK_THAT(C, near(finite).shape(m, n));
}

template <auto version>
void check_empty() {
    const int m = 32, n = 16;
    const std::vector<float> nothing;
    const auto C = submission().call<version>(in(nothing), in(nothing), out<float>(m * n), m, 0, n);
    CHECK_THAT(C, equals_exactly(std::vector<float>(m * n, 0.0f)).shape(m, n));

    const int k = 16;
    for (const auto& [rows, columns] : {std::pair{0, 16}, {16, 0}, {0, 0}}) {
        const auto A = uniform(rows * k), B = uniform(k * columns);
        const auto run = submission().profile<version>(in(A), in(B), out<float>(0), rows, k, columns);
        CHECK_THAT(launches(run), is(0));
    }
    // And the smallest that is not empty is multiplied.
    check_product<version>(TILE_WIDTH, TILE_WIDTH, TILE_WIDTH);
}

// No more loads than with tiles of TILE_WIDTH: 2·m·n·k / TILE_WIDTH for all threads, sizes rounded up to whole tiles.
// A request loads at least half a row of a tile (tiles may be 8 deep), TILE_WIDTH / 2 elements, so that there are at
// most 4·m·n·k / TILE_WIDTH² of them. Without tiles the larger sizes take nearly four times as many.
template <auto version>
void check_with_tiles(int m, int k, int n) {
    INFO("m = " << m << ", k = " << k << ", n = " << n);
    const auto counters = profile_product<version>(m, k, n).total();
    const auto rounded = [](int size) {
        return (static_cast<std::uint64_t>(size) + TILE_WIDTH - 1) / TILE_WIDTH * TILE_WIDTH;
    };
    const auto most = 4 * rounded(m) * rounded(k) * rounded(n) / TILE_WIDTH / TILE_WIDTH;
    CHECK_THAT(global_load_requests(counters), at_most(most, "as with whole tiles"));
}

}  // namespace

TEST_CASE("every version multiplies long and flat matrices", "[hidden]") {
    const auto [m, k, n] =
        GENERATE(table<int, int, int>({{16, 256, 16}, {208, 16, 16}, {16, 32, 240}, {144, 48, 176}}));
    check_product<matmul_rows>(m, k, n);
    check_product<matmul_columns>(m, k, n);
    check_product<matmul_tiled>(m, k, n);
    check_product<matmul_registers>(m, k, n);
}

TEST_CASE("whole numbers come out exactly", "[hidden]") {
    check_whole_numbers<matmul_columns>();
    check_whole_numbers<matmul_one_block>();
    check_whole_numbers<matmul_tiled>();
    check_whole_numbers<matmul_registers>();
}

TEST_CASE("badly scaled values keep their precision", "[hidden]") {
    check_badly_scaled<matmul_columns>();
    check_badly_scaled<matmul_one_block>();
    check_badly_scaled<matmul_tiled>();
    check_badly_scaled<matmul_registers>();
}

TEST_CASE("NaN and infinity stay in their row and column", "[hidden]") {
    check_special_values<matmul_columns>();
    check_special_values<matmul_one_block>();
    check_special_values<matmul_tiled>();
    check_special_values<matmul_registers>();
}

TEST_CASE("empty sums are zero and empty matrices launch nothing", "[hidden]") {
    check_empty<matmul_rows>();
    check_empty<matmul_columns>();
    check_empty<matmul_one_block>();
    check_empty<matmul_tiled>();
    check_empty<matmul_registers>();
}

TEST_CASE("matmul_columns takes every size", "[hidden][checks]") {
    const auto [m, k, n] =
        GENERATE(table<int, int, int>({{1, 1, 1}, {1, 17, 33}, {31, 33, 1}, {17, 1, 16}, {65, 7, 63}}));
    check_product<matmul_columns>(m, k, n);
}

// Sizes within the limit, each of them larger and smaller than the others; then beyond it.
TEST_CASE("matmul_one_block takes every size up to its limit, and none beyond", "[hidden][checks]") {
    for (const auto& [m, k, n] : {std::tuple{1, 1, 1}, {1, 32, 1}, {31, 1, 32}, {32, 31, 17}, {7, 32, 5}, {5, 3, 29}})
        check_product<matmul_one_block>(m, k, n);
    for (const auto& [m, k, n] : {std::tuple{33, 16, 16}, {16, 33, 16}, {16, 16, 33}, {64, 64, 64}}) {
        INFO("m = " << m << ", k = " << k << ", n = " << n);
        const auto A = uniform(m * k), B = uniform(k * n), before = uniform(m * n);
        const auto run = submission().profile<matmul_one_block>(in(A), in(B), inout(before), m, k, n);
        const auto& C = run.output;
        CHECK_THAT(launches(run), is(0));
        CHECK_THAT(C, equals_exactly(before).shape(m, n));
    }
}

TEST_CASE("stretch: matmul_tiled takes sizes that are not multiples of the tile", "[hidden][checks][stretch]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{1, 1, 1},
                                                          {1, 17, 33},
                                                          {15, 15, 15},
                                                          {17, 1, 16},
                                                          {31, 33, 1},
                                                          {33, 31, 17},
                                                          {16, 47, 32},
                                                          {65, 79, 63},
                                                          {100, 7, 129}}));
    check_with_tiles<matmul_tiled>(m, k, n);
}

TEST_CASE("stretch: matmul_registers takes sizes that are not multiples of the tile", "[hidden][checks][stretch]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>(
        {{1, 1, 1}, {1, 17, 33}, {17, 1, 16}, {63, 15, 65}, {65, 79, 63}, {100, 7, 129}, {130, 33, 66}}));
    check_with_tiles<matmul_registers>(m, k, n);
}
