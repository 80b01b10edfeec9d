// What ptxas makes of PTX's expensive instructions.
#pragma once

#include "vgpu/model/machine_cost.hpp"
#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// Of one instruction of a warp. Measured on an H100 (tests/model/h100.md, "instructions"), for the ordinary case: what
// is subnormal, infinite or very large takes a longer way.
MachineCost machine_cost(const ptx::Instruction& in);

}  // namespace warpgrade::vgpu
