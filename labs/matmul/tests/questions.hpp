// Not handed out as source.
// How the prelab of lab matmul asks for predictions and bounds; judge/questions.hpp asks all else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "expectations.hpp"
#include "judge/questions.hpp"
#include "matmul.h"

// What matmul_columns and matmul_tiled will take, beside what the submission's own take. All sizes are multiples of
// TILE_WIDTH. How many sectors a warp touches is in public.cpp; it waits twice for each pair of tiles. The starter's
// kernel takes more than four times the sectors: other versions of these two, less than twice.
struct Predicted {
    std::uint64_t m, k, n;
    long long of_columns = 0, of_tiles = 0, waits = 0;
};

inline void compare_with_kernels(const Predicted& predicted) {
    using namespace warpgrade::judge;
    const auto [m, k, n, of_columns, of_tiles, waits] = predicted;
    INFO("m = " << m << ", k = " << k << ", n = " << n);
    const int rows = static_cast<int>(m), depth = static_cast<int>(k), columns = static_cast<int>(n);
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto product = near(oracle::matmul(A, B, rows, depth, columns));
    const auto plain = own_run<matmul_columns>(product, in(A), in(B), out<float>(m * n), rows, depth, columns);
    const auto tiled = own_run<matmul_tiled>(product, in(A), in(B), out<float>(m * n), rows, depth, columns);
    const auto terms = static_cast<double>(m * n * k) / 32;  // of warps
    const double in_order = 4 * terms, in_tiles = 8 * terms / TILE_WIDTH, at_barriers = 2 * terms / TILE_WIDTH;
    const char* const two = "16 neighbours are 64 bytes: two sectors";
    check_prediction(of_columns, unless_above(2 * in_order, sectors_loaded(plain)), in_order,
                     {{3 * terms, two},
                      {2 * terms, "a warp needs elements of A and of B"},
                      {17 * terms, "that is matmul_rows: here the 16 values of threadIdx.x lie in one row"}});
    check_prediction(
        of_tiles, unless_above(2 * in_tiles, sectors_loaded(tiled)), in_tiles,
        {{in_tiles / 2, two}, {in_tiles * TILE_WIDTH, "that is for each term, not for each pair of tiles"}});
    check_prediction(waits, barriers(tiled), at_barriers,
                     {{at_barriers / 2, "a warp waits twice for each pair of tiles"},
                      {at_barriers / 8, "a block has 8 warps, and each of them counts"},
                      {32 * at_barriers, "warps are counted, not threads"}});
}

inline void ask_predictions(std::vector<Predicted> all) {
    using namespace warpgrade::judge;
    for (Predicted& one : all) {
        const int m = static_cast<int>(one.m), k = static_cast<int>(one.k), n = static_cast<int>(one.n);
        INFO("m = " << m << ", k = " << k << ", n = " << n);
        one.of_columns = submission().call<columns_sectors>(m, k, n);
        one.of_tiles = submission().call<tiled_sectors>(m, k, n);
        one.waits = submission().call<tiled_barriers>(m, k, n);
    }
    for (const Predicted& one : all) compare_with_kernels(one);
}

// Thread (x, y) of a warp of a 16 × 16 block takes the word x · x_stride + y · y_stride.
inline int counted_wavefronts(int x_stride, int y_stride) {
    std::vector<std::set<int>> words(32);
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 16; ++x) {
            const int word = x * x_stride + y * y_stride;
            words[word % 32].insert(word);
        }
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return static_cast<int>(most);
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
