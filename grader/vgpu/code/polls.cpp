#include "vgpu/code/polls.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "vgpu/code/flow_graph.hpp"

namespace warpgrade::vgpu {

bool polls(const Code& code, const FunctionCode& function, const ptx::Function& source,
           const std::vector<RegisterAccess>& accesses) {
    std::set<std::uint32_t> ordered_lines;
    for (const ptx::Instruction& in : source.body)
        if (std::ranges::any_of(in.modifiers, [](const auto& modifier) {
                return modifier == "volatile" || modifier == "relaxed" || modifier == "acquire" || modifier == "mmio";
            }))
            ordered_lines.insert(in.ptx_line);
    std::map<std::uint32_t, std::vector<std::uint32_t>> asked;  // by instruction that may see what others do: operands
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot) {
        const std::uint32_t insn = code.stat_insns[slot];
        if (code.stat_kinds[slot] == StatKind::GlobalAtomic ||
            (code.stat_kinds[slot] == StatKind::GlobalLoad && ordered_lines.contains(code.ptx_lines[insn])))
            asked[insn];
    }
    if (asked.empty()) return false;
    std::map<std::uint32_t, std::vector<std::uint32_t>> written;  // by instruction
    for (const RegisterAccess& access : accesses)
        if (access.kind != RegisterAccess::Kind::Read)
            written[access.insn].push_back(access.reg);
        else if (const auto asking = asked.find(access.insn); asking != asked.end())
            asking->second.push_back(access.reg);
    for (std::uint32_t b = function.first_block; b < function.end_block; ++b) {
        std::uint32_t first = b + 1;  // the first block of the loop that ends with this one
        for_successors(code, b, [&](std::uint32_t next) { first = std::min(first, next); });
        if (first > b || first < function.first_block) continue;
        const std::uint32_t begin = code.blocks[first].begin, end = code.blocks[b].end;
        std::set<std::uint32_t> changed;
        for (auto insn = written.lower_bound(begin); insn != written.end() && insn->first <= end; ++insn)
            changed.insert(insn->second.begin(), insn->second.end());
        for (auto asking = asked.lower_bound(begin); asking != asked.end() && asking->first <= end; ++asking)
            // One that gives no value, as red, has no part in it.
            if (written.contains(asking->first) &&
                std::ranges::none_of(asking->second, [&](std::uint32_t reg) { return changed.contains(reg); }))
                return true;
    }
    return false;
}

}  // namespace warpgrade::vgpu
