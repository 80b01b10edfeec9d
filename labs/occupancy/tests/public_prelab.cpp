// Not handed out as source.
// Public tests of lab occupancy's prelab: each question with numbers of the textbook, and what a wrong answer may come
// from.
#include "judge/judge.hpp"
#include "occupancy.h"
#include "questions.hpp"

using namespace warpgrade::judge;

[[maybe_unused]] const bool answered_by_host = computed_on_host<&registers_per_block, &blocks_that_fit, &share_of_warps,
                                                                &square_block, &matmul_blocks, &matmul_occupancy>();

// A multiprocessor of compute capability 3.5: 65,536 registers, 48 KiB, 64 warps, 16 blocks.
TEST_CASE("prelab: exercise 8, registers and occupancy", "[public]") {
    ask<registers_per_block>(5888, {{588, "a digit is missing: 23 · 256 is 5,888, whatever is printed elsewhere"}}, 23,
                             256);
    ask<blocks_that_fit>(
        8, {{11, "the registers would do for 11 blocks, but these have 88 warps, and there is room for 64"}}, 256, 23,
        0, 65536, 49152, 64, 16);
    ask<blocks_that_fit>(2, {{3, "2.56 blocks are two: a block that is not there as a whole is not there"}}, 256, 100,
                         0, 65536, 49152, 64, 16);
    ask<share_of_warps>(0.25,
                        {{25, "a part of the warps is asked for, between 0 and 1, not percent"},
                         {0.0, "whole numbers were divided: convert one of them to double first"},
                         {0.03125, "blocks over warps: a block of 256 threads has 8 warps"}},
                        256, 100, 0, 65536, 49152, 64, 16);
}

TEST_CASE("prelab: exercise 15, all limits and a square block", "[public]") {
    ask<blocks_that_fit>(10,
                         {{17, "the registers would do for 17 blocks, but not the room for warps"},
                          {11, "10.7 blocks fill all 64 warps, but parts of a block are not there"},
                          {16, "each block has 6 warps, and there is room for 64"}},
                         192, 20, 192, 65536, 16384, 64, 16);
    ask<share_of_warps>(0.9375, {{1.0, "64 warps are no whole number of blocks of 6 warps"}}, 192, 20, 192, 65536,
                        16384, 64, 16);
    ask<blocks_that_fit>(16, {{32, "a multiprocessor also has a largest number of blocks"}}, 64, 16, 0, 65536, 49152,
                         64, 16);
    ask<blocks_that_fit>(4, {{8, "each block takes 12 KiB of 48 KiB of shared memory"}}, 256, 32, 12288, 65536, 49152,
                         64, 16);
    ask<blocks_that_fit>(8, {{10, "100 threads are four warps, the last one not full"}}, 100, 30, 0, 65536, 65536, 32,
                         16);
    ask<square_block>(256,
                      {{768, "768 is no square"},
                       {512, "512 is a power of two, but 512 threads make no square"},
                       {729, "27 × 27 is a square, but 27 is no power of two"}},
                      768);
}

TEST_CASE("prelab: what fits of the product, for two widths", "[public]") {
    check_predictions({
        {16,
         8,
         {{32, "blocks of 256 threads have 8 warps, and there is room for 64"},
          {64, "that is the number of warps"},
          {114, "shared memory would do for that many, but not the room for warps"}},
         {{8, "the warps of the blocks, as a part of 64"}, {0.125, "blocks over warps"}}},
        {4,
         32,
         {{64, "there is room for 32 blocks, however small they are"}},
         {{0.25, "16 threads are a warp that is half empty: warps count, not threads"},
          {1.0, "there is room for 32 blocks, and each is one warp"}}},
    });
}
