// Hidden tests of lab convolution's prelab: the questions at other sizes. The answers are found by counting where that
// is possible, not by the formulas that are asked for.
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "convolution.h"
#include "judge/judge.hpp"
#include "questions.hpp"

using namespace warpgrade::judge;

namespace {

int pick(int low, int high) { return integers<int>(1, low, high)[0]; }

// With the zeros written out on both sides.
void check_convolution(const std::vector<int>& n, const std::vector<int>& mask) {
    std::vector<int> padded(n.size() + mask.size() - 1, 0), expected(n.size(), 0);
    std::copy(n.begin(), n.end(), padded.begin() + static_cast<std::ptrdiff_t>(mask.size() / 2));
    for (std::size_t j = 0; j < n.size(); ++j)
        for (std::size_t i = 0; i < mask.size(); ++i) expected[j] += padded[j + i] * mask[i];
    const auto p = convolved(n, mask);
    CHECK_THAT(p, equals_exactly(expected));
}

// Runs the loop of listing 8.16 for each warp and looks whether one of its threads goes to global memory.
int counted_listing(int n, int block, int mask_width) {
    int requests = n / 32;
    for (int warp = 0; warp < n; warp += 32)
        for (int i = 0; i < mask_width; ++i) {
            bool loads = false;
            for (int j = warp; j < warp + 32; ++j) {
                const int at = j - mask_width / 2 + i;
                if (at >= 0 && at < n && at / block != j / block) loads = true;
            }
            requests += loads;
        }
    return requests;
}

// A thread's column of the tile is as long as the mask and the sums below the first.
double counted_loads(int rows, int mask_width) {
    int loads = 0, products = 0;
    for (int at = 0; at < rows + mask_width - 1; ++at) {
        ++loads;
        for (int row = 0; row < rows; ++row) products += at >= row && at < row + mask_width;
    }
    return static_cast<double>(loads) / products;
}

}  // namespace

TEST_CASE("prelab: other tables and convolutions", "[hidden]") {
    const int bins = pick(100, 16384);
    ask<constant_bytes>(4 * bins, {}, bins);
    check_convolution({-3, -2, -1, 0, 1, 2, 3}, {-1, 0, 1});
    check_convolution({5}, {1, 2, 3});
    check_convolution({1, -1}, {7});
    check_convolution({1, 2, 3}, {1, 2, 3, 4, 5, 6, 7});
    for (int round = 0; round < 3; ++round)
        check_convolution(integers<int>(pick(1, 60), -100, 100), integers<int>(2 * pick(0, 6) + 1, -100, 100));
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
