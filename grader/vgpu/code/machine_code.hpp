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

// ptxas moves an instruction past others, but not far: of a few bodies of a loop that do not wait for each other it
// mixes one or two (counted in machine code of sums of forces).
inline constexpr std::uint32_t moved_past_at_most = 24;

// Exact quotients and roots of floating-point numbers go another way for few of them. Nothing moves past that branch.
bool has_slow_path(const ptx::Instruction& in);

// The loads of shared memory that ptxas merges, in the order of their instructions. Uses the marks.
std::vector<MergedLoad> find_merged_loads(const Code& code, const FunctionCode& function, const ptx::Function& source);

}  // namespace warpgrade::vgpu
