// Which registers of a kernel have the same value in all threads of a block, as far as a simple look tells: parameters,
// constants, addresses of variables, the block's place, and what is computed or loaded from these alone.
#pragma once

#include <vector>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// By register.
std::vector<bool> find_uniform_registers(const ptx::Function& kernel);

}  // namespace warpgrade::vgpu
