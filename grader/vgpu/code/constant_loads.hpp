// Loads of constant memory that the machine does once for all lanes (ULDC): the compiler knows that their address does
// not depend on the thread, as in a loop through a table.
#pragma once

#include <vector>

#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

// Those of a function, by instruction. An instruction of the machine takes one operand that all lanes share, so a
// second one is loaded for each lane. Empty for a function that is called, whose arguments nobody knows, or that is too
// large to analyse.
std::vector<UniformLoad> find_uniform_loads(const Code& code, const FunctionView& view);

}  // namespace warpgrade::vgpu
