#include "vgpu/code/block_costs.hpp"

#include <algorithm>

#include "vgpu/code/chains.hpp"
#include "vgpu/code/flow_graph.hpp"
#include "vgpu/model/block_work.hpp"

namespace warpgrade::vgpu {
namespace {

// How long a warp waits for a load, in quarters of the latency of an addition; where it finds its data is not known.
constexpr std::uint32_t shared_wait = 24, other_wait = 200;
// What counts a loop's turns and jumps back, in each turn.
constexpr std::uint32_t loop_instructions = 3;

}  // namespace

void find_block_costs(Code& code, const FunctionCode& function) {
    std::uint32_t head = 0, until = 0;  // the outermost predicated branch and where its sides meet
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        BasicBlock& block = code.blocks[b];
        const bool has_jump = block.terminator == Terminator::Branch || block.terminator == Terminator::Skip;
        const std::uint64_t gone = block.cost.moves + (block.predicated_until > 0 || (b < until && has_jump) ? 1 : 0);
        const std::uint64_t instructions = block.size - std::min<std::uint64_t>(gone, block.size);
        const auto issued = static_cast<std::uint32_t>(instructions * issue_tenths::instruction +
                                                       block.cost.further * issue_tenths::further);
        const std::uint64_t spared = issue_tenths::instruction * loop_instructions * (block.turns - 1) / block.turns;
        code.blocks[b < until ? head : b].issue_tenths +=
            issued - static_cast<std::uint32_t>(std::min<std::uint64_t>(spared, issued));
        if (b >= until && block.predicated_until > 0) head = b, until = block.predicated_until;
        block.time = static_cast<std::uint32_t>(block.path / block.turns);
    }
    const auto block_with = [&](std::uint32_t insn) { return &code.blocks[block_of(code, insn)]; };
    const std::uint32_t begin = code.blocks[function.first_block].begin, end = code.blocks[function.end_block - 1].end;
    for (const MergedLoad& load : code.merged_loads) {
        if (load.insn < begin || load.insn > end) continue;
        BasicBlock& block = *block_with(load.insn);
        const auto spared = static_cast<std::uint32_t>(issue_tenths::instruction * (load.of - 1) / load.of);
        block.issue_tenths -= std::min(spared, block.issue_tenths);
    }
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot) {
        const std::uint32_t insn = code.stat_insns[slot];
        if (insn < begin || insn > end || !brings_a_value(code.stat_kinds[slot])) continue;
        const std::uint32_t turns = wait_of(code, insn).turns;
        if (turns == 0 && !std::ranges::binary_search(code.chained_loads, insn)) continue;
        const std::uint32_t wait = is_of_shared_memory(code.stat_kinds[slot]) ? shared_wait : other_wait;
        block_with(insn)->time += wait / std::max(turns, 1u);
    }
}

}  // namespace warpgrade::vgpu
