// Which PTX instructions ptxas makes part of the one that uses their result: two logical operations, two sums, or a sum
// and a minimum become one machine instruction.
#pragma once

#include <vector>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// By instruction of the function's body.
std::vector<bool> find_fused(const ptx::Function& function);

}  // namespace warpgrade::vgpu
