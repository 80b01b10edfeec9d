// Public tests of lab reduction: right sums, and for each version the counters that show what it saves.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "reduction.h"

using namespace warpgrade::judge;
using std::uint64_t;

namespace {

// Of one block of B threads that reduces B elements: warps that add, over all steps. With strides of 32 and more these
// are B/64 + B/128 + … + 1 = B/32 - 1 whole warps, with the five strides below a part of one warp each.
uint64_t adding_warps(uint64_t B) { return B / 32 - 1 + 5; }

// A warp that adds loads at least one other element from shared memory in each step (two, if it does not keep its own
// in a register). Fewer loads in the blocks of the first launch: no tree in shared memory.
void check_tree_in_shared_memory(const Profile& run, uint64_t B) {
    CHECK_THAT(shared_load_requests(run), at_least(run.launches.front().config.grid.count() * adding_warps(B),
                                                   "a block is reduced in shared memory, down to one element"));
}

// An addition loads two elements, or one if the thread keeps its own in a register. Version 1 has warps with a thread
// that adds in each of the first five strides, all B/32 of the block, then B/32 - 1: they load although most of their
// threads are idle, whether these wait behind a branch or are switched off. One load more for each warp is left.
void check_idle_warps(const Profile& run, uint64_t B) {
    CHECK_THAT(shared_load_requests(run),
               at_most((B + 1) * (2 * adding_warps(B) + B / 32), "only warps whose threads add load from shared memory")
                   .none_at((B + 1) * (6 * (B / 32) - 1)));
}

// Of B blocks, and the one that adds up their sums. The five steps above are divergent, and so is the branch by which
// thread 0 stores the block's sum: six branches of a block. The kernel of version 1 has 24 in a block of 128 and 48 in
// one of 256.
void check_divergence(const Profile& run, uint64_t B, uint64_t each, const std::string& words) {
    CHECK_THAT(divergent_branches(run), at_most((B + 1) * each, words).none_at((B + 1) * 24));
}

// Versions 4 and 5 on 2·B·B elements: B blocks, whose B sums are added up by one more block (or by atomics). n / 64
// warps load two elements a thread; without the first addition there would be twice as many. Each sector of x is loaded
// once, n / 8 of them, by n / 32 requests; 3 · B of each are left for the second pass: sums that are loaded, and two
// atomics a block, which load as well. Neighbouring threads that take two
// neighbouring elements one after the other touch every sector twice.
void check_two_elements_a_thread(const warpgrade::device::Counters& counters, uint64_t n, uint64_t B) {
    CHECK_THAT(warps(counters), at_most(n / 64 + 2 * (B / 32), "two elements for each thread").none_at(n / 32));
    CHECK_THAT(global_load_requests(counters), at_most(n / 32 + 3 * B, "one for 32 elements").none_at(n / 16));
    CHECK_THAT(sectors_loaded(counters), at_most(n / 8 + 3 * B, "every element once").none_at(n / 4));
    CHECK_THAT(sectors_loaded(counters), at_least(n / 8, "every element once"));
}

// A warp's sum needs no shared memory; the warp stores it once, and the last warp of the block loads all of them at
// once. Three accesses a warp leave room for one that hands the block's sum back, and for a block that finishes last
// and tells its threads so. A tree in shared memory has at least (B/32 stores + adding_warps loads and stores) /
// (B/32): 4 with blocks of 256 threads. One barrier is needed, two more where the last block finishes, and some where
// all blocks wait for each other; a tree has one for each stride, 7 in a block of 128.
//
// Whoever adds up the sums of blocks by atomics needs one a block, and one more to count who is done; a block of 128
// threads has four warps, and one atomic each says that nobody has added up their sums.
void check_sums_of_warps(const warpgrade::device::Counters& counters) {
    CHECK_THAT(shared_requests(counters), at_most(3 * warps(counters), "three for each warp: its sum and little else")
                                              .none_at((4 * warps(counters)).number));
    CHECK_THAT(
        barriers(counters),
        at_most(5 * warps(counters), "five for each warp: shuffles need none").none_at((7 * warps(counters)).number));
    CHECK_THAT(global_atomic_requests(counters),
               at_most(2 * counters.blocks_launched, "two for each block: its sum, and a count of the blocks"));
}

// What a cooperative launch counts besides waiting: blocks that wait for each other look at a flag over and over, one
// thread and one sector at a time.
warpgrade::device::Counters without_waiting(const Profile& run) {
    auto counters = run.total();
    for (const auto& launch : run.launches) {
        if (!launch.config.cooperative) continue;
        for (const auto& line : launch.lines) {
            if (line.counters.global_load_sectors != line.counters.global_load_requests) continue;
            counters.global_load_requests -= line.counters.global_load_requests;
            counters.global_load_sectors -= line.counters.global_load_sectors;
        }
    }
    return counters;
}

// The divergent warps of all the steps of a block.
std::vector<int> steps(int version, int block_size, int warp_size, std::vector<int> strides) {
    std::vector<int> counts;
    for (const int stride : strides) counts.push_back(counted_divergent_warps(version, block_size, warp_size, stride));
    return counts;
}

}  // namespace

TEST_CASE("reduce_strided adds up", "[public]") {
    check_sum<reduce_strided>(GENERATE(256, 1000, 4096), 256);
    check_begun<reduce_strided>();
}

TEST_CASE("reduce_sequential adds up", "[public]") {
    check_sum<reduce_sequential>(GENERATE(256, 1000, 4096), 256);
    check_begun<reduce_sequential>();
}

TEST_CASE("reduce_first_add adds up", "[public]") {
    check_sum<reduce_first_add>(GENERATE(512, 1000, 4096), 256);
    check_begun<reduce_first_add>();
}

TEST_CASE("reduce_shuffle adds up", "[public]") {
    check_sum<reduce_shuffle>(GENERATE(512, 1000, 4096), 256);
    check_begun<reduce_shuffle>();
}

TEST_CASE("reduce_grid_stride adds up", "[public]") {
    check_sum<reduce_grid_stride>(GENERATE(1024, 1003, 4099), 256);
    check_begun<reduce_grid_stride>();
}

// B·B elements: B blocks whose B sums are added up by one more block (or by atomics), all of them full. Two branches
// more than the six of a block leave room for a solution that tests something else besides.
//
// The additions are version 1's: of 2^25, 1, -2^25, 1 the neighbours are added first, which loses both ones (floats
// above 2^25 are 4 apart). A tree with strides that go down adds 2^25 and -2^25, and the ones, and loses nothing.
TEST_CASE("reduce_strided keeps its warps together", "[public][counter]") {
    const int B = GENERATE(128, 256);
    const auto run = profile_sum<reduce_strided>(B * B, B);
    check_divergence(run, B, 8, "8 for each block: the first threads add, without gaps");
    check_tree_in_shared_memory(run, B);
    check_idle_warps(run, B);
    std::vector<float> x(B, 0.0f);
    x[0] = 0x1p25f, x[1] = 1, x[2] = -0x1p25f, x[3] = 1;
    INFO(
        "x begins with 2^25, 1, -2^25, 1 and ends with zeros: x[0] + x[1] and x[2] + x[3] come first, as in version 1");
    const float sum = submission().call<reduce_strided>(in(x), B, B);
    CHECK_THAT(measure("sum", sum), is(0));
}

// Neighbouring threads touch neighbouring words in neighbouring banks. In version 2 the distance between the words of
// neighbouring threads is 2 · stride, and they meet in few banks: then each load or store of a warp that adds waits
// once or more, and there are at least 2 · adding_warps of them. 16 branches leave room for blocks whose warps first
// reduce parts of their own.
TEST_CASE("reduce_sequential has no bank conflicts", "[public][counter]") {
    const int B = GENERATE(128, 256);
    const auto run = profile_sum<reduce_sequential>(B * B, B);
    CHECK_THAT(bank_conflicts(run),
               at_most(0, "neighbouring threads touch neighbouring words").none_at((B + 1) * 2 * adding_warps(B)));
    check_divergence(run, B, 16, "16 for each block: whole warps add, or have nothing to do");
    check_tree_in_shared_memory(run, B);
}

TEST_CASE("reduce_first_add takes half the warps", "[public][counter]") {
    const int B = GENERATE(128, 256), n = 2 * B * B;
    const auto run = profile_sum<reduce_first_add>(n, B);
    check_two_elements_a_thread(run.total(), n, B);
    CHECK_THAT(bank_conflicts(run), at_most(0, "as in version 3").none_at((B + 1) * 2 * adding_warps(B)));
    check_divergence(run, B, 16, "16 for each block, as in version 3");
    check_tree_in_shared_memory(run, B);
}

TEST_CASE("reduce_shuffle leaves shared memory to the sums of warps", "[public][counter]") {
    const int B = GENERATE(128, 256), n = 2 * B * B;
    const auto run = profile_sum<reduce_shuffle>(n, B);
    check_two_elements_a_thread(without_waiting(run), n, B);
    check_sums_of_warps(run.total());
    check_short_chains<reduce_shuffle>();
}

// One request loads 32 · 4 floats: n / 128 of them; an eighth more leaves room for tails and further passes. Loads of
// single floats need four times as many. The grid is the same for both sizes: 132 multiprocessors, a
// whole H100, hold 132 · 2048 threads, and these load 4 · 270,336 = 1,081,344 elements at once.
TEST_CASE("reduce_grid_stride loads four floats at a time in a fixed grid", "[public][counter]") {
    const int n = 3 << 19, more = n + n / 4;
    std::vector<uint64_t> grids;
    for (const uint64_t size : {n, more}) {
        INFO("n = " << size);
        const auto run = profile_sum<reduce_grid_stride>(static_cast<int>(size), 256);
        const auto counters = without_waiting(run);
        CHECK_THAT(global_load_requests(counters),
                   at_most(size / 128 + size / 1024, "one for 32 times four floats").none_at(size / 32));
        CHECK_THAT(sectors_loaded(counters), at_most(size / 8 + size / 64, "every element once").none_at(size / 4));
        CHECK_THAT(sectors_loaded(counters), at_least(size / 8, "every element once"));
        check_sums_of_warps(counters);
        grids.push_back(run.launches.front().config.grid.count());
    }
    CHECK_THAT(measure("blocks of the first launch for a quarter more elements", grids[1]),
               is(grids[0], "the same for all sizes"));
    check_short_chains<reduce_grid_stride>();
}

// The example of the book: 32 threads, warps of 8.
TEST_CASE("divergent_warps counts the example of 32 threads in warps of 8", "[public]") {
    const auto version_1 = steps(1, 32, 8, {1, 2, 4, 8, 16}), version_2 = steps(2, 32, 8, {1, 2, 4, 8, 16}),
               version_3 = steps(3, 32, 8, {16, 8, 4, 2, 1});
    INFO("divergent warps of each step");
    CHECK_THAT(version_1, equals_exactly(std::vector<int>{4, 4, 4, 2, 1}));
    CHECK_THAT(version_2, equals_exactly(std::vector<int>{0, 0, 1, 1, 1}));
    CHECK_THAT(version_3, equals_exactly(std::vector<int>{0, 0, 1, 1, 1}));
    const auto sum = [](const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); };
    CHECK_THAT(measure("divergent warps of version 1 in all steps", sum(version_1)), is(15));
    CHECK_THAT(measure("divergent warps of version 3 in all steps", sum(version_3)), is(3));
}

// One full block whose divergent branches the virtual GPU counts: those of the steps, and one where thread 0 stores the
// block's sum (none, if all threads store it). Versions 2 and 3 may be written with fewer than their rule has, and it
// has five: the steps in which a part of one warp adds.
TEST_CASE("divergent_warps agrees with the counter of the virtual GPU", "[public][counter]") {
    const int B = GENERATE(32, 64, 256, 512, 1024);
    const auto check_version = [&](int version, const Profile& run) {
        INFO("version " << version << ", block_size = " << B);
        int counted = 0;
        for (int stride = 1; stride < B; stride *= 2) counted += counted_divergent_warps(version, B, 32, stride);
        // The first launch is the version's. How the sums of blocks are added up is free, and here there is one.
        REQUIRE_THAT(launches(run), at_least(1));
        const auto branches = divergent_branches(run.launches.front());
        const char* const why = "what divergent_warps adds up to, and one for the store";
        if (version == 1) {
            CHECK_THAT(branches, between(counted, counted + 1, why));
        } else {
            CHECK_THAT(branches, at_most(counted + 1, why));
            CHECK_THAT(measure("divergent warps in all steps", counted),
                       is(5, "of the threads of one warp some add in five steps"));
        }
    };
    check_version(1, profile_sum<reduce_divergent>(B, B));
    check_version(2, profile_sum<reduce_strided>(B, B));
    check_version(3, profile_sum<reduce_sequential>(B, B));
}

// Each thread applies the rule once, and the rest is voting: some 40 instructions of each warp, none of which loads. A
// loop over the threads of the warp has at least 3 · 32.
TEST_CASE("divergent_warps is decided by votes", "[public][counter]") {
    const auto [version, stride, expected] = GENERATE(table<int, int, int>({{1, 1, 32}, {2, 32, 1}, {3, 16, 1}}));
    const auto run = submission().profile<divergent_warps>(version, 1024, 32, stride);
    REQUIRE_THAT(measure("divergent warps", run.output), is(expected));
    CHECK_THAT(blocks(run.kernel()), is(1));
    CHECK_THAT(threads_per_block(run.kernel()), is(1024));
    const auto counters = run.total();
    CHECK_THAT(global_load_requests(counters), is(global_atomic_requests(counters), "votes need no memory"));
    CHECK_THAT(shared_load_requests(counters), is(0, "votes need no memory"));
    CHECK_THAT(warp_instructions(counters), at_most(80 * warps(counters), "80 for each warp"));
    CHECK_THAT(thread_instructions(counters), at_least(12 * 1024, "each thread applies the rule, and votes"));
}

// A size that leaves the last block incomplete, besides one that does not.
TEST_CASE("the checks find no mistakes in reduce_strided", "[public][checks]") {
    check_no_mistakes<reduce_strided>(GENERATE(1000, 4096), 256);
}

TEST_CASE("the checks find no mistakes in reduce_sequential", "[public][checks]") {
    check_no_mistakes<reduce_sequential>(GENERATE(1000, 4096), 256);
}

TEST_CASE("the checks find no mistakes in reduce_first_add", "[public][checks]") {
    check_no_mistakes<reduce_first_add>(GENERATE(1000, 4096), 256);
}

TEST_CASE("the checks find no mistakes in reduce_shuffle", "[public][checks]") {
    check_no_mistakes<reduce_shuffle>(GENERATE(1000, 4096), 256);
}

TEST_CASE("the checks find no mistakes in reduce_grid_stride", "[public][checks]") {
    check_no_mistakes<reduce_grid_stride>(GENERATE(1000, 4096), 256);
}

// Only the kernels' time counts: of the whole call most is the copy of the array to the device, the same in every
// version.
TEST_CASE("speed on 524,288 floats", "[public][speed]") {
    const int n = size_to_time(1 << 19, 1 << 22);
    const auto x = quarters(n);
    const auto compared = compare_with_starter<reduce_grid_stride>(in(x), n, 256);
    INFO("the speed counts once the sum is right");
    const auto& sum = compared.submission.output;
    REQUIRE_THAT(sum, equals_exactly(exact_sum(x)));
    check_device_work(compared.submission, x.size());
    report_kernel_speedup(compared);
}
