// Public tests of lab first: a vector, any grid, an image.
#include "expectations.hpp"
#include "first.h"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

// The error of a launch is the host's to return; the arrays are not.
[[maybe_unused]] const bool by_host = returned_by_host<&scale_in_place>();

TEST_CASE("add_vectors adds whole blocks", "[public]") { profile_add(GENERATE(1024, 4096)); }

TEST_CASE("add_vectors adds when the last block is not full", "[public]") { profile_add(GENERATE(1000, 1025, 3)); }

// A grid of 300'000 elements has more blocks than a block may have threads: whoever confuses the two cannot launch it.
// Two arrays of n floats in sectors of 8 are n / 4 sectors. A warp whose 32 floats do not begin at a sector fetches one
// more than 4: blocks that are no multiple of 32 stay below 2 · n / 4. Threads whose elements lie 8 or more apart take
// 8 times as many.
TEST_CASE("add_vectors has a thread for each element", "[public][counter]") {
    const int n = GENERATE(10'000, 300'000);
    const auto run = profile_add(n);
    REQUIRE_THAT(launches(run), is(1));
    CHECK_THAT(measure("threads", threads_of(run.launches.front())), at_least(n, "one for each element"));
    CHECK_THAT(threads_per_block(run.launches.front()), at_least(32, "a whole warp"));
    CHECK_THAT(sectors_loaded(run), at_most(n / 2, "neighbouring threads load neighbouring elements").none_at(n));
}

// With grids of more threads than elements: those beyond the end must do nothing.
TEST_CASE("the checks find no mistakes in add_vectors", "[public][checks]") {
    const auto run = profile_add(GENERATE(3, 1000));
    CHECK_THAT(run, clean());
}

TEST_CASE("scale_in_place scales", "[public]") {
    const auto [n, blocks, threads] = GENERATE(table<int, int, int>({{256, 1, 256}, {1000, 8, 128}, {1000, 4, 256}}));
    profile_scale(n, blocks, threads);
}

TEST_CASE("scale_in_place scales with any grid", "[public]") {
    const auto [n, wide, threads] = GENERATE(table<int, int, int>({{1000, 2, 64}, {1000, 1, 1}, {5, 3, 32}}));
    const auto run = profile_scale(n, wide, threads);
    CHECK_THAT(blocks(run.launches.front()), is(wide, "as the caller asks for"));
    CHECK_THAT(threads_per_block(run.launches.front()), is(threads, "as the caller asks for"));
}

// Whole warps side by side: n / 8 sectors each way. A thread that has a piece of its own takes up to a sector for each
// element.
TEST_CASE("scale_in_place: neighbours take neighbours", "[public][counter]") {
    const int n = 16'000;
    const auto run = profile_scale(n, 2, 128);
    CHECK_THAT(sectors_loaded(run), at_most(n / 8 + n / 16, "n / 8 hold all elements").none_at(n / 4));
    CHECK_THAT(sectors_stored(run), at_most(n / 8 + n / 16, "n / 8 hold all elements").none_at(n / 4));
}

TEST_CASE("scale_in_place reports a launch that cannot work", "[public]") {
    const auto [blocks, threads] = GENERATE(table<int, int>({{4, 1025}, {4, 0}, {0, 64}}));
    check_reported(blocks, threads);
    profile_scale(100, 4, 32);  // and works again after that
}

TEST_CASE("the checks find no mistakes in scale_in_place", "[public][checks]") {
    const auto [n, blocks, threads] = GENERATE(table<int, int, int>({{1000, 2, 64}, {1000, 8, 256}}));
    const auto run = profile_scale(n, blocks, threads);
    CHECK_THAT(run, clean());
}

TEST_CASE("gray_image turns an image gray", "[public]") {
    const auto [width, height] = GENERATE(table<int, int>({{64, 32}, {100, 75}, {30, 200}}));
    profile_gray(width, height);
}

// Along a row, 32 pixels are 96 bytes, which each of three loads touches: 3 or 4 sectors. With blocks 4 pixels wide, a
// warp has 8 rows of 12 bytes, 10 sectors: a third of a sector for each pixel and load. Where x runs down the image,
// and in blocks one pixel wide, each pixel is a sector of its own.
TEST_CASE("gray_image has a thread for each pixel", "[public][counter]") {
    const int width = 200, height = 96;
    const auto run = profile_gray(width, height);
    REQUIRE_THAT(launches(run), is(1));
    const auto& config = run.launches.front().config;
    CHECK_THAT(measure("threads along x", config.grid.x * config.block.x), at_least(width, "the width"));
    CHECK_THAT(measure("threads along y", config.grid.y * config.block.y), at_least(height, "the height"));
    CHECK_THAT(sectors_loaded(run),
               at_most(width * height, "x along a row: neighbouring threads have neighbouring pixels")
                   .none_at(3 * width * height));
}

TEST_CASE("the checks find no mistakes in gray_image", "[public][checks]") {
    const auto [width, height] = GENERATE(table<int, int>({{100, 75}, {3, 2}}));
    const auto run = profile_gray(width, height);
    CHECK_THAT(run, clean());
}
