// Which registers hold addresses: ptxas makes one instruction of a sum of 64 bits that it can fold into an address,
// and two of any other.
#pragma once

#include <vector>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// By register: false if its value goes anywhere but into addresses of memory, also by way of sums.
std::vector<bool> find_address_registers(const ptx::Function& function);

}  // namespace warpgrade::vgpu
