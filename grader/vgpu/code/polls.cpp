#include "vgpu/code/polls.hpp"

#include <algorithm>
#include <set>

#include "vgpu/code/flow_graph.hpp"

namespace warpgrade::vgpu {
namespace {

bool is_ordered(const ptx::Instruction* in) {
    return in && std::ranges::any_of(in->modifiers, [](const auto& modifier) {
               return modifier == "volatile" || modifier == "relaxed" || modifier == "acquire" || modifier == "mmio";
           });
}

}  // namespace

bool polls(const Code& code, const FunctionView& view) {
    const auto& registers = view.registers();
    // Instructions that may see what others do. One that gives no value, as red, does not.
    std::set<std::uint32_t> asking;
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot) {
        const std::uint32_t insn = code.stat_insns[slot];
        if (code.stat_kinds[slot] != StatKind::GlobalAtomic &&
            !(code.stat_kinds[slot] == StatKind::GlobalLoad && is_ordered(view.source_of(insn))))
            continue;
        if (const auto own = registers.find(insn); own != registers.end() && !own->second.written.empty())
            asking.insert(insn);
    }
    if (asking.empty()) return false;
    for (const Loop& loop : find_loops(code, view.function())) {
        const std::uint32_t begin = code.blocks[loop.first].begin, end = code.blocks[loop.last].end;
        std::set<std::uint32_t> changed;
        for (auto insn = registers.lower_bound(begin); insn != registers.end() && insn->first <= end; ++insn)
            changed.insert(insn->second.written.begin(), insn->second.written.end());
        for (auto one = asking.lower_bound(begin); one != asking.end() && *one <= end; ++one)
            if (std::ranges::none_of(registers.at(*one).read, [&](std::uint32_t reg) { return changed.contains(reg); }))
                return true;
    }
    return false;
}

}  // namespace warpgrade::vgpu
