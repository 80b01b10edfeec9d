// Not handed out as source.
// How the prelab of lab occupancy asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "expectations.hpp"
#include "judge/errors.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "occupancy.h"

// The launch of matmul_dynamic with this width on an H100, if there is one. A kernel that crashes is told elsewhere:
// predictions are right before there is one. After a call that ended badly there are no others in a test, so ask first.
inline std::optional<warpgrade::device::LaunchRecord> launch_of(int width) {
    using namespace warpgrade::judge;
    const int size = MAX_WIDTH;
    const auto A = uniform(size * size), B = uniform(size * size);
    const auto product = near(oracle::matmul(A, B, size, size, size));
    const auto run = own_run<matmul_dynamic>(product, in(A), in(B), out<float>(size * size), size, size, size, width);
    if (run.launches.size() != 1 || running_device() != device_limits("h100")) return {};
    const auto& launch = run.launches.front();
    const bool of_width = launch.config.block.count() == static_cast<std::uint64_t>(width * width);
    return of_width ? std::optional(launch) : std::nullopt;
}

// What is predicted for a width: right is what the device said about a launch, or the blocks that follow for a kernel
// of 32 registers on an H100.
struct Fit {
    int width, blocks;
    warpgrade::judge::Slips for_blocks, for_share;
};

inline void check_predictions(const std::vector<Fit>& fits) {
    using namespace warpgrade::judge;
    std::vector<std::pair<int, double>> predicted;
    for (const Fit& fit : fits)
        predicted.emplace_back(submission().call<matmul_blocks>(fit.width),
                               submission().call<matmul_occupancy>(fit.width));
    for (std::size_t i = 0; i < fits.size(); ++i) {
        const auto& [width, described, for_blocks, for_share] = fits[i];
        const auto& [blocks, occupancy] = predicted[i];
        INFO("width = " << width);
        const int warps = (width * width + WARP_SIZE - 1) / WARP_SIZE;
        const auto share = [&](int of_blocks) { return of_blocks * warps / 64.0; };
        const auto launch = launch_of(width);
        const int told = launch ? static_cast<int>(launch->occupancy.blocks_per_multiprocessor) : 0;
        check_prediction(blocks, measure("resident blocks", told), described, for_blocks);
        check_prediction(occupancy, measure("occupancy", share(told)), share(described), for_share);
    }
}
