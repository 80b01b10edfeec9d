// Hidden tests of lab convolution's prelab: the questions at other sizes. The answers are found by counting where that
// is possible, not by the formulas that are asked for.
#include <tuple>
#include <vector>

#include "convolution.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

TEST_CASE("prelab: other tables and convolutions", "[hidden]") {
    const int bins = any_int(100, 16384);
    ask<constant_bytes>(4 * bins, {}, bins);
    check_convolution({-3, -2, -1, 0, 1, 2, 3}, {-1, 0, 1});
    check_convolution({5}, {1, 2, 3});
    check_convolution({1, -1}, {7});
    check_convolution({1, 2, 3}, {1, 2, 3, 4, 5, 6, 7});
    for (int round = 0; round < 3; ++round)
        check_convolution(integers<int>(any_int(1, 60), -100, 100), integers<int>(2 * any_int(0, 6) + 1, -100, 100));
}

TEST_CASE("prelab: what other masks and blocks load", "[hidden][counter]") {
    for (const auto& [rows, w] : std::vector<std::tuple<int, int>>{{4, 15}, {1, 9}, {8, 5}, {3, 1}}) {
        INFO("rows = " << rows << ", mask_width = " << w);
        ask<loads_per_product>(counted_loads(rows, w), {}, rows, w);
    }
    struct Predicted {
        int n, block, w, naive, constant, tiled;
    };
    std::vector<Predicted> all;
    for (const auto& [n, block, w] :
         std::vector<std::tuple<int, int, int>>{{4096, 256, 5}, {4096, 128, 15}, {2048, 512, 1}, {512, 256, 9}}) {
        INFO("n = " << n << ", block = " << block << ", mask_width = " << w);
        ask<cached_requests>(counted_listing(n, block, w), {}, n, block, w);
        all.push_back({n, block, w, submission().call<naive_requests>(n, block, w),
                       submission().call<constant_requests>(n, block, w),
                       submission().call<tiled_requests>(n, block, w)});
    }
    for (const auto& [n, block, w, naive, constant, tiled] : all) {
        INFO("n = " << n << ", block = " << block << ", mask_width = " << w);
        check_requests<conv1d_naive>(naive, 2 * w * n / 32, {}, n, block, w);
        check_requests<conv1d_constant>(constant, w * n / 32, {}, n, block, w);
        check_requests<conv1d_tiled>(tiled, n / block * ((block + w - 1 + 31) / 32), {}, n, block, w);
    }
}
