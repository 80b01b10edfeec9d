// Constant memory that a launch has read though nothing was ever written there.
#pragma once

#include <span>
#include <vector>

#include "device/diagnostic.hpp"
#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// Looks only at what the loads remember anyway: the variable that each has found last.
std::vector<device::Diagnostic> find_unset_constants(const Launch& launch, std::span<const Executor> executors);

}  // namespace warpgrade::vgpu
