// Loads of a kernel's parameters, and accesses to those of a called function.
#pragma once

#include "vgpu/checks/watch.hpp"
#include "vgpu/code/decoder.hpp"

namespace warpgrade::vgpu {

// `width`: bytes of the registers. The elements' places and their number are decoded already.
void decode_parameter(InsnBuilder& b, Op op, const ptx::Operand& address, ptx::Type t, unsigned width);

}  // namespace warpgrade::vgpu
