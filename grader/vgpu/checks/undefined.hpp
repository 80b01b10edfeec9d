// Values that nothing has written, on their way through a warp's registers. Copying them is no error, using them is.
//
// A load that finds such a value ends the fast way through a block. While a register holds one, instructions run one by
// one: what moves bits carries it on, what computes with it is reported, and a store leaves the memory undefined, and
// of shared memory it is known whose value that is. Shuffles hand it to other lanes, calls to other functions. A value
// that was reported counts as defined from then on.
#pragma once

#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// Runs the instructions of a basic block and looks at what its terminator uses, which it leaves to the caller.
void run_watched(Warp& warp, const BasicBlock& block, std::uint32_t mask);

// What the lanes of the mask give to a collective that begins: undefined values are noted in Warp::watch.exchanged.
void gather_exchanged(Warp& warp, const Insn& in, std::uint32_t mask);
// A collective begins: what it gives counts as written, and who reads from a lane that takes no part can be told.
void define_results(Warp& warp, const Insn& in, std::uint32_t mask);
// A shuffle is done, in which each lane of the mask has read from the lane `from` says.
void note_exchanged(Warp& warp, const Insn& in, const std::uint32_t* from, std::uint32_t mask);

// Parameters or results of a function, `bytes` for each lane, are copied from one activation to another. Both
// addresses are those of lane 0.
void pass_on(Warp& warp, const std::byte* from, std::byte* to, std::uint64_t bytes, std::uint32_t lanes);
// They are written.
void forget_passed(Warp& warp, const std::byte* at, std::uint64_t bytes, std::uint32_t lanes);

}  // namespace warpgrade::vgpu
