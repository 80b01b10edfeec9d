// The graph of a kernel's basic blocks: which may follow which, and where the sides of a branch meet again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// True if threads may leave the function at the end of the block.
inline bool leaves(const BasicBlock& b) {
    return b.terminator == Terminator::Return || b.terminator == Terminator::Exit || b.terminator == Terminator::Trap;
}

// Calls f(block) for each block that may run after `block` in the same function.
template <class F>
void for_successors(const Code& code, std::uint32_t block, F&& f) {
    const BasicBlock& b = code.blocks[block];
    const bool jumps = b.terminator == Terminator::Branch || b.terminator == Terminator::Skip ||
                       b.terminator == Terminator::BranchIndexed;
    if (b.conditional || !(jumps || leaves(b))) f(block + 1);
    if (b.terminator == Terminator::BranchIndexed)
        for (const std::uint32_t target : code.branch_tables[b.target]) f(target);
    else if (jumps)
        f(b.target);
}

// Blocks from the target of a jump back to that jump.
struct Loop {
    std::uint32_t first = 0, last = 0;
    [[nodiscard]] std::uint32_t size() const { return last - first + 1; }
};
std::vector<Loop> find_loops(const Code& code, const FunctionCode& function);

// The block that holds an instruction.
inline std::uint32_t block_of(const Code& code, std::uint32_t insn) {
    const auto behind = std::ranges::upper_bound(code.blocks, insn, {}, &BasicBlock::begin);
    return static_cast<std::uint32_t>(behind - code.blocks.begin()) - 1;
}

// Immediate post-dominators of one function's blocks: where the sides of a branch meet again on every path.
class PostDominators {
  public:
    static constexpr std::uint32_t none = ~0u;

    PostDominators(const Code& code, const FunctionCode& function);

    // The blocks between the end of `block` and its post-dominator, and the post-dominator itself (`none` if the sides
    // meet only at the end of the function).
    [[nodiscard]] std::pair<std::vector<std::uint32_t>, std::uint32_t> region(std::uint32_t block) const;

  private:
    [[nodiscard]] std::vector<std::uint32_t> successors(std::uint32_t block) const;
    [[nodiscard]] std::uint32_t intersect(std::uint32_t a, std::uint32_t b) const;

    const Code& code_;
    std::uint32_t first_, exit_;         // block numbers here count from first_; exit_ stands for the function's end
    std::vector<std::uint32_t> number_;  // by block: its position in the backward walk's postorder
    std::vector<std::uint32_t> post_dominator_;
};

}  // namespace warpgrade::vgpu
