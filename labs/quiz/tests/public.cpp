// Public tests of lab quiz: each question with numbers of the task sheet, and what a wrong answer may come from.
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "quiz.h"

using namespace warpgrade::judge;

// The quiz is answered by host code.
[[maybe_unused]] const bool by_host =
    computed_on_host<&blocks_needed, &idle_threads, &blocks_in_grid, &largest_block_index, &block_is_possible,
                     &thread_number, &warps_in_block, &image_idle_threads, &pixel_offset, &nvcc_builds, &runs_on,
                     &registers_per_block, &resident_blocks, &occupancy, &square_block, &shared_bytes, &offset_of_third,
                     &aligned_offset, &wavefronts, &byte_wavefronts, &constant_bytes, &largest_constant_table, &sectors,
                     &operations_per_access, &gflops, &neuron_operations, &neuron_accesses, &naive_loads, &tiled_loads,
                     &loads_per_operation, &divergent_interleaved, &divergent_halving, &convolve>();

TEST_CASE("blocks and idle threads of a vector", "[public]") {
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

TEST_CASE("exercise 4: a grid of blocks", "[public]") {
    ask<blocks_in_grid>(8, {{6, "the sizes are multiplied, not added"}, {2, "all three directions count"}}, 2, 2, 2);
    ask<largest_block_index>(1, {{2, "indices begin at 0, so that the last one is below the size"}}, 2);
    ask<largest_block_index>(31, {{32, "indices begin at 0, so that the last one is below the size"}}, 32);
}

TEST_CASE("exercise 5: threads, warps and limits of a block", "[public]") {
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
}

TEST_CASE("exercise 7: threads and pixels of an image", "[public]") {
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

TEST_CASE("exercise 3: what nvcc builds and where it runs", "[public]") {
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

// A multiprocessor of compute capability 3.5: 65,536 registers, 48 KiB, 64 warps, 16 blocks.
TEST_CASE("exercise 8: registers and occupancy", "[public]") {
    ask<registers_per_block>(5888, {{588, "a digit is missing: 23 · 256 is 5,888, whatever is printed elsewhere"}}, 23,
                             256);
    ask<resident_blocks>(
        8, {{11, "the registers would do for 11 blocks, but these have 88 warps, and there is room for 64"}}, 256, 23,
        0, 65536, 49152, 64, 16);
    ask<resident_blocks>(2, {{3, "2.56 blocks are two: a block that is not there as a whole is not there"}}, 256, 100,
                         0, 65536, 49152, 64, 16);
    ask<occupancy>(0.25,
                   {{25, "a part of the warps is asked for, between 0 and 1, not percent"},
                    {0.0, "whole numbers were divided: convert one of them to double first"},
                    {0.03125, "blocks over warps: a block of 256 threads has 8 warps"}},
                   256, 100, 0, 65536, 49152, 64, 16);
}

TEST_CASE("exercise 15: occupancy with all limits", "[public]") {
    ask<resident_blocks>(10,
                         {{17, "the registers would do for 17 blocks, but not the room for warps"},
                          {11, "10.7 blocks fill all 64 warps, but parts of a block are not there"},
                          {16, "each block has 6 warps, and there is room for 64"}},
                         192, 20, 192, 65536, 16384, 64, 16);
    ask<occupancy>(0.9375, {{1.0, "64 warps are no whole number of blocks of 6 warps"}}, 192, 20, 192, 65536, 16384, 64,
                   16);
    ask<resident_blocks>(16, {{32, "a multiprocessor also has a largest number of blocks"}}, 64, 16, 0, 65536, 49152,
                         64, 16);
    ask<resident_blocks>(4, {{8, "each block takes 12 KiB of 48 KiB of shared memory"}}, 256, 32, 12288, 65536, 49152,
                         64, 16);
    ask<resident_blocks>(8, {{10, "100 threads are four warps, the last one not full"}}, 100, 30, 0, 65536, 65536, 32,
                         16);
    ask<square_block>(256,
                      {{768, "768 is no square"},
                       {512, "512 is a power of two, but 512 threads make no square"},
                       {729, "27 × 27 is a square, but 27 is no power of two"}},
                      768);
}

TEST_CASE("exercises 9 and 10: arrays in shared memory", "[public]") {
    ask<shared_bytes>(720, {{180, "the launch asks for bytes, a float has four"}}, 100, 50, 30);
    ask<offset_of_third>(600,
                         {{150, "that is the element; a float has four bytes"},
                          {720, "that is the end of C"},
                          {400, "B lies before C as well"}},
                         100, 50);
    ask<aligned_offset>(8, {{5, "floats must lie at multiples of 4"}, {4, "byte 4 is taken"}}, 5, 4);
    ask<aligned_offset>(16, {{24, "16 is a multiple of 8 already, nothing has to be skipped"}}, 16, 8);
}

TEST_CASE("exercise 11: tables in constant memory", "[public]") {
    ask<constant_bytes>(360, {{90, "a float has four bytes"}}, 90);
    ask<largest_constant_table>(16384, {{65536, "64 KiB are bytes, and a float has four"},
                                        {16000, "a KiB is 1024 bytes"},
                                        {8192, "a float has four bytes, not eight"}});
}

TEST_CASE("exercise 12: sectors of a warp", "[public]") {
    ask<sectors>(4,
                 {{1, "32 floats are 128 bytes, one line of the cache, but four sectors"},
                  {32, "neighbouring floats lie in the same sector"}},
                 0, 1);
    ask<sectors>(5, {{4, "the 128 bytes begin within a sector, so that the last ones lie in a fifth"}}, 1, 1);
    ask<sectors>(8, {{4, "every other float is fetched and not used"}}, 0, 2);
    ask<sectors>(1, {{32, "all threads load the same element"}, {4, "all threads load the same element"}}, 7, 0);
}

TEST_CASE("exercise 13: operations for each access", "[public]") {
    ask<operations_per_access>(16.0, {{0.0625, "operations over accesses, not the other way round"}}, 32.0, 2.0);
    ask<gflops>(50.0,
                {{200, "each access is of four bytes: 200 GB/s are 50 · 10^9 accesses a second"},
                 {800, "a float has four bytes: divide, do not multiply"}},
                200.0, 1.0);
    ask<gflops>(800.0, {{3200, "each access is of four bytes"}}, 200.0, 16.0);
}

TEST_CASE("exercise 14: a kernel of neurons, and bank conflicts", "[public]") {
    ask<neuron_operations>(12,
                           {{13, "u + 4 is not done by a neuron with v ≤ 30; or is the comparison counted?"},
                            {11, "one is missing: subtractions count too, and each line is an assignment of a sum"},
                            {14, "v ≤ 30, so that the branch is not taken; and the comparison does not count"}},
                           0, 1);
    ask<neuron_accesses>(
        6,
        {{5, "what is the source of the flag, and where do v and u go in the end?"},
         {4, "loads and stores both count, also those of fired"},
         {7, "quiet_neuron lies in shared memory; or is a store counted that a quiet neuron does not do?"},
         {8, "quiet_neuron lies in shared memory"}},
        0, 1);
    ask<wavefronts>(1, {{32, "neighbouring words lie in different banks"}}, 1);
    ask<wavefronts>(
        2, {{1, "lanes 0 and 16 load words 0 and 32, both in bank 0"}, {16, "16 banks are used, by two lanes each"}},
        2);
    ask<wavefronts>(1, {{3, "an odd stride reaches all banks before it comes back to the first"}}, 3);
    ask<wavefronts>(1, {{32, "all lanes load the same word, which is broadcast"}}, 0);
    ask<byte_wavefronts>(1, {{4, "four neighbouring bytes are one word, and a word is broadcast"}}, 1);
}

TEST_CASE("loads of a matrix product", "[public]") {
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
}

TEST_CASE("exercise 17: divergent warps of a reduction", "[public]") {
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
}

TEST_CASE("exercise 18: a convolution by hand", "[public]") {
    const auto p = convolved({1, 2, 3, 4, 5}, {1, 2, 3});
    if (p == std::vector<int>{4, 10, 16, 22, 22}) UNSCOPED_INFO("the mask was turned around: read the definition");
    if (p == std::vector<int>{9, 14, 20, 26, 29})
        UNSCOPED_INFO("beyond the ends stands zero, not the nearest element once more");
    if (p == std::vector<int>{14, 20, 26, 14, 5})
        UNSCOPED_INFO("the middle of the mask lies on n[j], not its first element");
    CHECK_THAT(p, equals_exactly(std::vector<int>{8, 14, 20, 26, 14}));
}
