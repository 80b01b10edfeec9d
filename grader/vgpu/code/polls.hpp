// Whether blocks of a kernel may wait for each other, or fetch their work from one place.
#pragma once

#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/register_places.hpp"

namespace warpgrade::vgpu {

// True if the function has a loop that asks for one place again and again: an atomic operation or an ordered load of
// global memory of which the loop changes no operand.
bool polls(const Code& code, const FunctionCode& function, const ptx::Function& source,
           const std::vector<RegisterAccess>& accesses);

}  // namespace warpgrade::vgpu
