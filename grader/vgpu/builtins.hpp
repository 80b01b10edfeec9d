// Functions that the hardware's runtime provides to kernels: printf, assert.
#pragma once

#include <string_view>

#include "vgpu/warp.hpp"

namespace warpgrade::vgpu {

// The index of a built-in function, or -1.
int find_builtin(std::string_view name);

// Performs the call for the lanes in the mask, in lane order. The site's arguments and results are places in the
// caller's frame, which is the warp's running one.
void call_builtin(Warp& w, const Insn& in, const CallSite& site, std::uint32_t mask);

}  // namespace warpgrade::vgpu
