// Public tests of lab scan: votes and shuffles one by one, the scans made of them, and how little each of them moves.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "scan.h"

using namespace warpgrade::judge;
using std::uint64_t;

namespace {

// One thread an element: one request a warp for all its loads and one for its stores, n / 32 each (n is a multiple of
// 32 here), in the fewest sectors, 8 elements each. Whoever looks at another element without a vote or a shuffle needs
// a further load, from global or from shared memory.
void check_one_load_and_store(const warpgrade::device::Counters& counters, uint64_t n) {
    CHECK_THAT(global_load_requests(counters), is(n / 32, "one for each warp"));
    CHECK_THAT(sectors_loaded(counters), is(n / 8, "every element once"));
    CHECK_THAT(global_store_requests(counters), is(n / 32, "one for each warp"));
    CHECK_THAT(sectors_stored(counters), is(n / 8, "every element once"));
    CHECK_THAT(local_load_requests(counters), is(0));
    CHECK_THAT(measure("loads from constant memory", counters.constant_load_requests),
               is(0, "a copy of the array there is memory like any other"));
    CHECK_THAT(global_atomic_requests(counters), is(0));
}

void check_no_memory_between(const Profile& run, uint64_t n) {
    const auto counters = run.total();
    check_one_load_and_store(counters, n);
    CHECK_THAT(shared_requests(counters), is(0, "the threads of a warp need no memory to exchange values"));
    CHECK_THAT(shared_atomic_requests(counters), is(0, "the threads of a warp need no memory to exchange values"));
}

}  // namespace

TEST_CASE("vote_all tells whether all elements of a warp are non-zero", "[public]") {
    check_vote_all(for_votes(GENERATE(64, 256, 1024)));
}

TEST_CASE("vote_any tells whether any element of a warp is non-zero", "[public]") {
    check_vote_any(for_votes(GENERATE(64, 256, 1024)));
}

TEST_CASE("vote_rank counts the non-zero elements before each", "[public]") {
    check_vote_rank(for_votes(GENERATE(64, 256, 1024)));
}

TEST_CASE("shuffle_broadcast hands out the element of one lane", "[public]") {
    const auto [lane, width] = GENERATE(table<int, int>({{0, 32}, {31, 32}, {5, 32}, {3, 8}}));
    check_shuffle_broadcast(for_shuffles(512), lane, width);
}

TEST_CASE("shuffle_up fetches elements from lower lanes", "[public]") {
    const auto [delta, width] = GENERATE(table<int, int>({{1, 32}, {16, 32}, {7, 32}, {3, 8}}));
    check_shuffle_up(for_shuffles(512), delta, width);
}

TEST_CASE("shuffle_down fetches elements from higher lanes", "[public]") {
    const auto [delta, width] = GENERATE(table<int, int>({{1, 32}, {16, 32}, {7, 32}, {3, 8}}));
    check_shuffle_down(for_shuffles(512), delta, width);
}

TEST_CASE("shuffle_xor exchanges elements in pairs", "[public]") {
    check_shuffle_xor(for_shuffles(512), GENERATE(1, 16, 31, 6));
}

TEST_CASE("votes need no memory in between", "[public][counter]") {
    const int n = 2048;
    const auto x = for_votes(n);
    SECTION("vote_all") { check_no_memory_between(check_vote_all(x), n); }
    SECTION("vote_any") { check_no_memory_between(check_vote_any(x), n); }
    SECTION("vote_rank") { check_no_memory_between(check_vote_rank(x), n); }
}

TEST_CASE("shuffles need no memory in between", "[public][counter]") {
    const int n = 2048;
    const auto x = for_shuffles(n);
    SECTION("shuffle_broadcast") { check_no_memory_between(check_shuffle_broadcast(x, 9, 16), n); }
    SECTION("shuffle_up") { check_no_memory_between(check_shuffle_up(x, 9, 16), n); }
    SECTION("shuffle_down") { check_no_memory_between(check_shuffle_down(x, 9, 16), n); }
    SECTION("shuffle_xor") { check_no_memory_between(check_shuffle_xor(x, 9), n); }
}

TEST_CASE("warp_scan adds up within each warp", "[public]") { check_warp_scan(for_scans(GENERATE(32, 64, 1000))); }

// Five steps of a shuffle, a comparison and an addition; a loop adds some three instructions a step, and loading,
// storing and the addresses some twenty. A warp whose lanes fetch all the values before them, one after the other, has
// 31 such steps: 93 instructions at least, besides the rest.
TEST_CASE("warp_scan takes five steps in registers", "[public][counter]") {
    const int n = 4096;
    const auto run = check_warp_scan(for_scans(n));
    check_no_memory_between(run, n);
    CHECK_THAT(warp_instructions(run), at_most(96 * warps(run), "96 for each warp"));
}

// The last one has so many results that they cannot be taken for parameters that go up to the device.
TEST_CASE("warp_offsets adds up the warps before each", "[public]") {
    check_warp_offsets(for_scans(GENERATE(32, 256, 1000, 5000)));
}

TEST_CASE("block_scan adds up within each block", "[public]") { check_block_scan(for_scans(GENERATE(256, 512, 1000))); }

// A warp stores its sum (1 access), the first warp loads and stores the sums (2 in a block), and every warp loads the
// sum of those before it (1); whoever lets each warp add up the sums before it itself has up to 7 loads, 3.5 on
// average. A scan of all 256 elements in shared memory has eight steps, in each of which a warp loads once (twice, if
// it does not keep its own sum in a register) and stores once: 16 accesses or more, and 8 barriers or 16. With sweeps
// up and down a tree there are fewer accesses, 9 or more a warp, and no fewer barriers.
TEST_CASE("block_scan leaves shared memory to the sums of warps", "[public][counter]") {
    const int n = 32 * BLOCK_SIZE;
    const auto run = check_block_scan(for_scans(n));
    const auto counters = run.total();
    check_one_load_and_store(counters, n);
    CHECK_THAT(shared_requests(counters),
               at_most(8 * warps(counters), "8 for each warp, whose lanes pass each other values by shuffles")
                   .none_at((16 * warps(counters)).number));
    CHECK_THAT(shared_atomic_requests(counters), is(0));
    CHECK_THAT(
        barriers(counters),
        at_most(4 * warps(counters), "4 for each warp: shuffles need none").none_at((8 * warps(counters)).number));
}

TEST_CASE("add_block_sums raises each block but the first", "[public]") {
    const int n = GENERATE(256, 512, 5000);
    check_add_block_sums(for_scans(n), for_scans((n - 1) / BLOCK_SIZE + 1));
}

TEST_CASE("scan adds up the whole array", "[public]") { check_scan(for_scans(GENERATE(256, 1000, 20000))); }

// Blocks that are scanned, stored, loaded again and raised by the sum of those before: n / 8 sectors, four times. With
// sums that are formed first, or with one pass that looks back, it is less. Another n / 8, 40 · n / 64 in all, are left
// for the sums of blocks, which each warp of a block may load, and for flags. Nothing is left at eight times, n. One
// thread alone touches a sector for each element that it loads or stores, 2 · n. One block alone may move as little as
// many do, but keeps the device idle.
TEST_CASE("scan moves each element at most four times, in many blocks", "[public][counter]") {
    const uint64_t n = 1 << 16;
    const auto run = check_scan(for_scans(static_cast<int>(n)));
    const auto counters = run.total();
    const double sectors = sectors_loaded(counters).number.value() + sectors_stored(counters).number.value();
    CHECK_THAT(measure("sectors loaded from and stored to global memory", sectors),
               at_most(40 * n / 64, "every element four times, and the sums of blocks").none_at(n));
    CHECK_THAT(sectors_loaded(counters), at_least(n / 8, "every element once"));
    CHECK_THAT(sectors_stored(counters), at_least(n / 8, "every element once"));
    uint64_t most_blocks = 0;
    for (const auto& launch : run.launches) most_blocks = std::max(most_blocks, launch.config.grid.count());
    CHECK_THAT(measure("blocks in the largest grid", most_blocks),
               at_least(n / 16384, "one for 16,384 elements or fewer"));
    CHECK_THAT(part_of_busiest_block(run), at_most(0.5, "of at least four blocks, all have something to do"));
}

// With sizes that leave the last warp and the last block incomplete. A mistake that the result does not show is one.
TEST_CASE("the checks find no mistakes in votes and shuffles", "[public][checks]") {
    const auto x = for_votes(1024), y = for_shuffles(1024);
    const Profile runs[] = {check_vote_all(x),          check_vote_any(x),
                            check_vote_rank(x),         check_shuffle_broadcast(y, 5, 16),
                            check_shuffle_up(y, 3, 32), check_shuffle_down(y, 3, 32),
                            check_shuffle_xor(y, 6)};
    for (const auto& run : runs) CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in warp_scan and warp_offsets", "[public][checks]") {
    const auto x = for_scans(GENERATE(64, 1000));
    const Profile runs[] = {check_warp_scan(x), check_warp_offsets(x)};
    for (const auto& run : runs) CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in block_scan", "[public][checks]") {
    const auto run = check_block_scan(for_scans(GENERATE(256, 1000)));
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in scan", "[public][checks]") {
    const int n = GENERATE(256, 1000, 20000);
    const auto x = for_scans(n), sums = for_scans((n - 1) / BLOCK_SIZE + 1);
    const Profile runs[] = {check_add_block_sums(x, sums), check_scan(x)};
    for (const auto& run : runs) CHECK_THAT(run, clean());
}

TEST_CASE("speed of scan on 65,536 elements", "[public][speed]") {
    const int n = size_to_time(1 << 16, 1 << 20);
    const auto x = for_scans(n);
    const auto compared = compare_with_starter<scan>(in(x), out<int>(n), n);
    INFO("the speed counts once the sums are right");
    const auto& out = compared.submission.output;
    REQUIRE_THAT(out, equals_exactly(oracle::scan(x, n)));
    check_device_work(compared.submission, x.size());
    report_speedup(compared);
}
