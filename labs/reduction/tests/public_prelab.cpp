// Not handed out as source.
// Public tests of lab reduction's prelab: exercise 17's example, and what the versions cost at one size each.
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "questions.hpp"
#include "reduction.h"

using namespace warpgrade::judge;

[[maybe_unused]] static const bool by_host =
    computed_on_host<&divergent_interleaved, &divergent_halving, &launches_of_sum, &sectors_of_sum, &barriers_of_block,
                     &stores_of_block>();

TEST_CASE("prelab: divergent warps of two loops", "[public]") {
    ask<divergent_interleaved>(15,
                               {{20, "a warp without any active thread does not diverge"},
                                {12, "steps of 8 and 16 leave one thread active in some warps: those diverge as well"},
                                {5, "count every warp in every turn"}},
                               32, 8);
    ask<divergent_halving>(
        3,
        {{5, "as long as `step` is a multiple of the warp, warps are active as a whole or not at all"},
         {15, "that is the interleaved loop's number"},
         {4, "with step = 8 the first warp is active as a whole"}},
        32, 8);
    ask<divergent_halving>(3, {{4, "with step = 8 the first warp is active as a whole"}}, 8, 8);
    const int warp = 1 << pick(2, 5);
    ask_divergence(warp << pick(2, 5), warp);
}

// 20,000 elements leave 157 sums of 128, and these leave 2, which leave 1: three launches. Their sectors: 20,000 / 8,
// 157 / 8 rounded up, and 1.
TEST_CASE("prelab: launches and sectors of a sum", "[public]") {
    check_predicted_sum(20000, 128, 3, 2500 + 20 + 1,
                        {{2, "157 sums are too many for one block of 128"},
                         {1, "blocks leave their sums to another launch"},
                         {4, "a single sum needs no further launch"}},
                        {{2500, "that is the first launch alone"},
                         {2500 + 19 + 1, "157 floats begin a 20th sector"},
                         {2500 + 19, "a part of a sector is loaded as a whole"},
                         {20159, "eight floats share a sector"},
                         {630, "a sector has 32 bytes, and a float 4: eight floats, not 32"}});
    ask_sum(pick(2000, 40000), 1 << pick(5, 8));
}

TEST_CASE("prelab: barriers and stores of a block", "[public]") {
    const int B = 256, warps = B / 32;
    // Of 128, 64, 32 … threads that add: 4 + 2 + 1 warps, then one in each of five steps.
    check_predicted_block<reduce_sequential>(
        3, B, B, 8, warps + 7 + 5,
        {{7, "with strides of 128, 64, … and 1 there are eight steps"}, {1, "every step needs a barrier"}},
        {{8, "additions store their sums as well"},
         {12, "the elements are stored before the first step"},
         {256 + 255, "a request is an instruction of a warp, not of a thread"},
         {8 + 8 * 8, "warps in which no thread adds do not store"},
         {8 + 8, "in the first step four warps add"}});
    check_predicted_block<reduce_shuffle>(
        5, 2 * B, B, 1, warps,
        {{0, "the warps' sums must be complete before they are added"}, {8, "steps within a warp need no barrier"}},
        {{20, "with shuffles no element goes to shared memory"},
         {1, "each warp stores its sum"},
         {256, "one lane of each warp stores"}});
    ask_blocks(pick(0, 1) == 0 ? 64 : 512);
}
