// Public tests of lab step: right results, and for each version the counters that prove what it is about.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "step.h"

using namespace warpgrade::judge;
using warpgrade::device::LaunchRecord;
namespace device = warpgrade::device;

namespace {

// All counter tests use this n: a multiple of 64, and of 128 for who takes larger parts, and large enough that padding
// and transposing, about n² sectors, are little beside the n³ terms.
constexpr std::uint64_t counted_n = 256;
constexpr std::uint64_t terms = counted_n * counted_n * counted_n;
constexpr std::uint64_t elements = counted_n * counted_n;

// The result is right, and reported is how many sectors it took to load the operands of 1000 terms.
template <auto function>
Profile profile_step() {
    const auto n = static_cast<int>(counted_n);
    const auto d = lengths(n);
    auto run = submission().profile<function>(out<float>(n * n), in(d), n);
    INFO("the counters are looked at once the result is right");  // few loads of wrong data prove nothing
    const auto& r = run.output;
    REQUIRE_THAT(r, equals_exactly(oracle::step(d, n)).shape(n, n));
    check_device_work(run, counted_n);
    report_measurement("loaded for 1000 terms",
                       1000.0 * sectors_loaded(run).number.value() / static_cast<double>(terms), "sectors");
    return run;
}

// The launch that does most of the work.
const LaunchRecord& busiest(const Profile& run) {
    return *std::max_element(run.launches.begin(), run.launches.end(), [](const auto& one, const auto& other) {
        return counted(one).inst_executed < counted(other).inst_executed;
    });
}

// What the launches count that do the work, without those that prepare: they execute a tenth as much.
device::Counters working(const Profile& run) {
    const auto most = counted(busiest(run)).inst_executed;
    device::Counters sum;
    for (const auto& launch : run.launches) {
        if (2 * counted(launch).inst_executed >= most) sum += counted(launch);
    }
    return sum;
}

// The sectors that they load, and of those that prepare what is beyond n²: no padding or transposing loads more than a
// sector for each element. Work that is cut into many small launches is still work.
Measure sectors_of_work(const Profile& run) {
    const double all = sectors_loaded(run).number.value(), working_only = sectors_loaded(working(run)).number.value();
    return measure("sectors loaded from global memory",
                   all - std::min(all - working_only, static_cast<double>(elements)));
}

}  // namespace

TEST_CASE("step_v0 is right", "[public]") {
    const int n = GENERATE(16, 65, 100);
    check_step<step_v0>(lengths(n), n);
}

TEST_CASE("step_v1 is right", "[public]") {
    const int n = GENERATE(16, 65, 100);
    check_step<step_v1>(lengths(n), n);
    check_begun<step_v1>();
}

TEST_CASE("pad_and_transpose makes both copies", "[public]") {
    const int n = GENERATE(64, 65, 102);
    check_copies(n);
}

TEST_CASE("step_1x8 is right", "[public]") {
    const int n = GENERATE(64, 65, 102);
    check_step<step_1x8>(lengths(n), n);
    check_begun<step_1x8>();
}

TEST_CASE("step_v2 is right", "[public]") {
    const int n = GENERATE(64, 65, 102, 131);
    check_step<step_v2>(lengths(n), n);
    check_begun<step_v2>();
}

TEST_CASE("step_v3 is right", "[public]") {
    const int n = GENERATE(64, 65, 102, 131);
    check_step<step_v3>(lengths(n), n);
    check_begun<step_v3>();
}

TEST_CASE("step_v4 is right", "[public]") {
    const int n = GENERATE(64, 65, 102, 131);
    check_step<step_v4>(lengths(n), n);
    check_begun<step_v4>();
}

// Each term takes two loads of a thread. A warp of 16 × 2 threads has 16 rows and 2 columns of r: for one k it touches
// 16 sectors in d's column k and one in its row k, 17 sectors for 32 terms. In blocks of 8 × 8 threads it has 8 rows
// and 4 columns, 9 sectors, and 8 for 32 terms is the least that can still be called a column. Half a load more leaves
// room for blocks whose last warp is not full.
TEST_CASE("step_v0 loads a column in each step", "[public][counter]") {
    const auto counters = profile_step<step_v0>().total();
    CHECK_THAT(global_load_requests(counters),
               at_most(2.5 * terms / 32, "two for 32 terms, and warps that are not full"));
    CHECK_THAT(sectors_loaded(counters), at_least(8 * terms / 32, "8 for 32 terms: a warp reads a column of d"));
}

// The same loads, but now a warp of 16 × 2 threads has 2 rows and 16 columns of r: 2 words of d's column k, in two
// sectors, and 16 neighbours in its row k, two sectors as well: 4 sectors for 32 terms. A warp of 32 × 1 needs 1 + 4,
// one of 8 × 4 needs 4 + 1, and 5.5 is what is asked for; nothing is left at 8, where version 0 begins. Never fewer
// than d once. And it is version 1: each term takes a load of its own, at least of its element of row k.
TEST_CASE("step_v1 loads neighbours", "[public][counter]") {
    const auto counters = profile_step<step_v1>().total();
    CHECK_THAT(sectors_loaded(counters), at_most(5.5 * terms / 32, "5.5 for 32 terms").none_at(8 * terms / 32));
    CHECK_THAT(global_load_requests(counters), at_least(terms / 32, "one for 32 terms: a thread has one element of r"));
    CHECK_THAT(sectors_loaded(counters), at_least(elements / 8, "every element of d once"));
}

// For one k a thread loads 1 + 8 words and computes 8 terms: 9 requests of a warp for 256 terms, where version 1 makes
// 16. Padding and transposing add what they add below. In a warp of 8 × 4 threads each of the 8 loads touches one
// sector, 8 sectors for 256 terms; half of that is still more than version 2 loads.
TEST_CASE("step_1x8 uses one element eight times", "[public][counter]") {
    const auto counters = profile_step<step_1x8>().total();
    CHECK_THAT(global_load_requests(counters),
               at_most(10 * terms / 256 + elements / 4, "9 for 256 terms, and the copies").none_at(16 * terms / 256));
    CHECK_THAT(sectors_loaded(counters), at_least(4 * terms / 256, "8 for 256 terms: each thread has one row"));
    CHECK_THAT(local_load_requests(counters), at_most(0, "the results stay in registers").none_at(terms / 32));
}

// For one k a thread loads 8 + 8 words and computes 64 terms, a warp 16 requests for 2048 terms: 128 terms a request
// instead of 16. Padding and transposing load each element once or twice, 32 with a request; n²/4 allows for eight
// times, and for blocks that wait for each other. Nothing is left at twice as many, as 4 × 4 elements a thread need.
//
// They come from global memory: to share them is version 3's idea, which takes one load for 1024 terms or more.
TEST_CASE("step_v2 uses what it loads eight times", "[public][counter]") {
    const auto counters = profile_step<step_v2>().total();
    CHECK_THAT(global_load_requests(counters),
               at_most(terms / 128 + elements / 4, "one for 128 terms, and the copies").none_at(2 * terms / 128));
    CHECK_THAT(shared_load_requests(counters), below(terms / 1024, "version 2 loads its operands from global memory"));
    CHECK_THAT(local_load_requests(counters), at_most(0, "the results stay in registers").none_at(terms / 128));
}

// In a warp of 8 × 4 threads each request touches one sector, 8 or 4 neighbours: 16 sectors for 2048 terms. 24 leave
// room for warps of 16 × 2 threads and for vector loads that use half of a sector. Without the transposed copy the 4
// rows of threads touch a sector each: 8 · 4 + 8 = 40, and nothing is left there. If a thread has 8 neighbouring
// elements instead of every eighth and loads them one by one, each request touches a sector for each of them: 8 · 4 + 8
// · 8 = 96. The copies may load n² sectors, one for each element, as they do if they read down columns.
TEST_CASE("step_v2 loads neighbours from both copies", "[public][counter]") {
    const auto counters = profile_step<step_v2>().total();
    CHECK_THAT(sectors_loaded(counters),
               at_most(24 * terms / 2048 + elements, "24 for 2048 terms, and the copies").none_at(40 * terms / 2048));
    CHECK_THAT(sectors_loaded(counters), at_least(elements / 8, "every element of d once"));
}

// A block loads 64 + 64 words for each k, 16 sectors, and computes 64 · 64 terms with them: half of version 2's
// sectors, in which the two warps of a block load what the other one loads too. Larger parts need fewer; n²/4 more
// leave room for a kernel that pads as well. Nothing is left at version 2's own.
constexpr std::uint64_t shared_sectors = 16 * terms / 4096 + elements / 4, sectors_of_v2 = 16 * terms / 2048;

// What a block shares it keeps in shared memory: each thread loads its operands from there, at best 16 + 16 words, 4 at
// a time, for 16 · 16 terms: 8 requests for 8192 terms. And an array of results whose index the compiler does not know
// lies in local memory; nothing is left where each operand that is loaded brings a result from there.
TEST_CASE("step_v3 shares what it loads", "[public][counter]") {
    const auto run = profile_step<step_v3>();
    const auto counters = working(run);
    CHECK_THAT(sectors_of_work(run),
               at_most(shared_sectors, "16 for 4096 terms, padding not counted").none_at(sectors_of_v2));
    CHECK_THAT(sectors_loaded(run), at_least(elements / 8, "every element of d once"));
    CHECK_THAT(shared_load_requests(counters), at_least(terms / 1024, "the operands come from shared memory"));
    CHECK_THAT(local_load_requests(counters), at_most(0, "the results stay in registers").none_at(terms / 128));
}

// Two barriers for each chunk of 4 k are n / 2 barriers a warp; one more for each chunk, and two at the ends, are
// allowed for. Nothing is left at two for each k. Barriers around nothing that is shared do not count.
TEST_CASE("step_v3 takes 4 k at a time", "[public][counter]") {
    const auto run = profile_step<step_v3>();
    const auto& kernel = counted(busiest(run));
    const auto warps_of_it = kernel.warps_launched;
    CHECK_THAT(sectors_of_work(run), below(sectors_of_v2, "what version 2 loads: first share, then wait less"));
    // A block of one warp waits with __syncwarp, which is not counted.
    if (busiest(run).config.block.count() > 32)
        CHECK_THAT(barriers(kernel), at_least(warps_of_it, "one for each warp"));
    CHECK_THAT(barriers(kernel), at_most(warps_of_it * (3 * counted_n / 4 + 2), "three for each 4 k and warp")
                                     .none_at(warps_of_it * 2 * counted_n));
}

// With a size that is a multiple of nothing, so that parts and chunks end beyond the matrix.
TEST_CASE("the checks find no mistakes in step_v1", "[public][checks]") { check_no_mistakes<step_v1>(); }

TEST_CASE("the checks find no mistakes in step_v2", "[public][checks]") { check_no_mistakes<step_v2>(); }

TEST_CASE("the checks find no mistakes in step_v3", "[public][checks]") { check_no_mistakes<step_v3>(); }

TEST_CASE("the checks find no mistakes in step_v4", "[public][checks]") { check_no_mistakes<step_v4>(); }

TEST_CASE("step_v3: speed for n = 256", "[public][speed]") {
    const int n = size_to_time(256, 960);
    const auto d = lengths(n);
    const auto compared = compare_with_starter<step_v3>(out<float>(n * n), in(d), n);
    INFO("the speed counts once the result is right");
    const auto& r = compared.submission.output;
    REQUIRE_THAT(r, equals_exactly(oracle::step(d, n)).shape(n, n));
    check_device_work(compared.submission, n);
    report_speedup(compared);
}

// The leaderboard: n³ additions and n³ minima, over the time of the whole call.
TEST_CASE("step_v4: speed for n = 384", "[public][speed][leaderboard]") {
    const int n = size_to_time(384, 960);
    const auto d = lengths(n);
    const auto compared = compare_with_starter<step_v4>(out<float>(n * n), in(d), n);
    INFO("the speed counts once the result is right");
    const auto& r = compared.submission.output;
    REQUIRE_THAT(r, equals_exactly(oracle::step(d, n)).shape(n, n));
    check_device_work(compared.submission, n);
    report_speedup(compared);  // which says no where no kernel was launched
    report_measurement("leaderboard", 2.0 * n * n * n / compared.submission.time_ns, "operations a ns");
}
