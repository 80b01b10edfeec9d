// What the tests of lab first ask: the oracles, and what a launch must look like.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "first.h"
#include "judge/context.hpp"
#include "judge/judge.hpp"

// One addition is rounded once, on the host as on the device, so that there is one right result.
inline std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] + b[i];
    return c;
}

// Multiplied once, and so rounded once.
inline std::vector<float> scaled(std::vector<float> x, float factor) {
    for (float& value : x) value *= factor;
    return x;
}

inline std::vector<unsigned char> grayed(const std::vector<unsigned char>& rgb) {
    std::vector<unsigned char> gray(rgb.size() / 3);
    for (std::size_t i = 0; i < gray.size(); ++i)
        gray[i] = static_cast<unsigned char>((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) / 256);
    return gray;
}

inline std::uint64_t threads_of(const warpgrade::device::LaunchRecord& launch) {
    return launch.config.grid.count() * launch.config.block.count();
}

// Each returns when the result is right.

inline auto profile_add(int n) {
    using namespace warpgrade::judge;
    INFO("n = " << n);
    const auto a = uniform(n), b = uniform(n);
    const auto run = submission().profile<add_vectors>(in(a), in(b), out<float>(n), n);
    CHECK_THAT(launches(run), at_least(1, "the device does the work"));
    const auto& c = run.output;
    REQUIRE_THAT(c, equals_exactly(sums(a, b)));
    return run;
}

inline auto profile_scale(int n, int blocks, int threads) {
    using namespace warpgrade::judge;
    INFO("n = " << n << ", blocks = " << blocks << ", threads = " << threads);
    const auto before = uniform(n);
    const float factor = uniform(1, 2, 3)[0];
    const auto run = submission().profile<scale_in_place>(inout(before), n, factor, blocks, threads);
    const auto& [error, x] = run.output;
    REQUIRE_THAT(x, equals_exactly(scaled(before, factor)));
    CHECK_THAT(measure("your answer (0: no error)", error), is(0));
    REQUIRE_THAT(launches(run), is(1));
    return run;
}

inline auto profile_gray(int width, int height) {
    using namespace warpgrade::judge;
    INFO("width = " << width << ", height = " << height);
    const auto rgb = integers<unsigned char>(3 * width * height, 0, 255);
    const auto run = submission().profile<gray_image>(in(rgb), out<unsigned char>(width * height), width, height);
    CHECK_THAT(launches(run), at_least(1, "the device does the work"));
    const auto& gray = run.output;
    REQUIRE_THAT(gray, equals_exactly(grayed(rgb)).shape(height, width));
    return run;
}

// A launch that cannot be: nothing runs, x stays as it is, and the error is returned. The program went on, or the call
// would have failed. It is CUDA that refuses the launch, which only a virtual GPU tells the judge; who knows the limits
// by heart knows those of one device.
inline void check_reported(int blocks, int threads) {
    using namespace warpgrade::judge;
    INFO("blocks = " << blocks << ", threads = " << threads);
    expect_findings("launch/configuration");
    const auto before = uniform(40);
    const auto run = submission().profile<scale_in_place>(inout(before), 40, 2.0f, blocks, threads);
    const auto& [error, x] = run.output;
    REQUIRE_THAT(x, equals_exactly(before));
    CHECK_THAT(measure("your answer (CUDA's error; 0 would be none)", error),
               at_least(1, "such a grid cannot be launched"));
    const auto refused = std::ranges::count_if(
        run.diagnostics, [](const auto& found) { return std::string_view(found.rule->id) == "launch/configuration"; });
    CHECK_THAT(measure("launches that CUDA refused", refused), at_least(1, "launch, and return what CUDA says of it"));
}
