// Public tests of lab transpose: each version transposes, and moves the elements in the way that it is about.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "transpose.h"

using namespace warpgrade::judge;

namespace {

// Sizes of the counter tests: whole tiles, also of 64 × 64, not square in the second row, and larger than constant
// memory.
struct Sizes {
    std::uint64_t rows, columns;
};
const std::vector<Sizes> counted_sizes{{192, 192}, {64, 320}};

// The matrix is transposed by one kernel, whose counters are returned.
template <auto function>
warpgrade::device::LaunchRecord profile_transposition(int rows, int columns) {
    const auto A = distinct_floats(rows * columns);
    const auto run = submission().profile<function>(in(A), out<float>(rows * columns), rows, columns);
    INFO("the counters are looked at once the matrix is transposed");  // few sectors of wrong data prove nothing
    const auto& B = run.output;
    REQUIRE_THAT(B, equals_exactly(oracle::transpose(A, rows, columns)).shape(columns, rows));
    check_device_work(run, rows, columns);
    return run.kernel();
}

// Each element is loaded once and stored once, and every sector that is touched is used whole: 8 floats of 4 bytes fill
// its 32 bytes. Vector loads, other blocks and larger tiles come to the same number. Tiles 4 floats wide use half of
// each sector, as blocks of 8 × 8 threads without a tile do: then nothing is left of the points.
void check_whole_sectors(const warpgrade::device::Counters& counters, std::uint64_t elements) {
    const auto whole = elements / 8;
    CHECK_THAT(sectors_loaded(counters), at_most(whole, "whole sectors, every element once").none_at(2 * whole));
    CHECK_THAT(sectors_stored(counters), at_most(whole, "whole sectors, every element once").none_at(2 * whole));
}

// The device's checks find nothing, in a kernel that transposes.
template <auto function>
void check_no_mistakes() {
    const int rows = 64, columns = 96;
    const auto A = distinct_floats(rows * columns);
    const auto run = submission().profile<function>(in(A), out<float>(rows * columns), rows, columns);
    CHECK_THAT(run, clean());
    const auto& B = run.output;
    CHECK_THAT(B, equals_exactly(oracle::transpose(A, rows, columns)).shape(columns, rows));
    if constexpr (function != transpose_naive) check_tile_is_used(run.total(), rows, columns);
}

}  // namespace

TEST_CASE("transpose_naive transposes whole tiles", "[public]") {
    const auto [rows, columns] = GENERATE(table<int, int>({{32, 32}, {64, 64}, {32, 96}, {160, 64}}));
    check_transposition<transpose_naive>(rows, columns);
}

TEST_CASE("transpose_shared transposes whole tiles", "[public]") {
    const auto [rows, columns] = GENERATE(table<int, int>({{32, 32}, {64, 64}, {32, 96}, {160, 64}}));
    check_transposition<transpose_shared>(rows, columns);
}

TEST_CASE("transpose_padded transposes whole tiles", "[public]") {
    const auto [rows, columns] = GENERATE(table<int, int>({{32, 32}, {64, 64}, {32, 96}, {160, 64}}));
    check_transposition<transpose_padded>(rows, columns);
}

// One side is in order: 32 neighbouring floats are 4 sectors, an eighth of a sector for each element. On the other side
// the threads of a warp stand in different rows of the matrix. With 32 × 32 threads all 32 do, and each element costs a
// sector of its own. Smaller blocks put several rows into a warp, whose elements lie side by side on the strided side:
// 16 × 16 threads touch half a sector for each element, 8 × 8 threads a quarter, and fewer it cannot be without wasting
// sectors on the other side. Either side may be the one in order.
TEST_CASE("transpose_naive pays for one strided side", "[public][counter]") {
    const auto [rows, columns] = GENERATE(from_range(counted_sizes));
    const auto counters = counted(profile_transposition<transpose_naive>(rows, columns));
    const std::uint64_t elements = rows * columns;
    const auto [in_order, strided] =
        std::minmax({sectors_loaded(counters).number.value(), sectors_stored(counters).number.value()});
    CHECK_THAT(measure("sectors on the side in order", in_order),
               is(elements / 8, "whole sectors, every element once"));
    CHECK_THAT(measure("sectors on the strided side", strided),
               between(elements / 4, elements, "a quarter to a whole one for each element"));
    CHECK_THAT(shared_requests(counters), is(0, "this version needs no shared memory"));
}

// With the tile both sides are in order. What its accesses to shared memory cost is for a later test, and only
// reported here: in a tile that is 32 floats wide, the 32 elements of a column lie in one bank, 31 wavefronts beyond
// the ideal. How threads wait is their own affair, since the results tell when they do not: for the block, or only for
// the warp where each warp has a tile of its own.
TEST_CASE("transpose_shared reads and writes whole sectors", "[public][counter]") {
    const auto [rows, columns] = GENERATE(from_range(counted_sizes));
    const auto counters = counted(profile_transposition<transpose_shared>(rows, columns));
    check_whole_sectors(counters, rows * columns);
    check_tile_is_used(counters, rows, columns);
    report_measurement("conflicts a load",
                       static_cast<double>(counters.shared_load_bank_conflicts) /
                           static_cast<double>(std::max<std::uint64_t>(counters.shared_load_requests, 1)),
                       "wavefronts");
}

TEST_CASE("transpose_padded reads and writes whole sectors", "[public][counter]") {
    const auto [rows, columns] = GENERATE(from_range(counted_sizes));
    const auto counters = counted(profile_transposition<transpose_padded>(rows, columns));
    check_whole_sectors(counters, rows * columns);
    check_tile_is_used(counters, rows, columns);
}

// The element in row y, column x of a tile with rows of w words lies in bank (w·y + x) % 32. Along a row the banks all
// differ. Down a column they differ when w·y % 32 does for 32 different y, that is for each odd w; 33 is the least that
// holds a row. Shifting each row by its number (a swizzle) does the same without the unused column. None is none.
//
// A warp of a narrower block has several rows of the tile, and 16 words with 16 others one odd pitch further share one
// bank: one conflict a request, which is not what this lab is about. Two unused columns make one conflict with each
// fetch, which leaves half of the points; with three conflicts a fetch, as from four unused columns, none are left.
// Each element is stored once and fetched once: more requests than two for 32 elements excuse no conflicts.
TEST_CASE("transpose_padded has no bank conflicts", "[public][counter]") {
    const auto [rows, columns] = GENERATE(from_range(counted_sizes));
    const auto launch = profile_transposition<transpose_padded>(rows, columns);
    const auto& counters = counted(launch);
    check_tile_is_used(counters, rows, columns);
    const bool whole_rows = launch.config.block.x % 32 == 0;
    const auto good = [&](std::uint64_t requests) {
        const auto at_least_one = std::clamp<std::uint64_t>(requests, 1, rows * columns / 16);  // 0: no tile yet
        return whole_rows ? is(0).none_at(2 * at_least_one)
                          : at_most(at_least_one, "one a request, with blocks this narrow").none_at(3 * at_least_one);
    };
    CHECK_THAT(store_bank_conflicts(counters), good(counters.shared_store_requests));
    CHECK_THAT(load_bank_conflicts(counters), good(counters.shared_load_requests));
}

// What a race shows in one order of the warps it may hide in another.
TEST_CASE("the checks find no mistakes in transpose_shared", "[public][checks]") {
    check_no_mistakes<transpose_naive>();
    check_no_mistakes<transpose_shared>();
}

TEST_CASE("the checks find no mistakes in transpose_padded", "[public][checks]") {
    check_no_mistakes<transpose_padded>();
}

// Only the kernel's time is compared. The copies between host and device are the same for every version and take longer
// than any of the kernels, as they do on a real GPU.
TEST_CASE("transpose_padded: speed on a 512 × 512 matrix", "[public][speed]") {
    const int n = size_to_time(512, 2048);
    const auto A = distinct_floats(n * n);
    const auto compared = compare_with_starter<transpose_padded>(in(A), out<float>(n * n), n, n);
    INFO("the speed counts once the matrix is transposed");
    const auto& B = compared.submission.output;
    REQUIRE_THAT(B, equals_exactly(oracle::transpose(A, n, n)).shape(n, n));
    check_device_work(compared.submission, n, n);
    check_tile_is_used(compared.submission.total(), n, n);
    report_kernel_speedup(compared);
}
