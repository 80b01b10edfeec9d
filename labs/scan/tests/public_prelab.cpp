// Not handed out as source.
// Public tests of lab scan's prelab: two ways to scan 8 elements, and what the lab's own scans take at one size.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "scan.h"

using namespace warpgrade::judge;

[[maybe_unused]] static const bool by_host =
    computed_on_host<&simple_steps, &simple_additions, &tree_steps, &tree_additions, &block_scan_requests,
                     &scan_launches, &scan_sectors>();

// 7 + 6 + 4 additions with distances 1, 2 and 4; 4 + 2 + 1 up the tree, and as many down.
TEST_CASE("prelab: steps and additions of two scans", "[public]") {
    ask<simple_steps>(3, {{7, "all threads add at the same time, and distances double"}}, 8);
    ask<simple_additions>(17,
                          {{24, "threads without a neighbour at that distance do not add"},
                           {7, "one thread alone needs so few; here each of them adds in nearly every step"}},
                          8);
    ask<simple_steps>(3, {{2, "with distances 1 and 2 the fifth element does not reach the first"}}, 5);
    ask<simple_additions>(8, {}, 5);
    ask<tree_steps>(6, {{3, "the tree is swept up and down"}}, 8);
    ask<tree_additions>(
        14,
        {{7, "the way down adds as well"}, {17, "that is the simple scan's number"}, {24, "count pairs, not threads"}},
        8);
    ask_simple(pick(9, 100));
    ask_tree(1 << pick(4, 9));
}

// A block has eight warps: each stores its sum, the first loads them and stores their scan, and seven load one of
// these. 20,000 elements are 79 blocks, whose sums one more block scans.
TEST_CASE("prelab: what block_scan and scan take", "[public]") {
    check_predicted_block_scan(32 * BLOCK_SIZE, 32 * 17,
                               {{17, "that is a single block"},
                                {32 * 18, "the first warp has no warps before it"},
                                {32 * 16, "the first warp loads the sums, and stores their scan"},
                                {32 * 9, "warps load the scanned sums"},
                                {0, "the warps of a block cannot shuffle with each other"}});
    check_predicted_scan(20000, 3, 4 * 2500,
                         {{2, "the sums of the blocks are added to them by a third launch"},
                          {1, "blocks do not wait for each other: the end of a launch is their barrier"}},
                         {{2 * 2500, "elements are loaded and stored once more when the sums are added"},
                          {80000, "eight elements share a sector"}});
    const int blocks = pick(2, 20);
    check_predicted_block_scan(blocks * BLOCK_SIZE, blocks * 17);
    const int large = 8 * pick(2000, 5000);
    check_predicted_scan(large, 3, 4 * (large / 8));
}
