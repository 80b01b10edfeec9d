// Public tests of lab histogram: right counts, and for each version the counters that show what it saves.
//
// What the counters cannot tell is how long threads wait for each other at one word: neither do those of the profiler.
// So no test asks for it; they ask for fewer additions, which is what helps on every device.
#include <cstdint>
#include <numeric>
#include <vector>

#include "expectations.hpp"
#include "histogram.h"
#include "judge/judge.hpp"
#include "judge/questions.hpp"

using namespace warpgrade::judge;
using std::uint64_t;

namespace {

uint64_t ceil_div(uint64_t n, uint64_t part) { return (n + part - 1) / part; }

// Atomics load what they change, and are not meant.
Measure value_requests(const Profile& run) {
    return measure("requests that load values",
                   global_load_requests(run).number.value() - global_atomic_requests(run).number.value());
}
Measure value_sectors(const Profile& run) {
    return measure("sectors loaded for values",
                   sectors_loaded(run).number.value() - static_cast<double>(run.total().atomic_sectors));
}

// Each value is loaded once: 32 of them share a sector. An eighth more leaves room for tails.
void check_each_loaded_once(const Profile& run, uint64_t n) {
    CHECK_THAT(value_sectors(run),
               at_most(n / 32 + n / 256, "32 values share one, and each is loaded once").none_at(n / 8));
    CHECK_THAT(value_sectors(run), at_least(n / 32, "each value is loaded"));
}

// A block's counts are in shared memory, and 32 bins share a request that adds them to those in global memory.
void check_privatized(const Profile& run, uint64_t n, uint64_t bins) {
    const uint64_t blocks = ceil_div(n, BLOCK_VALUES);
    CHECK_THAT(global_atomic_requests(run),
               at_most(blocks * ceil_div(bins, 32), "one addition for each bin of each block, 32 in a request")
                   .none_at(n / 32));
    const double accesses = shared_requests(run).number.value() + shared_atomic_requests(run).number.value();
    CHECK_THAT(measure("accesses to shared memory", accesses), at_least(blocks, "each block counts there"));
    CHECK_THAT(part_of_busiest_block(run), at_most(2.0 / static_cast<double>(blocks), "a block counts 4096 values"));
}

// The two sizes are more than 132 multiprocessors, a whole H100, hold at once: 132 · 2048 threads take 4,325,376 values
// at a time. One request loads 32 · 16 values: n / 512 of them, and an eighth more for tails. With words of four values
// it would be four times as many.
template <auto version>
Profile profile_fixed_grid(int bins) {
    const int n = 17 << 18, more = n + n / 4;
    const auto profile = [&](int size) {
        INFO("n = " << size);
        const auto run = profile_counts<version>(all_in(size, bins), bins);
        const auto values = static_cast<uint64_t>(size);
        CHECK_THAT(value_requests(run),
                   at_most(values / 512 + values / 4096, "one for 32 times 16 values").none_at(values / 128));
        check_each_loaded_once(run, values);
        return run;
    };
    const auto smaller = profile(n), larger = profile(more);
    CHECK_THAT(measure("blocks for a quarter more values", larger.launches.front().config.grid.count()),
               is(smaller.launches.front().config.grid.count(), "the same for all sizes"));
    return larger;
}

}  // namespace

TEST_CASE("histogram_global counts", "[public]") {
    const int n = GENERATE(256, 1000, 4096), bins = GENERATE(5, 256);
    check_counts<histogram_global>(spread(n, bins), bins);
    check_begun<histogram_global>();
}

TEST_CASE("histogram_shared counts", "[public]") {
    const int n = GENERATE(256, 1000, 4096), bins = GENERATE(5, 256);
    check_counts<histogram_shared>(spread(n, bins), bins);
    check_begun<histogram_shared>();
}

TEST_CASE("histogram_strided counts", "[public]") {
    const int n = GENERATE(4096, 1003, 9999), bins = GENERATE(5, 256);
    check_counts<histogram_strided>(spread(n, bins), bins);
    check_begun<histogram_strided>();
}

TEST_CASE("histogram_match counts", "[public]") {
    const int n = GENERATE(256, 1000, 4096), bins = GENERATE(5, 256);
    check_counts<histogram_match>(skewed(n, bins), bins);
    check_begun<histogram_match>();
}

TEST_CASE("histogram_few counts", "[public]") {
    const int n = GENERATE(4096, 1003, 9999), bins = GENERATE(4, 7);
    check_counts<histogram_few>(skewed(n, bins), bins);
    check_begun<histogram_few>();
}

TEST_CASE("contention measures the queues of warps", "[public]") {
    SECTION("a warp of one value, one of 32 values, and one that has two") {
        Data data(96, 7);
        std::iota(data.begin() + 32, data.begin() + 64, static_cast<unsigned char>(100));
        for (std::size_t i = 64; i < 96; i += 3) data[i] = 8;
        profile_contention(data);
    }
    SECTION("any values") { profile_contention(skewed(1003, 256)); }
}

// n values are n / 32 warps, each of which has one request. A thread for each value is what the other versions are
// measured against.
TEST_CASE("histogram_global adds once for each value", "[public][counter]") {
    const int n = GENERATE(8192, 20000);
    const auto run = profile_counts<histogram_global>(all_in(n, MOST_BINS), MOST_BINS);
    CHECK_THAT(global_atomic_requests(run), is((n + 31) / 32, "one for each warp of 32 values"));
    CHECK_THAT(warps(run),
               between((n + 31) / 32, ceil_div(n, BLOCK_SIZE) * (BLOCK_SIZE / 32), "a thread for each value"));
    check_each_loaded_once(run, n);
}

TEST_CASE("histogram_shared adds once for each bin of a block", "[public][counter]") {
    const int bins = GENERATE(7, 256), n = 1 << 16;
    INFO("bins = " << bins);
    const auto run = profile_counts<histogram_shared>(all_in(n, bins), bins);
    check_privatized(run, n, bins);
    check_each_loaded_once(run, n);
}

// The grid holds 2048 threads on each multiprocessor, eight blocks of 256, or fewer; their counts of 256 bins are 8
// requests of each. The additions of the values are all in shared memory.
TEST_CASE("histogram_strided loads sixteen values at a time in a fixed grid", "[public][counter]") {
    const auto run = profile_fixed_grid<histogram_strided>(MOST_BINS);
    const auto& launch = run.launches.front();
    CHECK_THAT(global_atomic_requests(run), at_most(launch.config.grid.count() * (MOST_BINS / 32),
                                                    "one addition for each bin of each block, 32 in a request"));
    CHECK_THAT(part_of_busiest_block(run),
               at_most(2.0 / static_cast<double>(launch.config.grid.count()), "every block takes its part"));
}

// Where a warp's values are all different, 32 lanes add; where they are equal, a single one does. Each lane that adds
// executes at least the addition: 31 thread instructions more for each warp of values. Where each lane adds for itself,
// both take the same.
TEST_CASE("histogram_match lets one lane add for all that have its value", "[public][counter]") {
    const int n = 1 << 16;
    Data different(n);
    for (int i = 0; i < n; ++i) different[static_cast<std::size_t>(i)] = static_cast<unsigned char>(i % 256);
    const Data equal(n, static_cast<unsigned char>(any_int(0, 255)));
    const auto many = profile_counts<histogram_match>(different, MOST_BINS),
               one = profile_counts<histogram_match>(equal, MOST_BINS);
    for (const auto* const run : {&many, &one}) {
        check_privatized(*run, n, MOST_BINS);
        check_each_loaded_once(*run, n);
    }
    CHECK_THAT(shared_atomic_requests(one), at_most(n / 32, "one for each warp of 32 equal values"));
    const double less = thread_instructions(many).number.value() - thread_instructions(one).number.value();
    CHECK_THAT(measure("thread instructions that equal values save, for each warp of them", less / (n / 32)),
               at_least(31, "31 lanes do not add"));
}

// A warp adds its counts once: for each bin one request to shared memory, or two, and at most one to global memory. One
// for each 32 values would be n / 32.
TEST_CASE("histogram_few adds for warps, not for values", "[public][counter]") {
    const int bins = GENERATE(4, 7);
    INFO("bins = " << bins);
    const auto run = profile_fixed_grid<histogram_few>(bins);
    const double most = warps(run).number.value() * bins;
    CHECK_THAT(shared_atomic_requests(run), at_most(2 * most, "two for each bin of each warp"));
    CHECK_THAT(global_atomic_requests(run), at_most(most, "one for each bin of each warp"));
    CHECK_THAT(measure("requests to local memory",
                       local_load_requests(run).number.value() + local_store_requests(run).number.value()),
               is(0, "counts stay in registers"));
}

// A load of each warp and one number stored. Whoever loads the values of a whole warp has 32 times as many requests.
TEST_CASE("contention is found by the lanes of a warp together", "[public][counter]") {
    const int n = 1 << 14;
    const auto run = profile_contention(skewed(n, 256));
    CHECK_THAT(global_load_requests(run), at_most(n / 32, "each thread loads its own value, once"));
    CHECK_THAT(global_store_requests(run), at_most(n / 32, "a warp stores one number"));
    CHECK_THAT(shared_requests(run), is(0, "lanes need no memory"));
    CHECK_THAT(shared_atomic_requests(run), is(0, "lanes need no memory"));
    CHECK_THAT(global_atomic_requests(run), is(0, "lanes need no memory"));
}

// A size that leaves the last block incomplete, besides one that does not; values without a bin.
TEST_CASE("the checks find no mistakes in histogram_global", "[public][checks]") {
    check_no_mistakes<histogram_global>(GENERATE(1000, 8192), 100);
}

TEST_CASE("the checks find no mistakes in histogram_shared", "[public][checks]") {
    check_no_mistakes<histogram_shared>(GENERATE(1000, 8192), 100);
}

TEST_CASE("the checks find no mistakes in histogram_strided", "[public][checks]") {
    check_no_mistakes<histogram_strided>(GENERATE(10007, 8192), 100);
}

TEST_CASE("the checks find no mistakes in histogram_match", "[public][checks]") {
    check_no_mistakes<histogram_match>(GENERATE(1000, 8192), 100);
}

TEST_CASE("the checks find no mistakes in histogram_few", "[public][checks]") {
    check_no_mistakes<histogram_few>(GENERATE(10007, 8192), 7);
}

// Only the kernels' time counts: of the whole call most is the copy of the data to the device.
TEST_CASE("speed of histogram_strided on 524,288 values", "[public][speed]") {
    const int n = size_to_time(1 << 19, 1 << 22);
    const auto data = all_in(n, MOST_BINS);
    const auto compared = compare_with_starter<histogram_strided>(in(data), out<int>(MOST_BINS), n, MOST_BINS);
    INFO("the speed counts once the counts are right");
    const auto& counts = compared.submission.output;
    REQUIRE_THAT(counts, equals_exactly(oracle::counts(data, MOST_BINS)));
    check_device_work(compared.submission, data.size());
    report_kernel_speedup(compared);
}
