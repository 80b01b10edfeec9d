// Hidden tests of the prelab: other accesses and sizes. The answers are found by counting.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "transpose.h"

using namespace warpgrade::judge;

namespace {

std::vector<int> strided(int first, int stride) {
    return lanes([&](int lane) { return first + lane * stride; });
}

// A warp that is rows of a block which is `width` wide: of a matrix whose rows begin `pitch` floats apart.
std::vector<int> several_rows(int width, int pitch) {
    return lanes([&](int lane) { return 4 * (lane / width * pitch + lane % width); });
}

}  // namespace

TEST_CASE("prelab: other accesses to global memory", "[hidden]") {
    for (const int stride : {0, 1, 3, 4, 7, 8, 9, 16, 33, any_int(10, 1000)}) {
        for (const int first : {0, any_int(1, 7), any_int(8, 1000)}) {
            const auto bytes = strided(4 * first, 4 * stride);
            ask<sectors>(counted_sectors(bytes), {}, in(bytes));
        }
    }
    for (const int width : {4, 8, 16}) {
        const auto bytes = several_rows(width, any_int(20, 500));
        ask<sectors>(counted_sectors(bytes), {}, in(bytes));
    }
    const auto bytes = scattered();
    ask<sectors>(counted_sectors(bytes), {}, in(bytes));
}

TEST_CASE("prelab: other accesses to shared memory", "[hidden]") {
    for (const int stride : {0, 1, 4, 6, 8, 12, 16, 17, 24, 31, 32, 33, 64, any_int(65, 2000)}) {
        for (const int bytes : {1, 4})
            ask<wavefronts>(counted_wavefronts(strided(0, bytes * stride)), {}, in(strided(0, bytes * stride)));
    }
    for (const int width : {1, 2, 4, 8, 16}) {
        for (const int pitch : {16, 17, 32, 33, 48}) {
            const auto bytes = several_rows(width, pitch);
            ask<wavefronts>(counted_wavefronts(bytes), {}, in(bytes));
        }
    }
    const auto bytes = scattered();
    ask<wavefronts>(counted_wavefronts(bytes), {}, in(bytes));
}

TEST_CASE("prelab: what the versions cost for other sizes", "[hidden][counter]") {
    for (const int pitch : {33, 34, 36, 40, 48, 63, 64, any_int(65, 200)}) ask_pitch(96, 128, pitch, {});
    ask_costs({{64, 192}, {256, 32}});
}
