// How a launch used memory and warps, by source line. Advice is made from it.
#pragma once

#include <span>

#include "vgpu/model/advice.hpp"
#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

LaunchUse measure_launch_use(const Launch& launch, std::span<const Executor> executors);

}  // namespace warpgrade::vgpu
