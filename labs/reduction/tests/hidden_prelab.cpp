// Hidden tests of lab reduction's prelab: other blocks and warps, other arrays.
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "questions.hpp"
#include "reduction.h"

using namespace warpgrade::judge;

TEST_CASE("prelab: other loops", "[hidden]") {
    for (const int threads : {32, 64, 256, 512, 1024}) ask_divergence(threads, 32);
    ask_divergence(64, 16);
    ask_divergence(8, 8);
    ask_divergence(256, 8);
}

// A single element, one more than a block takes, a whole number of blocks, a power of the block.
TEST_CASE("prelab: other sums and blocks", "[hidden]") {
    check_predicted_sum(1, 64, 1, 1);
    check_predicted_sum(65, 64, 2, 9 + 1);
    check_predicted_sum(1024, 32, 2, 128 + 4);
    check_predicted_sum(1025, 32, 3, 129 + 5 + 1);
    check_predicted_sum(30000, 1024, 2, 3750 + 4);
    for (const int B : {32, 128, 1024}) ask_blocks(B);
}
