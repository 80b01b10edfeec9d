// Not handed out as source.
// Public tests of lab matmul's prelab: each question with numbers of the task sheet, and what a wrong answer may come
// from; then with numbers that nobody knows before, so that a formula is asked for.
#include "judge/judge.hpp"
#include "matmul.h"
#include "questions.hpp"

using namespace warpgrade::judge;

// Answered by host code.
[[maybe_unused]] const bool answered_by_host =
    computed_on_host<&naive_loads, &tiled_loads, &loads_per_operation, &columns_sectors, &tiled_sectors,
                     &tiled_barriers, &tile_wavefronts, &error_bound, &attainable_gflops>();

TEST_CASE("prelab: loads of a matrix product", "[public]") {
    ask<naive_loads>(524288, {{262144, "each multiplication has two operands"}}, 64, 64, 64);
    ask<tiled_loads>(32768,
                     {{16384, "each multiplication has two operands"},
                      {2048, "an element serves the threads of one row or column of the tile, 16, not all 256"},
                      {8192,
                       "that is how often each matrix is read in all its elements once: each is read once for each row "
                       "or column of tiles"}},
                     64, 64, 64, 16);
    ask<loads_per_operation>(0.25,
                             {{16, "16 loads serve 64 operations"},
                              {4, "loads over operations, not the other way round"},
                              {2, "without any reuse: each value is loaded once and used eight times"},
                              {0, "whole numbers were divided: convert one of them to double first"}},
                             8, 8);
    const int m = 16 * any_int(2, 9), k = 16 * any_int(2, 9), n = 16 * any_int(2, 9);
    ask<naive_loads>(2LL * m * k * n, {}, m, k, n);
    ask<tiled_loads>(2LL * m * k * n / 16, {}, m, k, n, 16);
}

TEST_CASE("prelab: sectors and barriers of 64 × 64 matrices", "[public][counter]") { ask_predictions({{64, 64, 64}}); }

// Tiles of 16 × 16, without padding and with one more column.
TEST_CASE("prelab: wavefronts of a tile", "[public]") {
    ask<tile_wavefronts>(1, {{2, "two rows of 16 words are 32 words in 32 banks"}}, 1, 16);
    ask<tile_wavefronts>(1,
                         {{16, "16 threads take one word, and 16 another: a word is broadcast"},
                          {2, "two words, in two banks: one wavefront brings both"}},
                         0, 16);
    ask<tile_wavefronts>(8,
                         {{16, "16 words, 16 apart, lie in two banks, not in one"},
                          {1, "words that are 32 apart lie in the same bank"},
                          {32, "threads with the same x take the same word here, and wait for it once"}},
                         16, 0);
    ask<tile_wavefronts>(1, {{8, "17 apart, neighbouring threads are one bank further each"}}, 17, 0);
    const int stride = 2 * any_int(2, 15);
    ask<tile_wavefronts>(counted_wavefronts(stride, 0), {}, stride, 0);
}

TEST_CASE("prelab: a bound of the rounding error", "[public]") {
    ask_error_bound({1.0f, 1.0f}, {1.0f, -1.0f});
    ask_error_bound(uniform(64), uniform(64));
}

TEST_CASE("prelab: what memory allows", "[public]") {
    ask<attainable_gflops>(750,
                           {{3000, "a float has four bytes"},
                            {12000, "a float has four bytes: divide, do not multiply"},
                            {66900, "the units could, but they wait for memory"}},
                           1.0, 3000.0, 66900.0);
    ask<attainable_gflops>(66900, {{96000, "memory would do for more, but not the units"}}, 128.0, 3000.0, 66900.0);
    const double bandwidth = 4 * any_int(100, 900);
    ask<attainable_gflops>(bandwidth * 2, {}, 8.0, bandwidth, 60000.0);
}
