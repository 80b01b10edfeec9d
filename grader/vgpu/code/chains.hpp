// Which loads of a loop wait for loads of the turn before: `p = p->next`, bisection, loops of compare-and-swap. A warp
// has one of them in flight, however many others it could have.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/register_places.hpp"

namespace warpgrade::vgpu {

// The loads and atomics of a function, as sorted indices into Code::insns, whose address or operands depend on what
// they gave in an earlier turn: through registers, or because that decides which way a branch goes. Of those of one
// turn that do not wait for each other, as the fields of a node, only the first is listed. What depends through memory
// or through a call is not seen. Empty if the function is too large to analyse.
std::vector<std::uint32_t> find_chained_loads(const Code& code, const FunctionCode& function,
                                              const std::vector<RegisterAccess>& accesses);

}  // namespace warpgrade::vgpu
