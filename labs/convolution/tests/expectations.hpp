// What the tests of lab convolution ask of every version: sums near those in double precision, computed on the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "convolution.h"
#include "judge/judge.hpp"

namespace oracle {

// The convolution in double, how far a right solution in single precision may be from it, and how many of its products
// involve no ghost element.
//
// The bound is derived, not guessed (judge/compare.hpp, dot_bound). Each element is a sum of k = w · w products (k = w
// in one dimension): whatever the order of the additions, with or without fused multiply-add, and whether or not ghost
// elements are added as zeros, it differs from the exact sum by at most
//     gamma_k · sum |a·b|,   gamma_k = k·u / (1 - k·u),   u = 2^-24   (Higham, section 3.1).
// Operands rounded to half precision are off by about 2^-11 / sqrt(k) of the same sum: for the largest mask, k = 225,
// gamma_k is 1.3e-5 and the error of half precision 3.3e-5 in the average element, and larger in many.
struct Convolution {
    warpgrade::judge::Expected expected;
    std::uint64_t products = 0;
};

inline Convolution convolution(const std::vector<float>& N, const std::vector<float>& M, int height, int width,
                               int mask_height, int mask_width) {
    Convolution result;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            double sum = 0, magnitude = 0;
            for (int v = 0; v < mask_height; ++v) {
                for (int u = 0; u < mask_width; ++u) {
                    const int row = y - mask_height / 2 + v, column = x - mask_width / 2 + u;
                    if (row < 0 || row >= height || column < 0 || column >= width) continue;  // a ghost element
                    const double product = static_cast<double>(N[static_cast<std::size_t>(row) * width + column]) *
                                           M[static_cast<std::size_t>(v) * mask_width + u];
                    sum += product;
                    magnitude += std::abs(product);
                    ++result.products;
                }
            }
            result.expected.value.push_back(sum);
            result.expected.bound.push_back(warpgrade::judge::dot_bound(mask_height * mask_width, magnitude));
        }
    }
    return result;
}

}  // namespace oracle

// Who computes on the CPU and launches a kernel for show is right as well. One instruction of one thread adds at most
// one product to a sum; half of those that involve no ghost element leave room for cleverness.
inline void check_device_work(const warpgrade::judge::Profile& run, std::uint64_t products) {
    using namespace warpgrade::judge;
    const char* const why = "the sums must be computed on the device";
    CHECK_THAT(launches(run), at_least(1, why));
    CHECK_THAT(thread_instructions(run), at_least(products / 2, why));
}

// conv1d_constant and conv1d_tiled are not other versions under their names. With 32 products to a request, N takes
// mask_width requests for 32 elements of P, and the mask as many again where it is in global memory; half as many again
// are allowed for warps that are not full. From a tile that all share, wide masks take far fewer, even with a halo that
// stays in global memory. (Of few elements and narrow masks, other numbers of elements a thread make too much of the
// difference.)
template <auto function>
void check_operands(const warpgrade::device::Counters& counters, std::uint64_t n, std::uint64_t mask_width) {
    using namespace warpgrade::judge;
    const double with_constants = static_cast<double>((n + 31) / 32 * mask_width);
    constexpr bool tiled = function == conv1d_tiled;
    if (tiled) CHECK_THAT(shared_load_requests(counters), at_least(1, "the neighbours are in shared memory"));
    if (n < 256) return;
    if (!tiled && mask_width >= 3)
        CHECK_THAT(global_load_requests(counters), at_most(1.5 * with_constants, "the mask is in constant memory"));
    if (tiled && mask_width >= 9)
        CHECK_THAT(global_load_requests(counters),
                   at_most(0.75 * with_constants, "the neighbours are in shared memory"));
}

// Convolves n elements in the submission, checks the sums, and returns the profile. REQUIRE: the counters of a test are
// looked at when the sums are right.
template <auto function>
warpgrade::judge::Run<std::vector<float>> check_1d(const std::vector<float>& N, const std::vector<float>& M) {
    using namespace warpgrade::judge;
    const int n = static_cast<int>(N.size()), mask_width = static_cast<int>(M.size());
    INFO("n = " << n << ", mask_width = " << mask_width);
    const auto run = submission().profile<function>(in(N), in(M), out<float>(n), n, mask_width);
    const auto right = oracle::convolution(N, M, 1, n, 1, mask_width);
    const auto& P = run.output;
    REQUIRE_THAT(P, near(right.expected));
    check_device_work(run, right.products);
    return run;
}
template <auto function>
warpgrade::judge::Run<std::vector<float>> check_1d(int n, int mask_width) {
    using namespace warpgrade::judge;
    return check_1d<function>(uniform(n), uniform(mask_width));
}
// And its operands come from where they should.
template <auto function>
void check_version(int n, int mask_width) {
    check_operands<function>(check_1d<function>(n, mask_width).total(), n, mask_width);
}

// The same in two dimensions; the mask is square.
template <auto function>
warpgrade::judge::Run<std::vector<float>> check_2d(const std::vector<float>& N, const std::vector<float>& M, int height,
                                                   int width, int mask_width) {
    using namespace warpgrade::judge;
    INFO("height = " << height << ", width = " << width << ", mask_width = " << mask_width);
    const auto run =
        submission().profile<function>(in(N), in(M), out<float>(height * width), height, width, mask_width);
    const auto right = oracle::convolution(N, M, height, width, mask_width, mask_width);
    const auto& P = run.output;
    REQUIRE_THAT(P, near(right.expected).shape(height, width));
    check_device_work(run, right.products);
    return run;
}
template <auto function>
warpgrade::judge::Run<std::vector<float>> check_2d(int height, int width, int mask_width) {
    using namespace warpgrade::judge;
    return check_2d<function>(uniform(height * width), uniform(mask_width * mask_width), height, width, mask_width);
}

// An image with a NaN and infinities: one of each at the right border, where the next row begins.
inline std::vector<float> with_special_values(int height, int width) {
    using namespace warpgrade::judge;
    const int n = height * width;
    auto N = uniform(n);
    const auto place = [&](int x) {
        return static_cast<std::size_t>(integers<int>(1, 0, height / 2 - 1)[0] * width + x);
    };
    const auto lower_half = static_cast<std::size_t>(n / 2);
    N[place(width - 1)] = std::numeric_limits<float>::quiet_NaN();
    N[place(0) + lower_half] = std::numeric_limits<float>::infinity();
    N[place(20)] = std::numeric_limits<float>::infinity();
    N[place(20) + lower_half] = -std::numeric_limits<float>::infinity();
    return N;
}
