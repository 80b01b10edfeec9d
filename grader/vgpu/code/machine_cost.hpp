// What ptxas makes of PTX's expensive instructions.
#pragma once

#include <vector>

#include "vgpu/model/machine_cost.hpp"
#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// Of one instruction of a warp. Measured on an H100 (tests/model/h100.md, "instructions"), for the ordinary case: what
// is subnormal, infinite or very large takes a longer way. `addresses`: by register, see address_registers.hpp.
MachineCost machine_cost(const ptx::Instruction& in, const std::vector<bool>& addresses = {});

// Of each instruction of the function's body; one that ptxas makes part of another is a move.
std::vector<MachineCost> machine_costs(const ptx::Function& function);

}  // namespace warpgrade::vgpu
