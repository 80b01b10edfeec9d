// Hidden tests of lab occupancy's prelab: the questions with other numbers. The answers are found by counting, not by
// the formulas that are asked for.
#include <utility>
#include <vector>

#include "judge/judge.hpp"
#include "occupancy.h"
#include "questions.hpp"

using namespace warpgrade::judge;

namespace {

int pick(int low, int high) { return integers<int>(1, low, high)[0]; }

int counted_warps(int threads) {
    int warps = 0;
    for (int covered = 0; covered < threads; covered += WARP_SIZE) ++warps;
    return warps;
}

// Puts blocks on a multiprocessor as long as everything is there for one more.
int counted_residents(int threads, int registers, int shared, int sm_registers, int sm_shared, int sm_warps,
                      int sm_blocks) {
    int blocks = 0;
    for (long long next = 1; next <= sm_blocks && next * registers * threads <= sm_registers &&
                             next * shared <= sm_shared && next * counted_warps(threads) <= sm_warps;
         ++next)
        ++blocks;
    return blocks;
}

void ask_residents(int threads, int registers, int shared, int sm_shared, int sm_warps, int sm_blocks) {
    const int blocks = counted_residents(threads, registers, shared, 65536, sm_shared, sm_warps, sm_blocks);
    ask<blocks_that_fit>(blocks, {}, threads, registers, shared, 65536, sm_shared, sm_warps, sm_blocks);
    ask<share_of_warps>(static_cast<double>(blocks) * counted_warps(threads) / sm_warps, {}, threads, registers, shared,
                        65536, sm_shared, sm_warps, sm_blocks);
}

}  // namespace

TEST_CASE("prelab: other blocks", "[hidden]") {
    // Exercise 8, compute capability 3.0.
    for (const int threads : {512, 128}) ask_residents(threads, 50, 0, 49152, 64, 16);
    // Exercise 15: tiles of the product on compute capability 3.5 and 5.0, two tiles of floats in shared memory.
    for (const int threads : {128, 256, 512, 1024}) {
        ask_residents(threads, 32, 2 * 4 * threads, 49152, 64, 16);
        ask_residents(threads, 40, 2 * 4 * threads, 65536, 64, 32);
    }
    ask_residents(320, 16, 0, 49152, 64, 16);  // 10 warps a block do not fill 64
    ask_residents(33, 40, 0, 49152, 32, 32);   // two warps, the second nearly empty
    for (int round = 0; round < 8; ++round)
        ask_residents(pick(1, 1024), pick(16, 128), pick(0, 1) * pick(1, 40000), 65536, 16 * pick(2, 4), pick(8, 32));
    ask<blocks_that_fit>(0, {}, 1024, 80, 0, 65536, 49152, 64, 16);  // not even one
    const int registers = pick(10, 255), threads = 32 * pick(1, 32);
    ask<registers_per_block>(registers * threads, {}, registers, threads);
    for (const auto& [most, square] : std::vector<std::pair<int, int>>{
             {1, 1}, {3, 1}, {4, 4}, {15, 4}, {63, 16}, {512, 256}, {1023, 256}, {1024, 1024}})
        ask<square_block>(square, {}, most);
}

TEST_CASE("prelab: what fits of the product, for other widths", "[hidden]") {
    check_predictions({{1, 32, {}, {}}, {2, 32, {}, {}}, {8, 32, {}, {}}, {32, 2, {}, {}}});
}
