// Device profiles: the limits of a compute capability and the rates of one GPU, as data. A lab runs on a slice of a
// profile: a few multiprocessors with their share of the bandwidth and of the L2 cache, so that a small problem fills
// the slice as a large one fills the real device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"

namespace warpgrade::vgpu {

class ProfileError : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct Profile {
    device::DeviceProperties properties;  // of the slice, if it is one
    std::uint32_t full_sms = 0;           // multiprocessors of the whole device
    std::uint32_t l2_halves =
        1;  // 2: each half of L2 holds what its multiprocessors use, so what all use is there twice

    // Per multiprocessor.
    double issue_per_cycle = 0;      // warp instructions
    std::uint32_t double_units = 0;  // results of arithmetic with doubles in a cycle

    // Latencies for one warp, in cycles.
    double arithmetic_latency = 0, shared_latency = 0, l1_latency = 0, l2_latency = 0, dram_latency = 0;

    [[nodiscard]] int compute_capability() const { return properties.major * 10 + properties.minor; }
    // The architecture for which programs on this device are compiled. nvcc 13 supports none before 75; an older device
    // runs that code within its own limits.
    [[nodiscard]] int compile_arch() const { return std::max(compute_capability(), 75); }
};

std::vector<std::string> profile_names();

// "h100", "h100:4" for a slice of four multiprocessors, "h100:all" for the whole device. Throws ProfileError, which
// lists the known names, for any other name.
Profile find_profile(std::string_view name);

// A slice of `sms` multiprocessors with their share of bandwidth and L2. Throws ProfileError unless 1 ≤ sms ≤ all.
Profile slice(const Profile& profile, std::uint32_t sms);

}  // namespace warpgrade::vgpu
