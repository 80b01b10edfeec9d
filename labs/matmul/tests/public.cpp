// Public tests of lab matmul: right products, and for each version the counters that show what it saves.
#include <cstdint>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "matmul.h"

using namespace warpgrade::judge;

namespace {

struct Sizes {
    std::uint64_t m, k, n;
};
// Sizes of the counter tests: multiples of 32 (a tile of 32 × 32 is as welcome as one of 16 × 16), all different in the
// second row, so that no formula holds by accident.
const std::vector<Sizes> counted_sizes{{64, 64, 64}, {96, 128, 160}};
// For matmul_registers multiples of 128, so that 8 × 8 elements for each of 16 × 16 threads fit as well.
const std::vector<Sizes> wide_sizes{{128, 128, 128}, {128, 32, 256}};

// 2·n³ operations over the time of the kernel.
void report_rate(const Profile& run, double n) {
    report_measurement("achieved", 2 * n * n * n / run.kernel_time_ns(), "GFLOP/s");
}

}  // namespace

TEST_CASE("matmul_rows multiplies", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{32, 32, 32}, {48, 16, 32}}));
    check_product<matmul_rows>(m, k, n);
}

TEST_CASE("matmul_columns multiplies", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{32, 32, 32}, {48, 16, 32}, {16, 64, 48}}));
    check_product<matmul_columns>(m, k, n);
    check_begun<matmul_columns>();
}

TEST_CASE("matmul_one_block multiplies", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{16, 16, 16}, {32, 32, 32}, {16, 32, 16}, {32, 16, 16}}));
    check_product<matmul_one_block>(m, k, n);
    check_begun<matmul_one_block>();
}

TEST_CASE("matmul_one_block leaves C alone beyond its limit", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{48, 16, 16}, {16, 48, 16}, {16, 16, 48}}));
    const auto A = uniform(m * k), B = uniform(k * n), before = uniform(m * n);
    const auto run = submission().profile<matmul_one_block>(in(A), in(B), inout(before), m, k, n);
    const auto& C = run.output;
    CHECK_THAT(launches(run), is(0, "a size is larger than ONE_BLOCK_LIMIT"));
    CHECK_THAT(C, equals_exactly(before).shape(m, n));
    check_product<matmul_one_block>(16, 16, 16);  // doing nothing at all is not leaving C alone
    check_begun<matmul_one_block>();
}

TEST_CASE("matmul_tiled multiplies square matrices", "[public]") {
    const int n = GENERATE(16, 32, 64, 112);
    check_product<matmul_tiled>(n, n, n);
    check_begun<matmul_tiled>();
}

TEST_CASE("matmul_tiled multiplies rectangular matrices", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{48, 16, 32}, {32, 64, 16}, {16, 96, 80}, {64, 32, 48}}));
    check_product<matmul_tiled>(m, k, n);
    check_begun<matmul_tiled>();
}

TEST_CASE("matmul_registers multiplies", "[public]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{64, 64, 64}, {128, 16, 64}, {16, 96, 80}, {112, 32, 48}}));
    check_product<matmul_registers>(m, k, n);
    check_begun<matmul_registers>();
}

// A warp has 32 elements of C, and for each of their k terms it touches whole columns of A: with blocks of 16 × 16
// threads 16 rows, each in a sector of its own, and 2 neighbours in a row of B, in 1 sector. 17 sectors for 32 terms;
// 33 with 32 rows a warp, and with 8 rows and 4 columns still 9. Storing, the warp touches a sector for each row, too.
// One load of each operand for each multiplication, 2·m·n·k in all, or 2·m·n·k / 32 requests: 1 operation a load.
TEST_CASE("matmul_rows loads a column of A with every term", "[public][counter]") {
    const auto s = GENERATE(from_range(counted_sizes));
    const auto counters = profile_product<matmul_rows>(s.m, s.k, s.n).total();
    CHECK_THAT(operations_per_global_load(counters, s.m, s.k, s.n),
               is(1, "a thread loads one element of A and one of B for each multiplication"));
    CHECK_THAT(shared_load_requests(counters), is(0, "this version needs no shared memory"));
    CHECK_THAT(sectors_loaded(counters),
               at_least(9 * (s.m * s.n * s.k / 32), "a warp reads a column of A with every term"));
    CHECK_THAT(sectors_stored(counters), at_least(8 * (s.m * s.n / 32), "a warp stores to different rows of C"));
}

// The same number of loads, and more requests for them where blocks extend beyond C, as those of 24 × 24 threads do:
// some warps have few elements then. With 16 × 16 threads a warp covers 2 rows and 16 columns: 2 elements of A in 2
// sectors and 16 neighbours in B in 2 sectors, 4 for 32 terms; with 32 neighbours in one row it is 1 + 4 = 5, with 24
// in a row, at the edge, 6.4. Nothing is left at 9, the least in the order of matmul_rows. Stores: 32 elements fill 4
// sectors.
TEST_CASE("matmul_columns loads neighbours", "[public][counter]") {
    const auto s = GENERATE(from_range(counted_sizes));
    const auto counters = profile_product<matmul_columns>(s.m, s.k, s.n).total();
    CHECK_THAT(operations_per_global_load(counters, s.m, s.k, s.n),
               at_least(0.6, "one, for an element of A and one of B, or less at the edges"));
    CHECK_THAT(shared_load_requests(counters), is(0, "this version needs no shared memory"));
    const auto terms = s.m * s.n * s.k / 32;
    CHECK_THAT(sectors_loaded(counters),
               at_most(6.5 * terms, "5 for each term of a warp, and a few at the edges").none_at(9 * terms));
    CHECK_THAT(sectors_stored(counters), is(s.m * s.n / 8, "every element of C once"));
}

// All rows are multiples of 8 floats: A and B are m·k / 8 + k·n / 8 whole sectors. Each is touched once when
// neighbouring threads copy neighbouring elements and none is copied twice. A thread takes both operands of each term
// from shared memory: 2·m·n·k loads in 32 to a request, and fewer with registers and vectors: with 8 × 8 elements a
// thread, loaded four at a time, 4 requests for 64 products. Threads with four elements of a row that store them one by
// one touch each sector four times, which leaves most of the points; a column of C for a warp leaves none.
TEST_CASE("matmul_one_block loads each element once", "[public][counter]") {
    const auto s = GENERATE(from_range(std::vector<Sizes>{{16, 16, 16}, {32, 32, 32}, {32, 16, 8}, {16, 32, 24}}));
    const auto run = profile_product<matmul_one_block>(s.m, s.k, s.n);
    const auto counters = run.total();
    CHECK_THAT(blocks(run.kernel()), is(1));
    const auto once = (s.m * s.k + s.k * s.n) / 8;
    CHECK_THAT(sectors_loaded(counters), at_least(once, "every element of A and B once"));
    CHECK_THAT(sectors_loaded(counters), at_most(once, "every element of A and B once").none_at(2 * once));
    CHECK_THAT(shared_load_requests(counters),
               at_least(s.m * s.n * s.k / 32 / 16, "the operands come from shared memory"));
    const auto result = s.m * s.n / 8;
    CHECK_THAT(sectors_stored(counters),
               at_most(result, "every element of C once, by neighbouring threads").none_at(8 * result));
}

// A tile that is w wide lets one load of an element serve w threads: of the 2·m·n·k loads of matmul_columns, w times
// fewer are left, and the operations for each load, one without tiles, become w. w = TILE_WIDTH is the least that the
// task asks for; wider tiles, several elements a thread and vector loads give more.
//
// Sectors (32 bytes, 8 floats) tell whether the loads are coalesced: A is read once for each column of tiles, n / w
// times, and B once for each row of tiles, m / w times: (m·k·n/w + k·n·m/w) / 8 = m·n·k / (4·w) sectors when every
// sector that is fetched is used whole. Tiles of 8 × 8 need twice as many, and nothing is left of the points there;
// without tiles they are eight times as many (matmul_columns), and a solution whose neighbouring threads walk down a
// column touches far more. A tile of A that is 16 high and 8 deep has whole sectors as well, so that it is as good.
//
// And never fewer than all of A and B once: whoever stays below did not do the work on the device.
TEST_CASE("matmul_tiled: global loads fall by the tile width", "[public][counter]") {
    const auto [m, k, n] = GENERATE(from_range(counted_sizes));
    const auto counters = profile_product<matmul_tiled>(m, k, n).total();
    check_loads_shared_by_a_tile(counters, m, k, n);
    CHECK_THAT(sectors_loaded(counters), at_least((m * k + k * n) / 8, "every element of A and B once"));
}

// A warp's access to shared memory takes one wavefront when its lanes touch different banks or the same word, and one
// more for each further word in the busiest bank. Rows of a tile read and written along threadIdx.x have no conflicts.
// One extra wavefront in eight accesses is allowed: a 16-wide tile padded by a column, a sensible choice too, pays two
// for its stores among the 34 accesses of a turn. A tile read along its columns without padding pays several for each
// single access: 3.5 in the average, far beyond one in two, where the points end. A tile of A that is stored
// transposed, As[threadIdx.x][threadIdx.y], and read along its rows pays 8 for its stores, 0.2 in the average: some
// points go, since on an H100 it costs 45 %.
TEST_CASE("matmul_tiled: tiles have no bank conflicts", "[public][counter]") {
    const auto [m, k, n] = GENERATE(from_range(counted_sizes));
    check_few_conflicts(profile_product<matmul_tiled>(m, k, n).total(), m, k, n);
}

// m·n floats are m·n / 8 sectors. Each is written once, by neighbouring threads together; sums that go back to global
// memory in every turn of the loop, or neighbouring threads in different rows of C, write more.
TEST_CASE("matmul_tiled: each element of C is stored once", "[public][counter]") {
    const auto [m, k, n] = GENERATE(from_range(counted_sizes));
    const auto counters = profile_product<matmul_tiled>(m, k, n).total();
    CHECK_THAT(sectors_stored(counters), is(m * n / 8, "every element of C once"));
    CHECK_THAT(global_atomic_requests(counters), is(0));
}

// In matmul_tiled each multiplication takes two loads from shared memory: 1 operation a load, as it was with global
// memory in matmul_columns. A thread that computes r × r elements loads 2·r operands for r·r multiplications: r
// operations a load. r = REGISTER_TILE is the least that the contract asks for. What the block loads from global memory
// is shared as before, sums stay in registers (an array that the compiler cannot split up lies in local memory), and
// each element of C is stored once.
TEST_CASE("stretch: matmul_registers uses each load from shared memory four times", "[public][counter][stretch]") {
    const auto [m, k, n] = GENERATE(from_range(wide_sizes));
    const auto counters = profile_product<matmul_registers>(m, k, n).total();
    CHECK_THAT(operations_per_shared_load(counters, m, k, n), at_least(REGISTER_TILE, "REGISTER_TILE"));
    check_loads_shared_by_a_tile(counters, m, k, n);
    CHECK_THAT(local_load_requests(counters), is(0, "the sums stay in registers"));
    CHECK_THAT(local_store_requests(counters), is(0, "the sums stay in registers"));
    CHECK_THAT(sectors_stored(counters), is(m * n / 8, "every element of C once"));
    check_few_conflicts(counters, m, k, n);
}

TEST_CASE("the checks find no mistakes in matmul_columns", "[public][checks]") {
    check_no_mistakes<matmul_columns>(20, 16, 40);  // no whole blocks
}

TEST_CASE("the checks find no mistakes in matmul_one_block", "[public][checks]") {
    const auto [m, k, n] = GENERATE(table<int, int, int>({{16, 32, 24}, {9, 20, 5}}));
    check_no_mistakes<matmul_one_block>(m, k, n);
}

TEST_CASE("the checks find no mistakes in matmul_tiled", "[public][checks]") {
    check_no_mistakes<matmul_tiled>(48, 64, 32);
}

TEST_CASE("stretch: the checks find no mistakes in matmul_registers", "[public][checks][stretch]") {
    check_no_mistakes<matmul_registers>(64, 32, 128);
}

TEST_CASE("matmul_tiled: speed on 256 × 256 matrices", "[public][speed]") {
    const int n = size_to_time(256, 768);
    const auto A = uniform(n * n), B = uniform(n * n);
    const auto compared = compare_with_starter<matmul_tiled>(in(A), in(B), out<float>(n * n), n, n, n);
    INFO("the speed counts once the product is right");
    const auto& C = compared.submission.output;
    REQUIRE_THAT(C, near(oracle::matmul(A, B, n, n, n)).shape(n, n));
    check_device_work(compared.submission, n, n, n);
    report_kernel_speedup(compared);
    report_rate(compared.submission, n);
}

TEST_CASE("stretch: speed of matmul_registers on 256 × 256 matrices", "[public][speed][stretch]") {
    const int n = size_to_time(256, 768);
    const auto A = uniform(n * n), B = uniform(n * n);
    const auto compared = compare_with_starter<matmul_registers>(in(A), in(B), out<float>(n * n), n, n, n);
    INFO("the speed counts once the product is right");
    const auto& C = compared.submission.output;
    REQUIRE_THAT(C, near(oracle::matmul(A, B, n, n, n)).shape(n, n));
    check_device_work(compared.submission, n, n, n);
    report_kernel_speedup(compared);
    report_rate(compared.submission, n);
}
