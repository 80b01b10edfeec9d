// Hidden tests of lab convolution: sizes around the edges of blocks and tiles, every mask, special values, and calls in
// a row.
#include <vector>

#include "convolution.h"
#include "expectations.hpp"
#include "judge/judge.hpp"

using namespace warpgrade::judge;

TEST_CASE("arrays of every size, also smaller than the mask", "[hidden][checks]") {
    for (const int n : {1, 2, 6, 31, 33, 63, 127, 129, 255, 256, 257, 511, 513, 1025}) {
        check_version<conv1d_constant>(n, 15);
        check_version<conv1d_tiled>(n, 15);
        check_version<conv1d_tiled>(n, 3);
    }
    check_1d<conv1d_naive>(257, 7);
}

TEST_CASE("masks of every width in one dimension", "[hidden]") {
    for (int w = 1; w <= MAX_MASK_WIDTH; w += 2) {
        check_version<conv1d_constant>(300, w);
        check_version<conv1d_tiled>(700, w);
    }
}

TEST_CASE("images of every shape, also smaller than the mask", "[hidden][checks]") {
    const auto [height, width] = GENERATE(table<int, int>(
        {{1, 1}, {1, 40}, {40, 1}, {2, 3}, {15, 17}, {16, 16}, {17, 15}, {31, 33}, {33, 65}, {5, 130}, {100, 7}}));
    check_2d<conv2d_tiled>(height, width, 3);
    check_2d<conv2d_tiled>(height, width, 7);
    check_2d<conv2d_tiled>(height, width, 15);
}

TEST_CASE("masks of every width in two dimensions", "[hidden]") {
    for (int w = 1; w <= MAX_MASK_WIDTH; w += 2) check_2d<conv2d_tiled>(37, 50, w);
}

// Several rows a thread, of which the last may not be there; and weights of zero beyond the mask's edge would turn an
// infinity into a NaN.
TEST_CASE("conv2d_registers takes every shape and mask", "[hidden][checks]") {
    const auto [height, width, w] = GENERATE(table<int, int, int>({{1, 1, 15},
                                                                   {1, 40, 3},
                                                                   {40, 1, 7},
                                                                   {31, 33, 9},
                                                                   {33, 65, 1},
                                                                   {34, 31, 5},
                                                                   {35, 32, 11},
                                                                   {5, 130, 13},
                                                                   {100, 7, 15}}));
    check_2d<conv2d_registers>(height, width, w);
    const int size = 48;
    check_2d<conv2d_registers>(with_special_values(size, size), uniform(w * w, 0.25, 1.0), size, size, w);
}

// Whole numbers whose partial sums all stay within 225 · 4095 · 15 = 13,820,625 < 2^24: single precision holds each of
// them, so that every order of the additions gives the same, exact result. 4095 has 12 bits, half precision holds 11.
TEST_CASE("whole numbers come out exactly", "[hidden]") {
    const int height = 40, width = 40, w = MAX_MASK_WIDTH;
    const auto exact = [](const oracle::Convolution& right) {
        return std::vector<float>(right.expected.value.begin(), right.expected.value.end());
    };
    const auto N = integers<float>(height * width, -4095, 4095), M = integers<float>(w * w, -15, 15);
    const auto image = submission().profile<conv2d_tiled>(in(N), in(M), out<float>(N.size()), height, width, w);
    const auto right = oracle::convolution(N, M, height, width, w, w);
    {
        const auto& P = image.output;
        CHECK_THAT(P, equals_exactly(exact(right)).shape(height, width));
    }
    check_device_work(image, right.products);

    const int n = height * width;
    const auto row = std::vector<float>(M.begin(), M.begin() + w);
    const auto array = submission().profile<conv1d_tiled>(in(N), in(row), out<float>(n), n, w);
    const auto right_row = oracle::convolution(N, row, 1, n, 1, w);
    {
        const auto& P = array.output;
        CHECK_THAT(P, equals_exactly(exact(right_row)));
    }
    check_device_work(array, right_row.products);
}

// A NaN and an infinity reach exactly the elements on which the mask covers them: the oracle's double precision treats
// them as float does. The mask has no zeros, so that no product of zero and infinity makes a difference. One of each
// stands at the right border, where the next row begins.
TEST_CASE("NaN and infinity stay within reach of the mask", "[hidden]") {
    const int height = 48, width = 48, w = 5;
    const auto N = with_special_values(height, width);
    check_2d<conv2d_tiled>(N, uniform(w * w, 0.25, 1.0), height, width, w);
    const auto M = uniform(w, 0.25, 1.0);
    check_1d<conv1d_constant>(N, M);
    check_1d<conv1d_tiled>(N, M);
}

// A mask that is left over from the call before, or from another function, is wrong in values and in width.
TEST_CASE("each call sets its own mask", "[hidden]") {
    check_1d<conv1d_constant>(100, 9);
    check_1d<conv1d_tiled>(100, 9);
    check_2d<conv2d_tiled>(20, 30, 5);
    check_1d<conv1d_tiled>(100, 5);
    check_1d<conv1d_constant>(100, 5);
    check_1d<conv1d_naive>(100, 5);
    check_2d<conv2d_tiled>(20, 30, 7);
    check_2d<conv2d_tiled>(20, 30, 3);
}

TEST_CASE("sizes that the contract excludes leave P alone", "[hidden]") {
    const auto N = uniform(64), M = uniform(17 * 17), before = uniform(64);
    const auto check_untouched = [&](const auto& run) {
        const auto& P = run.output;
        CHECK_THAT(P, equals_exactly(before));
        CHECK_THAT(launches(run), is(0));
    };
    SECTION("in one dimension") {
        const auto [n, w] =
            GENERATE(table<int, int>({{0, 3}, {-1, 3}, {64, 0}, {64, -3}, {64, 4}, {64, 16}, {64, 17}}));
        INFO("n = " << n << ", mask_width = " << w);
        check_untouched(submission().profile<conv1d_constant>(in(N), in(M), inout(before), n, w));
        check_untouched(submission().profile<conv1d_tiled>(in(N), in(M), inout(before), n, w));
    }
    SECTION("in two dimensions") {
        const auto [height, width, w] = GENERATE(
            table<int, int, int>({{0, 8, 3}, {8, 0, 3}, {-8, -8, 3}, {8, 8, 0}, {8, 8, -1}, {8, 8, 2}, {8, 8, 17}}));
        INFO("height = " << height << ", width = " << width << ", mask_width = " << w);
        check_untouched(submission().profile<conv2d_tiled>(in(N), in(M), inout(before), height, width, w));
    }
    SECTION("and the narrowest mask that it allows is applied") {
        check_1d<conv1d_constant>(64, 1);
        check_1d<conv1d_tiled>(64, 1);
        check_2d<conv2d_tiled>(8, 8, 1);
    }
}
