// Hidden tests of lab histogram's prelab: other warps, other arrays.
#include "histogram.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

TEST_CASE("prelab: other warps", "[hidden]") {
    ask_warp(warp_of({32}));
    ask_warp(warp_of({16, 16}));
    ask_warp(warp_of({1, 31}));
    ask_warp(all_in(32, 256));
    ask_warp(all_in(32, 4));
}

// Less than a warp, whole blocks, one value more; a whole warp of bins, and one bin more.
TEST_CASE("prelab: other arrays", "[hidden]") {
    for (const int n : {1, 2048, 2049, 33333}) check_predicted_global(n, (n + 31) / 32);
    check_predicted_shared(1, 1, 1);
    check_predicted_shared(8192, 32, 2);
    check_predicted_shared(8193, 33, 3 * 2);
    check_predicted_shared(33333, 256, 9 * 8);
    for (const int bytes : {2, 4, 8}) {
        ask<load_requests>(1, {}, bytes, bytes);
        ask<load_requests>(1, {}, 32 * bytes, bytes);
        ask<load_requests>(2, {}, 33 * bytes, bytes);
        ask<load_requests>(750, {}, 24000 * bytes, bytes);
    }
    check_predicted_few(1, 1, 8);
    check_predicted_few(7, 8, 7 * 8 * 8);
}
