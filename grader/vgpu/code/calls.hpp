// What calls take of functions that ptxas does not make part of their callers (container/called_functions.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// How many registers of its caller each function keeps on the stack that ptxas calls; those that it does not call are
// not here.
using SavedRegisters = std::unordered_map<std::string, std::uint32_t>;

// Adds what a call takes, and the way back, to the block with which the function begins, unless ptxas does not call it.
// Null: it calls all, which save nothing. Before find_block_costs, after find_block_paths.
void add_call_cost(Code& code, const FunctionCode& function, const SavedRegisters* saved);

}  // namespace warpgrade::vgpu
