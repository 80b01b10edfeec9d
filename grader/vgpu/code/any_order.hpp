// Whether a kernel has nothing but its races to make a result depend on the order in which its threads run.
#pragma once

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// True if only barriers and collectives order the kernel's threads, and no other instruction can tell which thread came
// first: no atomics, fences, volatile or ordered accesses, clocks, calls. If the barriers are of the whole block and
// the collectives of the whole warp, and there is no race, CUDA promises the same bits in each order. Instructions that
// are not known here count as able to tell.
bool is_order_independent(const ptx::Function& kernel);

}  // namespace warpgrade::vgpu
