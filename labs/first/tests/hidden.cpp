// Hidden tests of lab first: other sizes, other grids, other images, and nothing to do.
#include <tuple>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "first.h"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

TEST_CASE("add_vectors adds other sizes", "[hidden][checks]") {
    for (const int n : {1, 2, 31, 32, 33, 127, 255, 256, 257, 1023, 2049, 70'001}) profile_add(n);
}

TEST_CASE("scale_in_place takes other grids", "[hidden][checks]") {
    for (const auto& [n, blocks, threads] : std::vector<std::tuple<int, int, int>>{
             {1, 1, 1}, {7, 1, 1024}, {4099, 3, 100}, {5000, 33, 32}, {12345, 5, 33}, {10, 200, 7}})
        profile_scale(n, blocks, threads);
    for (const auto& [blocks, threads] :
         std::vector<std::pair<int, int>>{{1, 2000}, {-1, 32}, {1, -32}, {0, 0}, {3, 1 << 20}})
        check_reported(blocks, threads);
}

TEST_CASE("gray_image takes other images", "[hidden][checks]") {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {1, 50}, {50, 1}, {16, 16}, {17, 15}, {33, 9}, {257, 3}, {5, 300}})
        profile_gray(width, height);
    // The ends of the range.
    for (const int value : {0, 255}) {
        const std::vector<unsigned char> rgb{
            0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, static_cast<unsigned char>(value), 1, 2};
        const auto gray = submission().call<gray_image>(in(rgb), out<unsigned char>(6), 3, 2);
        CHECK_THAT(gray, equals_exactly(grayed(rgb)).shape(2, 3));
    }
}

TEST_CASE("without elements or pixels nothing is launched", "[hidden]") {
    const auto some = uniform(8);
    for (const int n : {0, -1, -1000}) {
        INFO("n = " << n);
        const auto added = submission().profile<add_vectors>(in(some), in(some), inout(some), n);
        const auto& c = added.output;
        CHECK_THAT(c, equals_exactly(some));
        CHECK_THAT(launches(added), is(0));
        const auto scaled_run = submission().profile<scale_in_place>(inout(some), n, 2.0f, 1, 32);
        const auto& [error, x] = scaled_run.output;
        CHECK_THAT(x, equals_exactly(some));
        CHECK_THAT(measure("your answer (0: no error)", error), is(0));
        CHECK_THAT(launches(scaled_run), is(0));
    }
    const auto pixels = integers<unsigned char>(24, 0, 255);
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{0, 4}, {4, 0}, {-2, -2}}) {
        INFO("width = " << width << ", height = " << height);
        const auto run = submission().profile<gray_image>(in(pixels), inout(pixels), width, height);
        const auto& gray = run.output;
        CHECK_THAT(gray, equals_exactly(pixels));
        CHECK_THAT(launches(run), is(0));
    }
    profile_add(8);
    profile_scale(8, 1, 8);
    profile_gray(4, 2);
}
