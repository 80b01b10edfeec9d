// Hidden tests of lab matmul's prelab: the questions with other numbers. The answers are found by counting wherever
// that is possible, not by the formulas that are asked for.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "judge/judge.hpp"
#include "matmul.h"
#include "questions.hpp"

using namespace warpgrade::judge;

TEST_CASE("prelab: other products", "[hidden]") {
    const int width = 1 << any_int(3, 5), m = width * any_int(1, 60), k = width * any_int(1, 60),
              n = width * any_int(1, 60);
    const long long products = static_cast<long long>(m) * k * n;
    ask<naive_loads>(2 * products, {}, m, k, n);
    ask<tiled_loads>(2 * products / width, {}, m, k, n, width);
    ask<naive_loads>(2LL * 4096 * 4096 * 4096, {}, 4096, 4096, 4096);
    ask<tiled_loads>(4LL * 1024 * 1024 * 1024, {}, 4096, 4096, 4096, 32);
    const int rows = any_int(2, 16), columns = any_int(2, 16);
    ask<loads_per_operation>((rows + columns) / (1.0 * rows * columns), {}, rows, columns);
    ask<loads_per_operation>(1.0 / 32, {}, 64, 64);
    ask<loads_per_operation>(2.0, {}, 1, 1);
}

TEST_CASE("prelab: sectors and barriers of other sizes", "[hidden][counter]") {
    const auto size = [] { return static_cast<std::uint64_t>(16 * any_int(1, 5)); };
    ask_predictions({{32, 48, 80}, {size(), size(), size()}});
}

// Padding to 17 and 18, tiles of 32, stores to As[threadIdx.x][threadIdx.y], and anything.
TEST_CASE("prelab: wavefronts of other strides", "[hidden]") {
    for (const auto& [x, y] : std::vector<std::pair<int, int>>{
             {1, 0}, {1, 17}, {16, 1}, {17, 1}, {18, 0}, {32, 0}, {32, 1}, {33, 1}, {0, 0}, {0, 32}, {1, 32}, {20, 0}})
        ask<tile_wavefronts>(counted_wavefronts(x, y), {}, x, y);
    for (int round = 0; round < 4; ++round) {
        const int x = any_int(0, 70), y = any_int(0, 70);
        ask<tile_wavefronts>(counted_wavefronts(x, y), {}, x, y);
    }
}

TEST_CASE("prelab: other sums and other devices", "[hidden]") {
    ask_error_bound({3.0f}, {-0.25f});
    const int k = any_int(100, 500);
    ask_error_bound(uniform(k), uniform(k));
    auto a = uniform(2 * k, 1.0, 2.0), b = uniform(2 * k, 1.0, 2.0);
    for (int q = 0; q < k; ++q) a[2 * q + 1] = a[2 * q], b[2 * q + 1] = -b[2 * q];  // all cancels
    ask_error_bound(a, b);
    const double bandwidth = any_int(100, 4000), ratio = any_int(1, 64) / 8.0, peak = any_int(1, 9) * 1000.0;
    ask<attainable_gflops>(std::min(peak, bandwidth * ratio / 4), {}, ratio, bandwidth, peak);
    ask<attainable_gflops>(12000, {}, 16.0, 3000.0, 66900.0);
    ask<attainable_gflops>(800, {}, 16.0, 200.0, 10000.0);
}
