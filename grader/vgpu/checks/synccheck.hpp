// synccheck: barriers that threads meet in different places, and masks that do not fit the lanes that call.
//
// What is legal, by the PTX manual and the CUDA programming guide:
//   - `bar` and `barrier.aligned` (__syncthreads() and its kin): all threads of a warp execute the same instruction.
//     For __syncthreads() the guide wants the same of all threads of the block. Named barriers of inline assembly
//     (bar.sync 1, 64) connect different places of different warps on purpose.
//   - `barrier` without .aligned (cooperative groups): threads may meet in different places.
//   - Threads that have exited count as arrived, at barriers as in masks: `if (i >= n) return;` may stand before a
//     __syncthreads(). But who passes by and goes on with what comes behind has missed it, though it works since
//     Volta: `if (i < n) { ...; __syncthreads(); } out[i] = 0;`. Told apart by the last basic block with code that
//     the thread ran before its exit: can it be run after the barrier as well?
//   - When lanes come is nobody's business: they may come late, because others of their warp spin.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// For messages: "__syncthreads()" or "barrier 3"; "__shfl_down_sync()".
std::string barrier_name(const Insn& in, std::uint32_t id);
std::string collective_name(const Code& code, const Insn& in);

// The barrier is complete, and its threads wait at more than one instruction.
void report_divergent_barrier(Executor& executor, BlockState& block, std::uint32_t barrier);
// The barrier is complete: who is not there has exited.
void look_for_departed(Executor& executor, BlockState& block, const Insn& barrier, std::uint32_t id);
// A call is complete: members that are not there have exited.
void look_for_departed_members(Warp& warp, const Insn& in, std::uint32_t members, std::uint32_t callers);
// Lanes call with a mask that does not name them.
void report_foreign_mask(Warp& warp, const Insn& in, std::uint32_t members, std::uint32_t strangers);

}  // namespace warpgrade::vgpu
