// A kernel's launch between two events.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <span>

#include "device/device.hpp"
#include "gpu/module.hpp"
#include "gpu/work_times.hpp"

namespace warpgrade::gpu {

CUresult launch_timed(const Kernel& kernel, const device::LaunchConfig& config, std::span<const std::byte> params,
                      CUstream stream, const WorkTimes::Events& events);

}  // namespace warpgrade::gpu
