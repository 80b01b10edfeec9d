// What a kernel needs of each resource that kernels which run at the same time share.
#pragma once

#include <array>
#include <cstdint>

namespace warpgrade::vgpu {

enum class Resource : std::uint8_t { issue, l1, l2, dram, link };
// For how long a launch needs each of them, in nanoseconds, by Resource: that of the whole device, and all of it.
using Demand = std::array<double, 5>;

}  // namespace warpgrade::vgpu
