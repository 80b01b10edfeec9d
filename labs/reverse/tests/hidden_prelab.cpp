// Hidden tests of the prelab: other arrays, accesses and sizes. The answers are found by counting.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "reverse.h"

using namespace warpgrade::judge;

namespace {

int pick(int low, int high) { return integers<int>(1, low, high)[0]; }

}  // namespace

TEST_CASE("prelab: other arrays in shared memory", "[hidden]") {
    const int k = pick(1, 2000), l = pick(1, 2000), m = pick(1, 2000);
    ask<shared_bytes>(4 * k + 4 * l + 4 * m, {}, k, l, m);
    ask<offset_of_third>(4 * k + 4 * l, {}, k, l);
    for (const int alignment : {1, 2, 4, 8, 16}) {
        for (const int taken : {0, 1, pick(2, 500), 16 * pick(1, 30)}) {
            int offset = taken;
            while (offset % alignment != 0) ++offset;
            ask<aligned_offset>(offset, {}, taken, alignment);
        }
    }
}

TEST_CASE("prelab: other wavefronts of a warp", "[hidden]") {
    for (const int stride : {1, 2, 3, 4, 6, 8, 12, 16, 17, 24, 31, 32, 33, 64, pick(65, 2000)}) {
        ask<wavefronts>(counted_wavefronts(stride, 4), {}, stride, 4);
        ask<wavefronts>(counted_wavefronts(stride, 8), {}, stride, 8);
    }
    ask<wavefronts>(1, {}, 0, 4);
}

TEST_CASE("prelab: what the versions cost for other sizes", "[hidden][counter]") {
    for (const int n : {1, 32, 33, 1024, pick(34, 1023)}) ask_traffic(n);
    ask_strided(96);
    for (const int pitch : {33, 35, 36, 40, 48, 63, 64, pick(65, 200)})
        ask<rows_conflicts>(counted_conflicts(96, pitch), {}, 96, pitch);
}
