// What ptxas changes when it makes machine code of PTX, as far as times depend on it: short branches become predicates,
// and neighbouring words of shared memory are loaded at once.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

// Marks those branches of a function that skip so little that ptxas executes it under a predicate, and which blocks
// become one by that: a stretch.
void find_predicated_branches(Code& code, const FunctionCode& function);

// The loads of shared memory that ptxas merges, in the order of their instructions. Uses the marks.
std::vector<MergedLoad> find_merged_loads(const Code& code, const FunctionCode& function, const ptx::Function& source);

}  // namespace warpgrade::vgpu
