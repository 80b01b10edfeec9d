// Values that nothing has written, on their way through a warp's registers. Copying them is no error, using them is.
//
// A load that finds such a value ends the fast way through a block. While a register holds one, instructions run one by
// one: what moves bits carries it on, what computes with it is reported, and a store leaves the memory undefined, and
// of shared memory it is known whose value that is. A value that was reported counts as defined from then on. What
// calls pass and shuffles exchange is not followed.
#pragma once

#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// Runs the instructions of a basic block and looks at what its terminator uses, which it leaves to the caller.
void run_watched(Warp& warp, const BasicBlock& block, std::uint32_t mask);

// A collective begins: what it gives counts as written, and who reads from a lane that takes no part can be told.
void define_results(Warp& warp, const Insn& in, std::uint32_t mask);

}  // namespace warpgrade::vgpu
