// Not handed out as source.
// How the prelab of lab convolution asks for predictions and a convolution; judge/questions.hpp asks all else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convolution.h"
#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"

// p of the contract's convolve.
inline std::vector<int> convolved(const std::vector<int>& n, const std::vector<int>& mask) {
    using namespace warpgrade::judge;
    const int width = static_cast<int>(n.size()), mask_width = static_cast<int>(mask.size());
    return submission().call<convolve>(in(n), width, in(mask), mask_width, out<int>(width));
}

// What the submission's own version takes, if it runs in blocks of this size. One that takes many more than `described`
// is another version, as long as this one is not written yet. (After a call that ended badly there are no others in a
// test, so ask for the predictions first.)
template <auto version>
void check_requests(int predicted, int described, const warpgrade::judge::Slips& slips, int n, int block,
                    int mask_width) {
    using namespace warpgrade::judge;
    const auto N = uniform(n), M = uniform(mask_width);
    const auto sums = near(oracle::convolution(N, M, 1, n, 1, mask_width).expected);
    const auto run = own_run<version>(sums, in(N), in(M), out<float>(n), n, mask_width);
    const bool comparable =
        run.launches.size() == 1 && run.launches.front().config.block.count() == static_cast<std::uint64_t>(block);
    const auto requests = global_load_requests(comparable ? run : Profile());
    check_prediction(predicted, unless_above(1.5 * described, requests), described, slips);
}

// p of the contract's convolve, by a convolution with the zeros written out on both sides.
inline void check_convolution(const std::vector<int>& n, const std::vector<int>& mask) {
    using namespace warpgrade::judge;
    std::vector<int> padded(n.size() + mask.size() - 1, 0), expected(n.size(), 0);
    std::copy(n.begin(), n.end(), padded.begin() + static_cast<std::ptrdiff_t>(mask.size() / 2));
    for (std::size_t j = 0; j < n.size(); ++j)
        for (std::size_t i = 0; i < mask.size(); ++i) expected[j] += padded[j + i] * mask[i];
    const auto p = convolved(n, mask);
    CHECK_THAT(p, equals_exactly(expected));
}

// Runs the loop of listing 8.16 for each warp and looks whether one of its threads goes to global memory.
inline int counted_listing(int n, int block, int mask_width) {
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
inline double counted_loads(int rows, int mask_width) {
    int loads = 0, products = 0;
    for (int at = 0; at < rows + mask_width - 1; ++at) {
        ++loads;
        for (int row = 0; row < rows; ++row) products += at >= row && at < row + mask_width;
    }
    return static_cast<double>(loads) / products;
}
