// What the tests of lab project ask: matrices, and the right product of each, by the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "judge/judge.hpp"
#include "project.h"

struct Matrix {
    int rows = 0, width = 0;
    std::vector<int> offsets{0}, columns;
    std::vector<float> values;
    [[nodiscard]] int nonzeros() const { return static_cast<int>(columns.size()); }
};

// A matrix whose rows have these lengths, at most `width`. Columns lie side by side, as those of meshes do, from any
// place on; in a row that is half as long as the matrix is wide, or longer, from the first on.
inline Matrix with_rows(const std::vector<int>& lengths, int width) {
    using namespace warpgrade::judge;
    Matrix A{.rows = static_cast<int>(lengths.size()), .width = width, .offsets = {0}, .columns = {}, .values = {}};
    const auto places = integers<int>(A.rows, 0, (1 << 30) - 1);
    for (std::size_t r = 0; r < lengths.size(); ++r) {
        const int first = 2 * lengths[r] < width ? places[r] % (width - lengths[r]) : 0;
        for (int k = 0; k < lengths[r]; ++k) A.columns.push_back(first + k);
        A.offsets.push_back(A.nonzeros());
    }
    A.values = uniform(A.nonzeros(), 0.25, 1);
    return A;
}

// Rows of equal length.
inline Matrix even(int rows, int length) {
    return with_rows(std::vector<int>(static_cast<std::size_t>(rows), length), std::max(4 * length, rows));
}

// A few long rows have half of the elements, as in networks: one of `longest` elements, two of half of it, and so on;
// the others have 0 to 8. In any order.
inline Matrix skewed(int rows, int longest) {
    using namespace warpgrade::judge;
    auto lengths = integers<int>(rows, 0, 8);
    const auto order = permutation(rows);
    std::size_t at = 0;
    for (int length = longest, many = 1; length >= 64 && many <= 4; length /= 2, many *= 2)
        for (int i = 0; i < many && at < order.size(); ++i) lengths[static_cast<std::size_t>(order[at++])] = length;
    return with_rows(lengths, longest + rows);
}

// The product in double, and how far from it a right one in single precision may be: a sum of `length` products has an
// error of at most dot_bound of them (judge/compare.hpp), in whatever order.
inline warpgrade::judge::Expected product(const Matrix& A, const std::vector<float>& x) {
    warpgrade::judge::Expected y;
    for (std::size_t r = 0; r + 1 < A.offsets.size(); ++r) {
        double sum = 0, magnitude = 0;
        for (auto k = static_cast<std::size_t>(A.offsets[r]); k < static_cast<std::size_t>(A.offsets[r + 1]); ++k) {
            const double part =
                static_cast<double>(A.values[k]) * static_cast<double>(x[static_cast<std::size_t>(A.columns[k])]);
            sum += part, magnitude += std::abs(part);
        }
        y.value.push_back(sum);
        y.bound.push_back(warpgrade::judge::dot_bound(A.offsets[r + 1] - A.offsets[r] + 1, magnitude));
    }
    return y;
}

// What the device did for a right product: an element takes an instruction of a thread at least.
inline auto multiplied(const Matrix& A, const std::vector<float>& x) {
    using namespace warpgrade::judge;
    INFO("rows = " << A.rows << ", width = " << A.width << ", nonzeros = " << A.nonzeros());
    auto run = submission().profile<spmv>(in(A.offsets), in(A.columns), in(A.values), in(x), out<float>(A.rows), A.rows,
                                          A.width, A.nonzeros());
    const auto& y = run.output;
    CHECK_THAT(y, near(product(A, x)));
    CHECK_THAT(launches(run), at_least(1, "the device multiplies"));
    CHECK_THAT(thread_instructions(run), at_least(A.nonzeros(), "the device multiplies"));
    return run;
}

inline auto multiplied(const Matrix& A) { return multiplied(A, warpgrade::judge::uniform(A.width, 0.25, 1)); }

// Whether it is more than the baseline.
inline void check_begun() {
    using namespace warpgrade::judge;
    const auto A = even(300, 40);
    const auto x = uniform(A.width);
    profile_begun<spmv>(in(A.offsets), in(A.columns), in(A.values), in(x), out<float>(A.rows), A.rows, A.width,
                        A.nonzeros());
}
