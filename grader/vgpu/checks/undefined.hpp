// Values that nothing has written, on their way through a warp's registers. Copying one is no error; using one is.
//
// A load that finds such a value ends fast execution of its basic block. While a register holds one, instructions run
// one by one: moves carry it on, computations with it are reported, and stores leave the memory undefined (for shared
// memory the value's origin is kept). Shuffles pass it to other lanes, calls to other functions. A reported value
// counts as defined from then on.
#pragma once

#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// Runs the instructions of a basic block and checks what its terminator uses. The caller runs the terminator.
void run_watched(Warp& warp, const BasicBlock& block, std::uint32_t mask);

// A collective begins: notes the undefined values that the lanes of the mask give to it in WarpWatch::exchanged. A
// shuffle passes its value on; anything else that it or another collective reads is used.
void gather_exchanged(Warp& warp, const Insn& in, std::uint32_t mask);
// A collective begins: its results count as written, and lanes that read from a lane outside the mask can be found.
void define_results(Warp& warp, const Insn& in, std::uint32_t mask);
// A shuffle is done: each lane of the mask has read from lane `from[lane]`.
void note_exchanged(Warp& warp, const Insn& in, const std::uint32_t* from, std::uint32_t mask);

// Copies what is known about parameters or results of a function, `bytes` for each lane, from one activation to
// another. Both addresses are those of lane 0.
void copy_undefined_parameters(Warp& warp, const std::byte* from, std::byte* to, std::uint64_t bytes,
                               std::uint32_t lanes);
// Parameters or results are overwritten.
void clear_undefined_parameters(Warp& warp, const std::byte* at, std::uint64_t bytes, std::uint32_t lanes);

}  // namespace warpgrade::vgpu
