// Which loads of a loop wait for loads of the turn before: `p = p->next`, bisection, loops of compare-and-swap. A warp
// has one of them in flight, however many others it could have. And which go where the data says, or chance: `a[i[k]]`.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

// The loads and atomics of a function, as sorted indices into Code::insns, whose address or operands depend on what
// they gave in an earlier turn: through registers, or because that decides which way a branch goes. Of those of one
// turn that do not wait for each other, as the fields of a node, only the first is listed. What depends through memory
// or through a call is not seen. Empty if the function is too large to analyse.
struct LoopLoads {
    std::vector<std::uint32_t> chained;
    // With all those that are chained, the loads whose address comes from another load of the same turn, or from a
    // value that each turn multiplies or mixes, as a random number.
    std::vector<std::uint32_t> irregular;
    // Of all others, too, beside which a warp waits for them. ptxas moves the loads of four turns of a loop that counts
    // before their uses.
    std::vector<LoadWait> waits;
};
bool brings_a_value(StatKind kind);  // into registers
bool is_of_shared_memory(StatKind load);
// How a warp waits for this load. Of one that is not listed, no turns.
LoadWait wait_of(const Code& code, std::uint32_t insn);

LoopLoads find_loop_loads(const Code& code, const FunctionView& view);

}  // namespace warpgrade::vgpu
