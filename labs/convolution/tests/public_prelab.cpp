// Not handed out as source.
// Public tests of lab convolution's prelab: each question at one size, and what a wrong answer may come from;
// then at another that nobody knows before.
#include <vector>

#include "convolution.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

[[maybe_unused]] const bool by_host =
    computed_on_host<&constant_bytes, &largest_constant_table, &convolve, &naive_requests, &constant_requests,
                     &tiled_requests, &cached_requests, &loads_per_product>();

TEST_CASE("prelab: exercise 11, tables in constant memory", "[public]") {
    ask<constant_bytes>(360, {{90, "a float has four bytes"}}, 90);
    const int bins = any_int(100, 1000);
    ask<constant_bytes>(4 * bins, {}, bins);
    ask<largest_constant_table>(16384, {{65536, "64 KiB are bytes, and a float has four"},
                                        {16000, "a KiB is 1024 bytes"},
                                        {8192, "a float has four bytes, not eight"}});
}

TEST_CASE("prelab: exercise 18, a convolution by hand", "[public]") {
    const auto p = convolved({1, 2, 3, 4, 5}, {1, 2, 3});
    if (p == std::vector<int>{4, 10, 16, 22, 22}) UNSCOPED_INFO("the mask was turned around: read the definition");
    if (p == std::vector<int>{9, 14, 20, 26, 29})
        UNSCOPED_INFO("beyond the ends stands zero, not the nearest element once more");
    if (p == std::vector<int>{14, 20, 26, 14, 5})
        UNSCOPED_INFO("the middle of the mask lies on n[j], not its first element");
    CHECK_THAT(p, equals_exactly(std::vector<int>{8, 14, 20, 26, 14}));
    check_convolution(integers<int>(any_int(6, 12), -9, 9), integers<int>(2 * any_int(0, 2) + 1, -9, 9));
}

// 2,048 elements, a mask of 9, blocks of 256: 64 warps in 8 blocks.
TEST_CASE("prelab: what the naive and the constant version load", "[public][counter]") {
    const int n = 2048, block = 256, w = 9;
    const int naive = submission().call<naive_requests>(n, block, w);
    const int constant = submission().call<constant_requests>(n, block, w);
    const int other_w = 2 * any_int(1, 3) + 1;
    const int other_naive = submission().call<naive_requests>(n, block, other_w);
    const int other_constant = submission().call<constant_requests>(n, block, other_w);
    check_requests<conv1d_naive>(naive, 1152,
                                 {{36864, "those are the loads of the threads; 32 of a warp are one request"},
                                  {576, "each product has two operands, and both are loaded"},
                                  {128, "each thread goes through the whole mask"}},
                                 n, block, w);
    check_requests<conv1d_constant>(constant, 576,
                                    {{18432, "those are the loads of the threads; 32 of a warp are one request"},
                                     {1152, "weights in constant memory are no requests to global memory"}},
                                    n, block, w);
    INFO("for a mask of " << other_w << " elements");
    CHECK_THAT(measure("your naive_requests", other_naive), is(2 * other_w * n / 32));
    CHECK_THAT(measure("your constant_requests", other_constant), is(other_w * n / 32));
}

// The tile has 264 elements, which are 9 requests. In the listing, warps on either side of 7 edges between blocks load
// in 4 turns of their loops.
TEST_CASE("prelab: what a tile and the chapter's listing load", "[public][counter]") {
    const int n = 2048, block = 256, w = 9;
    ask<cached_requests>(120,
                         {{64, "the halo is not loaded into shared memory, but later, from global memory"},
                          {128, "the first and the last block have ghosts on one side, which are not loaded"},
                          {92, "there is a halo on both sides of a block"},
                          {96, "there is a halo on both sides of a block, and ghosts are not loaded"}},
                         n, block, w);
    ask<loads_per_product>(16.0 / 30,
                           {{1, "neighbouring sums share all but one of the elements of a column"},
                            {0.5, "close: the column of the tile is longer than that of the mask, by one for two rows"},
                            {0, "whole numbers were divided: convert one of them to double first"}},
                           2, 15);
    const int other_w = 2 * any_int(1, 3) + 1, rows = any_int(3, 8);
    ask<cached_requests>(counted_listing(n, block, other_w), {}, n, block, other_w);
    ask<loads_per_product>(counted_loads(rows, other_w), {}, rows, other_w);
    const int tiled = submission().call<tiled_requests>(n, block, w);
    check_requests<conv1d_tiled>(
        tiled, 72,
        {{64, "each block loads its halo as well, and a request with few threads is one too: round up"},
         {66, "the last request of each block is one, even with few threads: round up"},
         {2112, "those are the loads of the threads; 32 of a warp are one request"},
         {80, "the walk continues after the last thread: left and right are not apart"}},
        n, block, w);
}
