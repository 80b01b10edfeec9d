// Not handed out as source.
// Public tests of lab first's prelab: each question with numbers of the sheet or of the textbook's exercises.
#include <vector>

#include "first.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

// Answered by host code.
[[maybe_unused]] const bool answered_by_host =
    computed_on_host<&blocks_needed, &idle_threads, &blocks_in_grid, &largest_block_index, &block_is_possible,
                     &grid_is_possible, &thread_number, &warps_in_block, &image_idle_threads, &pixel_offset,
                     &nvcc_builds, &runs_on, &add_warps, &add_load_requests, &add_sectors_loaded>();

TEST_CASE("prelab: blocks of a vector", "[public]") {
    ask<blocks_needed>(4, {{3, "rounded down: 3 blocks have 768 threads, and 232 elements are left without one"}}, 1000,
                       256);
    ask<blocks_needed>(5, {{6, "one block too many: 1000 is a multiple of 200, so that rounding up changes nothing"}},
                       1000, 200);
    ask<idle_threads>(24,
                      {{232, "that is what is missing in 3 blocks, not what is idle in 4"},
                       {768, "that is the last block's start, not what it has too many"},
                       {-24, "threads minus elements, not the other way round"}},
                      1000, 256);
    ask<idle_threads>(0, {{200, "a whole block is idle: the grid has one too many"}}, 1000, 200);
}

TEST_CASE("prelab: exercise 4, a grid of blocks", "[public]") {
    ask<blocks_in_grid>(8, {{6, "the sizes are multiplied, not added"}, {2, "all three directions count"}}, 2, 2, 2);
    ask<largest_block_index>(1, {{2, "indices begin at 0, so that the last one is below the size"}}, 2);
    ask<largest_block_index>(31, {{32, "indices begin at 0, so that the last one is below the size"}}, 32);
}

TEST_CASE("prelab: exercise 5, threads and limits", "[public]") {
    ask<thread_number>(37,
                       {{82, "y runs fastest in this answer; it is x that does"},
                        {7, "the rows before count as well, each with block_x threads"}},
                       5, 2, 0, 16, 16);
    ask<warps_in_block>(8, {{16, "warps do not end with the rows: two rows of 16 make one"}}, 16, 16, 1);
    ask<warps_in_block>(2, {{1, "rounded down: the last 8 threads are a warp too"}, {5, "a row is not a warp"}}, 8, 5,
                        1);
    ask<block_is_possible>(true, {{0, "1024 threads are allowed"}}, 32, 32, 1);
    ask<block_is_possible>(false, {{1, "each size is allowed, their product is not"}}, 32, 32, 2);
    ask<block_is_possible>(true, {{0, "64 along z are allowed"}}, 4, 4, 64);
    ask<block_is_possible>(false, {{1, "65 threads are few, but not along z"}}, 1, 1, 65);
    ask<block_is_possible>(false, {{1, "a block has at least one thread along each direction"}}, 16, 0, 1);
    ask<grid_is_possible>(true, {{0, "along x, there may be many more blocks than along y and z"}}, 65536LL, 1LL, 1LL);
    ask<grid_is_possible>(false, {{1, "65,536 blocks are too many along y"}}, 1LL, 65536LL, 1LL);
}

TEST_CASE("prelab: exercise 7, an image", "[public]") {
    ask<image_idle_threads>(1460,
                            {{180, "as if the pixels were one long vector: each direction has to be rounded up"},
                             {-7500, "no threads at all: each direction has to be rounded up"},
                             {-1356, "rounded down: pixels at the edges have no thread"}},
                            100, 75, 16, 16);
    ask<pixel_offset>(619,
                      {{206, "a pixel is three elements"},
                       {206 + 7500, "the channels of a pixel lie together here, not each in an image of its own"},
                       {618, "channel 0 is the first, so that channel 1 lies one further"}},
                      6, 2, 1, 100);
    ask<pixel_offset>(6, {{600, "x and y changed places: a row is `width` pixels long"}}, 2, 0, 0, 100);
}

TEST_CASE("prelab: exercise 3, what nvcc builds", "[public]") {
    const std::vector<int> ampere_and_hopper{80, 90}, turing{75}, ampere{80}, none;
    ask<nvcc_builds>(true, {{0, "both binaries are of later architectures than the PTX they are made from"}}, 75, 75,
                     in(ampere_and_hopper), 2);
    ask<nvcc_builds>(false, {{1, "a binary cannot be made from PTX of a later architecture"}}, 75, 80, in(turing), 1);
    ask<nvcc_builds>(false, {{1, "this toolkit has forgotten compute_35: it cannot make PTX for it"}}, 75, 35,
                     in(ampere_and_hopper), 2);
    ask<nvcc_builds>(true, {{0, "without real architectures only PTX is kept; that is allowed"}}, 75, 80, in(none), 0);

    ask<runs_on>(true, {{0, "a binary for 8.0 runs on 8.6: the major number is the same, the minor one not lower"}}, 86,
                 0, in(ampere), 1);
    ask<runs_on>(false, {{1, "binaries do not run across major numbers; only PTX does"}}, 90, 0, in(ampere), 1);
    ask<runs_on>(true, {{0, "PTX is compiled when the program starts, for any later device"}}, 90, 75, in(none), 0);
    ask<runs_on>(false, {{1, "PTX for 9.0 may use what a device of 7.5 does not have"}}, 75, 90, in(ampere), 1);
}

TEST_CASE("prelab: what add_vectors costs", "[public][counter]") { ask_costs(1000); }
