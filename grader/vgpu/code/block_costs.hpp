// What a warp that runs a basic block costs its multiprocessor, to compare warps with each other.
#pragma once

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// Fills in BasicBlock::issue_tenths and BasicBlock::time, from predicated branches, merged loads, paths and waits. What
// a predicate guards is issued also for a warp that has no lanes there, which waits for none of its loads.
void find_block_costs(Code& code, const FunctionCode& function);

}  // namespace warpgrade::vgpu
