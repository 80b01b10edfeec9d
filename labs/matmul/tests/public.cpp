// Public tests of lab matmul: right products, and the counters that prove what the tiles are for.
#include <cstdint>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "matmul.h"

using namespace warpgrade::judge;

namespace {

// Sizes of the counter tests: multiples of 32 (a tile of 32 × 32 is as welcome as one of 16 × 16), all different in the
// second row, so that no formula holds by accident.
struct Sizes {
    std::uint64_t m, k, n;
};
const std::vector<Sizes> counted_sizes{{64, 64, 64}, {96, 128, 160}};

auto profile_product(int m, int k, int n) {
    const auto A = uniform(m * k), B = uniform(k * n);
    auto run = submission().profile<matmul>(in(A), in(B), out<float>(m * n), m, k, n);
    INFO("the counters are looked at when the product is right");  // few loads of wrong data prove nothing
    REQUIRE_THAT(run.output, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
    check_device_work(run, m, k, n);
    return run;
}

}  // namespace

TEST_CASE("multiplies square matrices", "[public]") {
    const int n = GENERATE(16, 32, 64, 112);
    const auto A = uniform(n * n), B = uniform(n * n);
    const auto C = product_on_device(A, B, n, n, n);
    CHECK_THAT(C, near(oracle::matmul(A, B, n, n, n)).shape(n, n));
}

TEST_CASE("multiplies rectangular matrices", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{48, 16, 32}, {32, 64, 16}, {16, 96, 80}, {64, 32, 48}}));
    const auto A = uniform(m * k), B = uniform(k * n);
    const auto C = product_on_device(A, B, m, k, n);
    CHECK_THAT(C, near(oracle::matmul(A, B, m, k, n)).shape(m, n));
}

// With one thread for each element and no tiles, each of the m·n threads loads k elements of A and k of B: 2·m·n·k
// thread-level loads, 32 of them in a warp-level request: m·n·k / 16 requests. A tile that is w wide lets one load of
// an element serve w threads, so that w times fewer are left. w = TILE_WIDTH is the least that the task asks for; wider
// tiles, several elements a thread and vector loads need fewer still.
//
// Sectors (32 bytes, 8 floats) tell whether the loads are coalesced: A is read once for each column of tiles, n / w
// times, and B once for each row of tiles, m / w times: (m·k·n/w + k·n·m/w) / 8 = m·n·k / (4·w) sectors when every
// sector that is fetched is used whole. Without tiles a warp of 16 × 2 threads touches 2 + 2 sectors for each of the k
// terms: m·n·k / 8, and a solution whose neighbouring threads walk down a column touches far more.
//
// And never fewer than all of A and B once: whoever stays below did not do the work on the device.
TEST_CASE("global loads fall by the tile width", "[public][counter]") {
    const auto [m, k, n] = GENERATE(from_range(counted_sizes));
    const auto run = profile_product(m, k, n);
    const auto counters = run.total();
    CHECK(counters.global_load_requests <= m * n * k / 16 / TILE_WIDTH);
    CHECK(counters.global_load_sectors <= m * n * k / 4 / TILE_WIDTH);
    CHECK(counters.global_load_sectors >= (m * k + k * n) / 8);
}

// A warp's access to shared memory takes one wavefront when its lanes touch different banks or the same word, and one
// more for each further word in the busiest bank. Rows of a tile read and written along threadIdx.x have no conflicts.
// One extra wavefront in eight accesses is allowed: a 16-wide tile padded by a column, a sensible choice too, pays two
// for its stores among the 34 accesses of a turn. A tile read along its columns without padding pays several for each
// single access. Every warp must have used the tiles, else there is nothing to be free of conflicts.
TEST_CASE("tiles in shared memory have no bank conflicts", "[public][counter]") {
    const auto [m, k, n] = GENERATE(from_range(counted_sizes));
    const auto run = profile_product(m, k, n);
    const auto counters = run.total();
    CHECK(counters.shared_store_requests >= counters.warps_launched);
    CHECK(counters.shared_load_requests >= counters.warps_launched);
    const auto conflicts = counters.shared_load_bank_conflicts + counters.shared_store_bank_conflicts;
    CHECK(conflicts <= (counters.shared_load_requests + counters.shared_store_requests) / 8);
}

// m·n floats are m·n / 8 sectors. Each is written once, by neighbouring threads together; sums that go back to global
// memory in every turn of the loop, or neighbouring threads in different rows of C, write more.
TEST_CASE("each element of C is stored once", "[public][counter]") {
    const auto [m, k, n] = GENERATE(from_range(counted_sizes));
    const auto run = profile_product(m, k, n);
    CHECK(run.total().global_store_sectors == m * n / 8);
    CHECK(run.total().atomic_requests == 0);
}

TEST_CASE("speed on 256 × 256 matrices", "[public][speed]") {
    const int n = 256;
    const auto A = uniform(n * n), B = uniform(n * n);
    const auto compared = compare_with_starter<matmul>(in(A), in(B), out<float>(n * n), n, n, n);
    INFO("the speed is looked at when the product is right");
    REQUIRE_THAT(compared.submission.output, near(oracle::matmul(A, B, n, n, n)).shape(n, n));
    check_device_work(compared.submission, n, n, n);
    report_speedup(compared);
}
