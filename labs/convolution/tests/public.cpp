// Public tests of lab convolution: right sums in every version, and the counters that prove where the operands come
// from.
#include <cstdint>

#include "convolution.h"
#include "expectations.hpp"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

namespace {

void check_tile_is_used(const warpgrade::device::Counters& counters) {
    const char* const why = "one for every second warp: the tile is in shared memory";
    CHECK_THAT(shared_store_requests(counters), at_least(counters.warps_launched / 2, why));
    CHECK_THAT(shared_load_requests(counters), at_least(counters.warps_launched / 2, why));
}

}  // namespace

TEST_CASE("conv1d_naive convolves", "[public]") {
    const auto [n, w] = GENERATE(table<int, int>({{15, 5}, {512, 3}, {1000, 15}}));
    check_1d<conv1d_naive>(n, w);
}

TEST_CASE("conv1d_constant convolves", "[public]") {
    const auto [n, w] = GENERATE(table<int, int>({{15, 5}, {512, 3}, {1000, 15}}));
    check_version<conv1d_constant>(n, w);
}

TEST_CASE("conv1d_tiled convolves", "[public]") {
    const auto [n, w] = GENERATE(table<int, int>({{15, 5}, {512, 3}, {1000, 15}}));
    check_version<conv1d_tiled>(n, w);
}

TEST_CASE("conv2d_tiled convolves, borders included", "[public]") {
    const auto [height, width, w] = GENERATE(table<int, int, int>({{5, 5, 3}, {32, 32, 5}, {48, 70, 9}, {64, 32, 15}}));
    check_2d<conv2d_tiled>(height, width, w);
}

TEST_CASE("conv2d_registers convolves", "[public]") {
    const auto [height, width, w] = GENERATE(table<int, int, int>({{8, 8, 3}, {64, 64, 5}, {50, 70, 15}}));
    check_2d<conv2d_registers>(height, width, w);
}

// Each of the n threads adds up w products (fewer at the borders). With both operands in global memory that are 2·n·w
// loads of a thread, 32 of them in a request: n·w / 16. A mask in constant memory, which is counted apart, leaves one
// load a product: n·w / 32; 1.4 times as many with warps that are not full, as in blocks of 100 threads, or with loops
// over the weights that meet no ghost. And never less than every element of N once: n / 8 sectors of 8 floats.
//
// Shared memory is the next version's matter; without it, a mask that does not come from global memory comes from
// constant memory (or from the kernel's parameters, which lie there too).
TEST_CASE("conv1d_constant loads no mask from global memory", "[public][counter]") {
    const auto [n, w] = GENERATE(table<std::uint64_t, int>({{2048, 5}, {4096, 15}}));
    const auto counters = check_1d<conv1d_constant>(static_cast<int>(n), w).total();
    const double elements = static_cast<double>(n * w) / 32;
    CHECK_THAT(
        global_load_requests(counters),
        at_most(1.4 * elements, "one for 32 products, the element of N, and a few more").none_at(1.9 * elements));
    CHECK_THAT(sectors_loaded(counters), at_least(n / 8, "every element of N once"));
    const char* const why = "the tile in shared memory is for conv1d_tiled";
    CHECK_THAT(shared_load_requests(counters), is(0, why));
    CHECK_THAT(shared_store_requests(counters), is(0, why));
}

// Each element of N is loaded by the block that it belongs to: n / 32 requests when 32 neighbouring threads load
// together, and n / 8 sectors. The halo adds w - 1 <= 14 elements a block: one request if the threads that load it are
// neighbours, two if the left and the right part are loaded apart. A tile that begins w / 2 elements before a sector
// adds one sector a request. Twice the least has room for all that with blocks of 64 threads or more (2 + 2 requests
// for 64 elements, and 10 + 3 sectors). A block that leaves the halo in global memory needs w - 1 requests more, 22
// instead of 8 for 256 threads and w = 15: that is nearly good, and gets a part of the points; the versions without a
// tile need 15 times the least. (Larger than constant memory is the second array, so that it cannot lie there.)
TEST_CASE("conv1d_tiled loads each element once for a block", "[public][counter]") {
    const auto [n, w] = GENERATE(table<std::uint64_t, int>({{2048, 15}, {20480, 13}}));
    const auto counters = check_1d<conv1d_tiled>(static_cast<int>(n), w).total();
    CHECK_THAT(global_load_requests(counters),
               at_most(2 * n / 32, "every element of N once, and the halos").none_at(4 * n / 32));
    CHECK_THAT(sectors_loaded(counters), at_most(2 * n / 8, "every element of N once, and the halos"));
    CHECK_THAT(sectors_loaded(counters), at_least(n / 8, "every element of N once"));
    check_tile_is_used(counters);
    CHECK_THAT(sectors_stored(counters), at_most(2 * n / 8, "twice the sectors of P"));
}

// With w = 5 the halo is 2 wide. A tile for 32 x 8 elements has 36 x 12; loaded in steps of the block's own size, each
// of its 12 rows takes a request for 32 elements and one for 4: 24 requests for 256 elements, 3 for 32. 36 floats that
// begin 2 before a sector lie in 6 sectors: 72 for 256 elements, 0.28 for each. For 16 x 16 elements it is 20 x 20:
// 8 + 8 requests for the first 16 rows and 2 + 2 for the last 4, 2.5 for 32 elements; 3 + 2 sectors a row, 0.4 for each
// element. For 8 x 32 elements it is 12 x 36 and 2 + 2 sectors a row, 0.53 for each at these sizes. Allowed are 4
// requests for 32 elements and 0.55 sectors for each element. Without a tile it takes 25 requests for 32 elements, and
// above 6 with a halo that stays in global memory; from 8 on there are no points.
//
// A warp that reads 32 neighbouring words of the tile has no bank conflicts. One that reads 16 words of each of two
// rows may have one more wavefront for each access: that costs time, which the next test measures, but is allowed here.
TEST_CASE("conv2d_tiled loads tiles with their halo", "[public][counter]") {
    const auto [height, width] = GENERATE(table<std::uint64_t, std::uint64_t>({{64, 64}, {96, 192}}));
    const auto n = height * width;
    const auto counters = check_2d<conv2d_tiled>(static_cast<int>(height), static_cast<int>(width), 5).total();
    CHECK_THAT(global_load_requests(counters), at_most(4 * n / 32, "4 for 32 elements of P").none_at(8 * n / 32));
    CHECK_THAT(sectors_loaded(counters),
               at_most(0.55 * static_cast<double>(n), "0.55 for each element of P").none_at(n));
    CHECK_THAT(sectors_loaded(counters), at_least(n / 8, "every element of N once"));
    check_tile_is_used(counters);
    CHECK_THAT(bank_conflicts(counters), at_most(shared_requests(counters), "one for each request"));
    CHECK_THAT(sectors_stored(counters), at_most(2 * n / 8, "twice the sectors of P"));
}

// With one element for each thread, each product takes a load of its own, from a tile or from global memory: n·w·w / 32
// requests. With four, one below the other, w + 3 elements of a column serve 4·w products: for w = 15, 0.3 of that;
// with two, 0.53. A tile for 32 x 32 elements has 46 x 46: 92 requests to fill it for 32 · 225 products, 0.01. Weights
// in constant memory are not counted; those in shared memory are loads like the others, once for the sums of a thread:
// 0.25 for four. All points for 0.6, none from 0.9 on.
TEST_CASE("conv2d_registers uses what it loads for several sums", "[public][counter]") {
    const std::uint64_t height = 160, width = 128, w = 15, products = height * width * w * w;
    const auto counters = check_2d<conv2d_registers>(height, width, w).total();
    const double requests =
        global_load_requests(counters).number.value() + shared_load_requests(counters).number.value();
    const double per_product = 32.0 * requests / static_cast<double>(products);
    CHECK_THAT(measure("requests to load from global and shared memory, for 32 products", per_product),
               at_most(0.6, "each element that is loaded serves at least two sums").none_at(0.9));
    CHECK_THAT(local_load_requests(counters), is(0, "sums and elements stay in registers"));
    CHECK_THAT(sectors_loaded(counters), at_least(height * width / 8, "every element of N once"));
}

namespace {

// The sums must be right, and the device's.
template <auto function>
void compare_speed(int size, int w) {
    const auto N = uniform(size * size), M = uniform(w * w);
    const auto compared = compare_with_starter<function>(in(N), in(M), out<float>(size * size), size, size, w);
    INFO("the speed counts once the sums are right");
    const auto right = oracle::convolution(N, M, size, size, w, w);
    const auto& P = compared.submission.output;
    REQUIRE_THAT(P, near(right.expected).shape(size, size));
    check_device_work(compared.submission, right.products);
    report_speedup(compared);
}

}  // namespace

// With sizes that leave the last blocks incomplete.
TEST_CASE("the checks find no mistakes in conv1d_constant", "[public][checks]") {
    const auto run = check_1d<conv1d_constant>(1000, 5);
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in conv1d_tiled", "[public][checks]") {
    const int w = GENERATE(3, 15);
    const auto run = check_1d<conv1d_tiled>(1000, w);
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in conv2d_tiled", "[public][checks]") {
    const int w = GENERATE(3, 9);
    const auto run = check_2d<conv2d_tiled>(48, 70, w);
    CHECK_THAT(run, clean());
}

TEST_CASE("the checks find no mistakes in conv2d_registers", "[public][checks]") {
    const int w = GENERATE(3, 15);
    const auto run = check_2d<conv2d_registers>(50, 70, w);
    CHECK_THAT(run, clean());
}

TEST_CASE("speed of conv2d_tiled on 256 × 256 elements", "[public][speed]") {
    compare_speed<conv2d_tiled>(size_to_time(256, 1024), 15);
}

TEST_CASE("speed of conv2d_registers on 256 × 256 elements", "[public][speed]") {
    compare_speed<conv2d_registers>(size_to_time(256, 1024), 15);
}
