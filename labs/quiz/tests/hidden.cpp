// Hidden tests of lab quiz: the questions again, with the exercises' own numbers and with random ones. The answers are
// found by counting wherever that is possible, not by the formulas that are asked for.
#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "quiz.h"

using namespace warpgrade::judge;

namespace {

int pick(int low, int high) { return integers<int>(1, low, high)[0]; }
int pick_power(int low, int high) { return 1 << pick(low, high); }

// Starts blocks until they cover n.
int counted_blocks(int n, int block) {
    int blocks = 0;
    for (long long covered = 0; covered < n; covered += block) ++blocks;
    return blocks;
}

int counted_warps(int threads) { return counted_blocks(threads, 32); }

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
    ask<resident_blocks>(blocks, {}, threads, registers, shared, 65536, sm_shared, sm_warps, sm_blocks);
    ask<occupancy>(static_cast<double>(blocks) * counted_warps(threads) / sm_warps, {}, threads, registers, shared,
                   65536, sm_shared, sm_warps, sm_blocks);
}

int counted_sectors(int first, int stride) {
    std::set<int> touched;
    for (int lane = 0; lane < 32; ++lane) touched.insert((first + lane * stride) * 4 / 32);
    return static_cast<int>(touched.size());
}

int counted_wavefronts(int stride_bytes) {
    std::vector<std::set<int>> words(32);
    for (int lane = 0; lane < 32; ++lane) words[lane * stride_bytes / 4 % 32].insert(lane * stride_bytes / 4);
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return static_cast<int>(most);
}

// Runs the loop and looks at each warp's `if`.
template <class Takes>
int counted_divergence(int threads, int warp, const std::vector<int>& steps, Takes takes) {
    int divergent = 0;
    for (const int step : steps)
        for (int first = 0; first < threads; first += warp) {
            std::set<bool> ways;
            for (int t = first; t < first + warp; ++t) ways.insert(takes(t, step));
            divergent += ways.size() == 2;
        }
    return divergent;
}

void ask_divergence(int threads, int warp) {
    std::vector<int> rising, falling;
    for (int step = 1; step < threads; step *= 2) rising.push_back(step), falling.insert(falling.begin(), step);
    ask<divergent_interleaved>(
        counted_divergence(threads, warp, rising, [](int t, int step) { return t % (2 * step) == 0; }), {}, threads,
        warp);
    ask<divergent_halving>(counted_divergence(threads, warp, falling, [](int t, int step) { return t < step; }), {},
                           threads, warp);
}

// With the zeros written out on both sides.
void check_convolution(const std::vector<int>& n, const std::vector<int>& mask) {
    std::vector<int> padded(n.size() + mask.size() - 1, 0), expected(n.size(), 0);
    std::copy(n.begin(), n.end(), padded.begin() + static_cast<std::ptrdiff_t>(mask.size() / 2));
    for (std::size_t j = 0; j < n.size(); ++j)
        for (std::size_t i = 0; i < mask.size(); ++i) expected[j] += padded[j + i] * mask[i];
    const auto p = convolved(n, mask);
    CHECK_THAT(p, equals_exactly(expected));
}

}  // namespace

TEST_CASE("other vectors, grids and blocks", "[hidden]") {
    for (const int n : {1, 255, 256, 257, pick(1, 1'000'000), pick(1, 1'000'000)}) {
        const int block = n < 300 ? 256 : 32 * pick(1, 32);
        ask<blocks_needed>(counted_blocks(n, block), {}, n, block);
        ask<idle_threads>(counted_blocks(n, block) * block - n, {}, n, block);
    }
    const int x = pick(2, 50), y = pick(2, 50), z = pick(2, 50);
    ask<blocks_in_grid>(x * y * z, {}, x, y, z);
    ask<largest_block_index>(x - 1, {}, x);

    // Numbered by counting through a whole block.
    const int block_x = pick(2, 12), block_y = pick(2, 12), block_z = pick(2, 7);
    const int wanted = pick(1, block_x * block_y * block_z - 1);
    int number = 0;
    for (int k = 0; k < block_z; ++k)
        for (int j = 0; j < block_y; ++j)
            for (int i = 0; i < block_x; ++i, ++number)
                if (number == wanted || number == 1) ask<thread_number>(number, {}, i, j, k, block_x, block_y);
    ask<warps_in_block>(counted_warps(number), {}, block_x, block_y, block_z);
    ask<warps_in_block>(3, {}, 13, 7, 1);
    ask<warps_in_block>(1, {}, 1, 1, 1);
}

TEST_CASE("other blocks, possible and impossible", "[hidden]") {
    for (const auto& [x, y, z] : std::vector<std::tuple<int, int, int>>{
             {1, 1, 1}, {1024, 1, 1}, {1, 1024, 1}, {1, 1, 64}, {16, 16, 4}, {8, 8, 16}, {31, 33, 1}})
        ask<block_is_possible>(true, {}, x, y, z);
    // The last ones have products that are 0 or small in 32 bits.
    for (const auto& [x, y, z] : std::vector<std::tuple<int, int, int>>{{1025, 1, 1},
                                                                        {1, 1025, 1},
                                                                        {2, 2, 65},
                                                                        {33, 32, 1},
                                                                        {8, 8, 17},
                                                                        {0, 1, 1},
                                                                        {1, 1, 0},
                                                                        {-4, -4, 4},
                                                                        {65536, 65536, 1},
                                                                        {65536, 65537, 1}})
        ask<block_is_possible>(false, {}, x, y, z);
}

TEST_CASE("other images", "[hidden]") {
    ask<image_idle_threads>(0, {}, 512, 480, 16, 16);
    ask<image_idle_threads>(6128, {}, 1000, 10, 16, 16);
    for (int round = 0; round < 5; ++round) {
        const int width = pick(10, 2000), height = pick(10, 2000), block_x = pick_power(2, 5), block_y = pick(1, 32);
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

TEST_CASE("other architectures", "[hidden]") {
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

TEST_CASE("other occupancies", "[hidden]") {
    // Exercise 8, compute capability 3.0.
    for (const int threads : {512, 128}) ask_residents(threads, 50, 0, 49152, 64, 16);
    // Exercise 15: tiles of the product on compute capability 3.5 and 5.0, two tiles of floats in shared memory.
    for (const int threads : {128, 256, 512, 1024}) {
        ask_residents(threads, 32, 2 * 4 * threads, 49152, 64, 16);
        ask_residents(threads, 40, 2 * 4 * threads, 65536, 64, 32);
    }
    ask_residents(320, 16, 0, 49152, 64, 16);  // 10 warps a block do not fill 64
    ask_residents(33, 40, 0, 49152, 32, 32);   // two warps, the second nearly empty
    for (int round = 0; round < 12; ++round)
        ask_residents(pick(1, 1024), pick(16, 128), pick(0, 1) * pick(1, 40000), 65536, 16 * pick(2, 4), pick(8, 32));
    ask<resident_blocks>(0, {}, 1024, 80, 0, 65536, 49152, 64, 16);  // not even one
    const int registers = pick(10, 255), threads = 32 * pick(1, 32);
    ask<registers_per_block>(registers * threads, {}, registers, threads);
    for (const auto& [most, square] : std::vector<std::pair<int, int>>{
             {1, 1}, {3, 1}, {4, 4}, {15, 4}, {16, 16}, {63, 16}, {512, 256}, {1023, 256}, {1024, 1024}})
        ask<square_block>(square, {}, most);
}

TEST_CASE("other arrays in shared and constant memory", "[hidden]") {
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
    const int bins = pick(100, 16384);
    ask<constant_bytes>(4 * bins, {}, bins);
}

TEST_CASE("other strides in global memory", "[hidden]") {
    for (const int stride : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33, pick(10, 1000)}) {
        for (const int first : {0, pick(1, 7), pick(8, 1000)})
            ask<sectors>(counted_sectors(first, stride), {}, first, stride);
    }
}

TEST_CASE("other strides in shared memory", "[hidden]") {
    for (const int stride : {0, 1, 2, 3, 4, 6, 8, 12, 16, 17, 24, 31, 32, 33, 40, 64, pick(65, 2000)}) {
        ask<wavefronts>(counted_wavefronts(4 * stride), {}, stride);
        ask<byte_wavefronts>(counted_wavefronts(stride), {}, stride);
    }
    ask<byte_wavefronts>(counted_wavefronts(128), {}, 128);
}

TEST_CASE("other ratios and more neurons", "[hidden]") {
    ask<operations_per_access>(10.0, {}, 100.0, 10.0);
    ask<gflops>(375.0, {}, 150.0, 10.0);
    ask<operations_per_access>(0.75, {}, 3.0, 4.0);
    const double bandwidth = pick(100, 4000), ratio = pick(1, 64) / 8.0;
    ask<gflops>(bandwidth * ratio / 4, {}, bandwidth, ratio);
    ask<neuron_operations>(13, {}, 1, 0);
    ask<neuron_accesses>(7, {}, 1, 0);
    const int firing = pick(1, 500), quiet = pick(1, 500);
    ask<neuron_operations>(13 * firing + 12 * quiet, {}, firing, quiet);
    ask<neuron_accesses>(7 * firing + 6 * quiet, {}, firing, quiet);
}

TEST_CASE("other products", "[hidden]") {
    const int width = pick_power(3, 5), m = width * pick(1, 60), k = width * pick(1, 60), n = width * pick(1, 60);
    const long long products = static_cast<long long>(m) * k * n;
    ask<naive_loads>(2 * products, {}, m, k, n);
    ask<tiled_loads>(2 * products / width, {}, m, k, n, width);
    ask<naive_loads>(2LL * 4096 * 4096 * 4096, {}, 4096, 4096, 4096);
    ask<tiled_loads>(4LL * 1024 * 1024 * 1024, {}, 4096, 4096, 4096, 32);
    const int rows = pick(2, 16), columns = pick(2, 16);
    ask<loads_per_operation>((rows + columns) / (1.0 * rows * columns), {}, rows, columns);
    ask<loads_per_operation>(1.0 / 32, {}, 64, 64);
    ask<loads_per_operation>(2.0, {}, 1, 1);
}

TEST_CASE("other reductions", "[hidden]") {
    for (const int threads : {32, 64, 256, 512, 1024}) ask_divergence(threads, 32);
    ask_divergence(64, 16);
    ask_divergence(8, 8);
    ask_divergence(256, 8);
}

TEST_CASE("other convolutions", "[hidden]") {
    check_convolution({-3, -2, -1, 0, 1, 2, 3}, {-1, 0, 1});
    check_convolution({5}, {1, 2, 3});
    check_convolution({1, -1}, {7});
    check_convolution({1, 2, 3}, {1, 2, 3, 4, 5, 6, 7});
    for (int round = 0; round < 4; ++round)
        check_convolution(integers<int>(pick(1, 60), -100, 100), integers<int>(2 * pick(0, 6) + 1, -100, 100));
}
