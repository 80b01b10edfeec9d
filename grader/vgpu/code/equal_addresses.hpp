// Which loads and stores have the addresses of an earlier one of their basic block, up to their offsets.
#pragma once

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// Compilers keep an address in a register and access [r], [r+4], [r+8] … Lanes that agree with the first access in
// shape agree with the others as well, as long as nothing writes the register. Sets Insn::same_addresses to the number
// of memory slots from the first access to this one. Needs Code::uses in the order of the instructions.
void find_equal_addresses(Code& code);

}  // namespace warpgrade::vgpu
