// Not handed out as source.
// How the prelab of lab matmul asks for predictions and bounds; judge/questions.hpp asks all else.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "expectations.hpp"
#include "judge/questions.hpp"
#include "matmul.h"

// What matmul_columns and matmul_tiled will take, beside what the submission's own take (0 if they do nothing, which is
// no answer). All sizes are multiples of TILE_WIDTH. How many sectors a warp touches is in public.cpp; it waits twice
// for each pair of tiles.
inline void ask_predictions(std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    using namespace warpgrade::judge;
    INFO("m = " << m << ", k = " << k << ", n = " << n);
    const int rows = static_cast<int>(m), depth = static_cast<int>(k), columns = static_cast<int>(n);
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto plain = submission().profile<matmul_columns>(in(A), in(B), out<float>(m * n), rows, depth, columns);
    const auto tiled = submission().profile<matmul_tiled>(in(A), in(B), out<float>(m * n), rows, depth, columns);
    const auto terms = m * n * k / 32;  // of warps
    const auto of_columns = submission().call<columns_sectors>(rows, depth, columns);
    CHECK(of_columns > 0);
    CHECK_THAT(of_columns, predicts(sectors_loaded(plain), 4 * terms));
    const auto of_tiles = submission().call<tiled_sectors>(rows, depth, columns);
    CHECK(of_tiles > 0);
    CHECK_THAT(of_tiles, predicts(sectors_loaded(tiled), 8 * terms / TILE_WIDTH));
    const auto waits = submission().call<tiled_barriers>(rows, depth, columns);
    CHECK(waits > 0);
    CHECK_THAT(waits, predicts(barriers(tiled), 2 * terms / TILE_WIDTH));
}

// By derivation (judge/compare.hpp, dot_bound) k · 2^-24 · Σ |a·b| can nearly be reached, whatever the order; so no
// bound that always holds is lower, and 16 times as much is what the contract allows.
inline void ask_error_bound(const std::vector<float>& a, const std::vector<float>& b) {
    using namespace warpgrade::judge;
    const double answer = submission().call<error_bound>(in(a), in(b), static_cast<int>(a.size()));
    double magnitude = 0, sum = 0;
    for (std::size_t q = 0; q < a.size(); ++q) {
        magnitude += std::abs(1.0 * a[q] * b[q]);
        sum += 1.0 * a[q] * b[q];
    }
    const double unit = static_cast<double>(a.size()) * 0x1p-24;
    if (answer < unit * magnitude && answer >= unit * std::abs(sum) && answer <= 16 * unit * std::abs(sum))
        UNSCOPED_INFO("relative to the sum: but terms of either sign cancel, and their rounding errors do not");
    if (answer > 0 && answer < unit * magnitude && is_right(answer * a.size(), 2 * unit * magnitude))
        UNSCOPED_INFO("one rounding: there are k of them, and each can be of the size of the whole sum");
    CHECK_THAT(measure("your answer, as a multiple of what can happen", answer / (unit * magnitude)),
               between(0.99, 16, "see matmul.h"));
}
