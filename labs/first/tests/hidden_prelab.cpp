// Hidden tests of lab first's prelab: the questions with other numbers. The answers are found by counting wherever that
// is possible, not by the formulas that are asked for.
#include <tuple>
#include <vector>

#include "first.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

namespace {

int pick(int low, int high) { return integers<int>(1, low, high)[0]; }

// Starts blocks until they cover n.
int counted_blocks(int n, int block) {
    int blocks = 0;
    for (long long covered = 0; covered < n; covered += block) ++blocks;
    return blocks;
}

}  // namespace

TEST_CASE("prelab: other vectors", "[hidden]") {
    for (const int n : {1, 255, 256, 257, pick(1, 1'000'000)}) {
        const int block = n < 300 ? 256 : 32 * pick(1, 32);
        ask<blocks_needed>(counted_blocks(n, block), {}, n, block);
        ask<idle_threads>(counted_blocks(n, block) * block - n, {}, n, block);
    }
    const int x = pick(2, 50), y = pick(2, 50), z = pick(2, 50);
    ask<blocks_in_grid>(x * y * z, {}, x, y, z);
    ask<largest_block_index>(x - 1, {}, x);

    // Numbered by counting through a whole block.
    const int block_x = pick(2, 12), block_y = pick(2, 12), block_z = pick(2, 7);
    const int wanted = pick(2, block_x * block_y * block_z - 1);
    int number = 0;
    for (int k = 0; k < block_z; ++k)
        for (int j = 0; j < block_y; ++j)
            for (int i = 0; i < block_x; ++i, ++number)
                if (number == wanted || number == 1) ask<thread_number>(number, {}, i, j, k, block_x, block_y);
    ask<warps_in_block>(counted_blocks(number, 32), {}, block_x, block_y, block_z);
    ask<warps_in_block>(3, {}, 13, 7, 1);
    ask<warps_in_block>(1, {}, 1, 1, 1);
}

TEST_CASE("prelab: other blocks and grids", "[hidden]") {
    for (const auto& [x, y, z] : std::vector<std::tuple<int, int, int>>{
             {1, 1, 1}, {1024, 1, 1}, {1, 1024, 1}, {1, 1, 64}, {16, 16, 4}, {8, 8, 16}, {31, 33, 1}})
        ask<block_is_possible>(true, {}, x, y, z);
    // The last ones have products that are 0 or small in 32 bits.
    for (const auto& [x, y, z] : std::vector<std::tuple<int, int, int>>{{1025, 1, 1},
                                                                        {1, 1025, 1},
                                                                        {2, 2, 65},
                                                                        {33, 32, 1},
                                                                        {0, 1, 1},
                                                                        {1, 1, 0},
                                                                        {-4, -4, 4},
                                                                        {65536, 65536, 1},
                                                                        {65536, 65537, 1}})
        ask<block_is_possible>(false, {}, x, y, z);
    const long long most = 2147483647;
    for (const auto& [x, y, z] : std::vector<std::tuple<long long, long long, long long>>{
             {1, 1, 1}, {most, 1, 1}, {1, 65535, 1}, {1, 1, 65535}, {most, 65535, 65535}})
        ask<grid_is_possible>(true, {}, x, y, z);
    for (const auto& [x, y, z] : std::vector<std::tuple<long long, long long, long long>>{
             {most + 1, 1, 1}, {1, 65536, 1}, {1, 1, 65536}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {-1, -1, 1}})
        ask<grid_is_possible>(false, {}, x, y, z);
}

TEST_CASE("prelab: other images", "[hidden]") {
    ask<image_idle_threads>(0, {}, 512, 480, 16, 16);
    ask<image_idle_threads>(6128, {}, 1000, 10, 16, 16);
    for (int round = 0; round < 3; ++round) {
        const int width = pick(10, 2000), height = pick(10, 2000), block_x = 1 << pick(2, 5), block_y = pick(1, 32);
        const int threads = counted_blocks(width, block_x) * block_x * counted_blocks(height, block_y) * block_y;
        ask<image_idle_threads>(threads - width * height, {}, width, height, block_x, block_y);
    }
    // Counted through a small image.
    const int width = pick(5, 9), height = pick(5, 9), wanted = pick(30, 70);
    int element = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < 3; ++channel, ++element)
                if (element == wanted || element == 2) ask<pixel_offset>(element, {}, x, y, channel, width);
}

TEST_CASE("prelab: other architectures", "[hidden]") {
    const std::vector<int> fermi_and_kepler{20, 30, 35}, kepler{30, 35}, many{90, 100, 75}, none, blackwell{100, 120};
    ask<nvcc_builds>(true, {}, 20, 20, in(fermi_and_kepler), 3);
    ask<nvcc_builds>(false, {}, 20, 30, in(fermi_and_kepler), 3);
    ask<nvcc_builds>(true, {}, 20, 30, in(kepler), 2);
    ask<nvcc_builds>(false, {}, 75, 20, in(fermi_and_kepler), 3);
    ask<nvcc_builds>(false, {}, 75, 70, in(none), 0);
    ask<nvcc_builds>(false, {}, 75, 80, in(many), 3);
    ask<nvcc_builds>(true, {}, 75, 75, in(many), 3);
    ask<nvcc_builds>(true, {}, 75, 100, in(blackwell), 2);

    ask<runs_on>(true, {}, 100, 0, in(blackwell), 2);
    ask<runs_on>(true, {}, 103, 0, in(blackwell), 2);
    ask<runs_on>(false, {}, 110, 0, in(blackwell), 2);
    ask<runs_on>(false, {}, 90, 100, in(blackwell), 2);
    ask<runs_on>(true, {}, 90, 90, in(blackwell), 2);
    ask<runs_on>(true, {}, 121, 75, in(none), 0);
    ask<runs_on>(false, {}, 90, 0, in(none), 0);
    ask<runs_on>(false, {}, 75, 80, in(many), 2);
    ask<runs_on>(true, {}, 37, 0, in(kepler), 2);
    ask<runs_on>(false, {}, 32, 0, in(fermi_and_kepler), 1);
}

TEST_CASE("prelab: what other sizes cost", "[hidden][counter]") {
    for (const int n : {1, 8, 33, 257, 4096, pick(5000, 20'000)}) ask_costs(n);
}
