// The graph of a kernel's basic blocks: what may run after what, and where the sides of a branch meet again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

// Threads leave the function at the end of such a block, if its guard says so.
inline bool leaves(const BasicBlock& b) {
    return b.terminator == Terminator::Return || b.terminator == Terminator::Exit || b.terminator == Terminator::Trap;
}

// f(block) for the blocks that may run after `block` in the same function.
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

// The block that holds an instruction.
inline std::uint32_t block_of(const Code& code, std::uint32_t insn) {
    const auto behind = std::ranges::upper_bound(code.blocks, insn, {}, &BasicBlock::begin);
    return static_cast<std::uint32_t>(behind - code.blocks.begin()) - 1;
}

// Immediate post-dominators of one function's blocks: where the sides of a branch meet again, whatever they do.
class PostDominators {
  public:
    static constexpr std::uint32_t none = ~0u;

    PostDominators(const Code& code, const FunctionCode& function);

    // The blocks that are run on the way from the end of `block` to its post-dominator, and that one (or `none`: the
    // sides meet when the function ends).
    [[nodiscard]] std::pair<std::vector<std::uint32_t>, std::uint32_t> region(std::uint32_t block) const;

  private:
    [[nodiscard]] std::vector<std::uint32_t> successors(std::uint32_t block) const;
    [[nodiscard]] std::uint32_t intersect(std::uint32_t a, std::uint32_t b) const;

    const Code& code_;
    std::uint32_t first_, exit_;         // blocks count from first_ on here; exit_ stands for the function's end
    std::vector<std::uint32_t> number_;  // by block: when the backward walk left it
    std::vector<std::uint32_t> post_dominator_;
};

}  // namespace warpgrade::vgpu
