// How long one warp takes for a basic block on its own: its instructions wait for each other's results.
#pragma once

#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/register_places.hpp"

namespace warpgrade::vgpu {

// Fills in BasicBlock::turns and BasicBlock::path of a function's blocks. Loads give their values at once: what a warp
// waits for them is counted by chains.hpp.
void find_block_paths(Code& code, const FunctionCode& function, const ptx::Function& source,
                      const std::vector<RegisterAccess>& accesses);

}  // namespace warpgrade::vgpu
