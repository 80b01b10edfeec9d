// Not handed out as source.
// Public tests of lab histogram's prelab: three warps, and what the versions cost at one size each.
#include "histogram.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

[[maybe_unused]] static const bool by_host =
    computed_on_host<&adding_lanes, &longest_queue, &requests_of_global, &requests_of_shared, &shared_requests_of_few,
                     &load_requests>();

TEST_CASE("prelab: who adds in a warp, and who waits", "[public]") {
    {
        INFO("one value twenty times, another eleven times, and a third one");
        ask_warp(warp_of({20, 11, 1}),
                 {{32, "lanes with the same value let one of them add"},
                  {1, "one lane for each of the values, not one for the warp"},
                  {2, "the lane that is alone with its value adds as well"}},
                 {{3, "that is how many queues there are; how long is the longest?"},
                  {32, "additions to different words do not wait for each other"},
                  {19, "the first one counts too"}});
    }
    {
        INFO("32 different values");
        ask_warp(warp_of(std::vector<int>(32, 1)), {{1, "no two lanes have the same value: each adds for itself"}},
                 {{0, "each lane is the first of its queue"}, {32, "no two lanes want the same word"}});
    }
    std::vector<int> how_many;
    for (int left = 32; left > 0; left -= how_many.back()) how_many.push_back(pick(1, (left + 1) / 2));
    INFO("other warps");
    ask_warp(warp_of(how_many));
}

// 20,000 values are 625 warps, and five blocks of 4096; 100 bins are four warps of them.
TEST_CASE("prelab: additions in global memory", "[public]") {
    check_predicted_global(20000, 625,
                           {{20000, "a request is an instruction of a warp, not of a thread"},
                            {79, "a block of 256 threads has eight warps"}});
    check_predicted_shared(20000, 100, 5 * 4,
                           {{5, "100 bins take 4 warps of 32 threads"},
                            {5 * 100, "a request is an instruction of a warp, not of a thread"},
                            {5 * 8, "warps without a bin do not add"},
                            {4 * 4, "the last values are a block as well"},
                            {5 * 3, "the last 4 of 100 bins take a request of their own"},
                            {79 * 4, "a block takes 4096 values"},
                            {4, "every block adds its own counts"}});
    const int n = pick(3000, 30000), bins = pick(1, MOST_BINS);
    check_predicted_global(n, (n + 31) / 32);
    check_predicted_shared(n, bins, (n + BLOCK_VALUES - 1) / BLOCK_VALUES * ((bins + 31) / 32));
}

TEST_CASE("prelab: loads of several bytes, additions for few bins", "[public]") {
    ask<load_requests>(1024,
                       {{1 << 15, "a request is an instruction of a warp, not of a thread"},
                        {1 << 11, "a request of 32 threads brings 32 pieces of 16 bytes"}},
                       1 << 19, 16);
    ask<load_requests>(1 << 14, {{1 << 19, "a request is an instruction of a warp, not of a thread"}}, 1 << 19, 1);
    check_predicted_few(3, 7, 3 * 8 * 7,
                        {{3 * 7, "each warp of a block adds its counts"},
                         {3 * 8, "one bin after the other: a request for each"},
                         {3 * 256 * 7, "lane 0 adds for its warp"}});
    const int blocks = pick(2, 6), bins = pick(1, FEW_BINS);
    check_predicted_few(blocks, bins, blocks * 8 * bins);
    const int bytes = 1 << pick(0, 4), n = bytes * pick(1000, 5000);
    ask<load_requests>((n / bytes + 31) / 32, {}, n, bytes);
}
