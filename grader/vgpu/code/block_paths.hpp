// How long one warp takes for a basic block on its own: its instructions wait for each other's results.
#pragma once

#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

// Fills in BasicBlock::turns and BasicBlock::path of a function's blocks. Loads give their values at once: what a warp
// waits for them is counted by chains.hpp.
void find_block_paths(Code& code, const FunctionView& view);

}  // namespace warpgrade::vgpu
