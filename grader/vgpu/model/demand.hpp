// The resources that concurrent kernels share, and how much of each a kernel needs.
#pragma once

#include <array>
#include <cstdint>

namespace warpgrade::vgpu {

enum class Resource : std::uint8_t { issue, l1, l2, dram, link };
// How long a launch needs each Resource, in nanoseconds, if it has all of that resource on the whole device.
using Demand = std::array<double, 5>;

}  // namespace warpgrade::vgpu
