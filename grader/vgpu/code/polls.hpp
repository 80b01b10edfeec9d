// Whether blocks of a kernel may wait for each other, or fetch their work from one place.
#pragma once

#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

// True if the function has a loop that asks for one place again and again: an atomic operation or an ordered load of
// global memory of which the loop changes no operand.
bool polls(const Code& code, const FunctionView& view);

}  // namespace warpgrade::vgpu
