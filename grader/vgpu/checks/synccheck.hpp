// synccheck: barriers that threads reach in different places, and masks that do not fit the calling lanes.
//
// What is legal, according to the PTX manual and the CUDA programming guide:
//   - `bar` and `barrier.aligned` (__syncthreads() and similar): all threads of a warp execute the same instruction.
//     The guide requires the same of all threads of the block for __syncthreads(). Named barriers of inline assembly
//     (bar.sync 1, 64) connect different places of different warps on purpose.
//   - `barrier` without .aligned (cooperative groups): threads may meet in different places.
//   - Threads that have exited count as arrived, at barriers and in masks: `if (i >= n) return;` may stand before a
//     __syncthreads(). But a thread that skips the barrier and runs the code after it has missed it, though this works
//     since Volta: `if (i < n) { ...; __syncthreads(); } out[i] = 0;`. The last basic block that the thread ran before
//     its exit decides: if it can also run after the barrier, the thread has missed the barrier.
//   - Lanes may arrive at any time; some come late because others of their warp spin.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// Names for messages: "__syncthreads()" or "barrier 3"; "__shfl_down_sync()".
std::string barrier_name(const Insn& in, std::uint32_t id);
std::string collective_name(const Code& code, const Insn& in);

// The barrier is complete: reports threads that wait for it at different instructions.
void report_divergent_barrier(Executor& executor, BlockState& block, std::uint32_t barrier);
// The barrier is complete: reports threads that exited after they had missed it.
void report_missed_barrier(Executor& executor, BlockState& block, const Insn& barrier, std::uint32_t id);
// The call is complete: reports members of the mask that exited after they had missed it.
void report_missed_collective(Warp& warp, const Insn& in, std::uint32_t members, std::uint32_t callers);
// Reports lanes that call with a mask that does not contain them.
void report_mask_without_caller(Warp& warp, const Insn& in, std::uint32_t members, std::uint32_t strangers);

}  // namespace warpgrade::vgpu
