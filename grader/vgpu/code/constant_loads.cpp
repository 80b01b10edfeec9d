#include "vgpu/code/constant_loads.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "vgpu/code/flow_graph.hpp"
#include "vgpu/code/value_flow.hpp"

namespace warpgrade::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

constexpr std::size_t max_loops = 256;  // hostile code may have many

bool is_of_thread(const ptx::Operand& operand) {
    const std::string_view name = operand.symbol;
    return operand.kind == Kind::Special && !name.starts_with("%ctaid") && !name.starts_with("%nctaid") &&
           !name.starts_with("%ntid");
}

// True if what the instruction gives may be different in each lane although nothing that it reads is.
bool varies(const ptx::Instruction* in) {
    if (in == nullptr || in->is_call() || in->opcode == "activemask" || in->opcode == "atom") return true;
    const auto has = [&](std::string_view modifier) {
        return std::ranges::find(in->modifiers, modifier) != in->modifiers.end();
    };
    if (in->opcode == "ld") return !has("const") && !has("param");
    return has("sync") || std::ranges::any_of(in->operands, is_of_thread);
}

// True if the compiler knows both ends of the loop, and no branch in it stays one: ptxas then makes all turns one after
// the other, and knows the addresses.
bool is_unrolled(const Code& code, const FunctionView& view, const Loop& loop) {
    for (std::uint32_t b = loop.first; b < loop.last; ++b)
        if (code.blocks[b].terminator == Terminator::Branch && code.blocks[b].predicated_until == 0) return false;
    const std::uint32_t begin = code.blocks[loop.first].begin, end = code.blocks[loop.last].end;
    const auto decides = view.registers().find(end);
    if (decides == view.registers().end()) return false;
    const auto is_number = [](const ptx::Operand& operand) { return operand.kind == Kind::Immediate; };
    const auto writes = [](const Registers& all, const std::vector<std::uint32_t>& some) {
        return std::ranges::any_of(all.written, [&](std::uint32_t to) { return std::ranges::count(some, to) > 0; });
    };
    std::vector<std::uint32_t> counters;
    for (const auto& [insn, all] : view.registers()) {
        if (insn < begin || insn >= end || !writes(all, decides->second.read)) continue;
        const ptx::Instruction* compare = view.source_of(insn);
        if (compare == nullptr || std::ranges::none_of(compare->operands, is_number)) return false;
        counters = all.read;
    }
    bool starts = false;
    for (const auto& [insn, all] : view.registers()) {
        if ((insn >= begin && insn < end) || !writes(all, counters)) continue;
        const ptx::Instruction* start = view.source_of(insn);
        if (start == nullptr || start->opcode != "mov" || !is_number(start->operands.back())) return false;
        starts = true;
    }
    return starts;
}

// By register: the load that writes it.
using Loaded = std::map<std::uint32_t, std::uint32_t>;

// Takes out what machine code cannot take as the operand that all lanes share, since it takes another one.
void take_out_second_operands(Loaded& loaded, const FunctionView& view) {
    for (const auto& [insn, all] : view.registers()) {
        const ptx::Instruction* in = view.source_of(insn);
        if (in == nullptr) continue;
        bool taken = false;
        for (const ptx::Operand& operand : in->operands) {
            if (operand.kind != Kind::Register || !std::ranges::count(all.read, operand.reg)) continue;
            const auto value = loaded.find(operand.reg);
            if (value == loaded.end()) continue;
            if (taken) loaded.erase(value);
            taken = true;
        }
    }
}

}  // namespace

std::vector<UniformLoad> find_uniform_loads(const Code& code, const FunctionView& view) {
    std::vector<std::uint32_t> loads;  // at addresses in registers
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot) {
        if (code.stat_kinds[slot] != StatKind::ConstantLoad) continue;
        const auto load = view.registers().find(code.stat_insns[slot]);
        if (load != view.registers().end() && !load->second.read.empty()) loads.push_back(load->first);
    }
    if (loads.empty() || !view.source().is_entry) return {};
    ValueFlow flow;
    flow.add_instructions(view);
    flow.add_branches(code, view);
    if (flow.is_too_large()) return {};
    std::vector<std::uint32_t> varying;
    for (const auto& [insn, all] : view.registers())
        if (varies(view.source_of(insn))) varying.insert(varying.end(), all.written.begin(), all.written.end());
    std::vector<bool> is_varying = flow.behind(varying);
    for (const std::uint32_t reg : varying) {
        if (reg >= is_varying.size()) is_varying.resize(reg + 1);
        is_varying[reg] = true;
    }
    const auto depends_on_thread = [&](std::uint32_t reg) { return reg < is_varying.size() && is_varying[reg]; };
    const std::vector<Loop> loops = find_loops(code, view.function());
    if (loops.size() > max_loops) return {};
    // Then ptxas counts no loop for all lanes (seen in machine code).
    const bool parts_lanes = std::ranges::any_of(loops, [&](const Loop& loop) {
        const auto decides = view.registers().find(code.blocks[loop.last].end);
        return decides != view.registers().end() && std::ranges::any_of(decides->second.read, depends_on_thread);
    });
    if (parts_lanes) return {};
    std::vector<bool> goes_through_tables;
    for (const Loop& loop : loops) goes_through_tables.push_back(!is_unrolled(code, view, loop));
    const auto is_in_such_a_loop = [&](std::uint32_t insn) {
        const std::uint32_t block = block_of(code, insn);
        std::size_t innermost = loops.size();
        for (std::size_t i = 0; i < loops.size(); ++i)
            if (loops[i].first <= block && block <= loops[i].last &&
                (innermost == loops.size() || loops[i].size() < loops[innermost].size()))
                innermost = i;
        return innermost < loops.size() && goes_through_tables[innermost];
    };
    Loaded loaded;
    std::vector<UniformLoad> found;
    for (const std::uint32_t insn : loads) {
        const Registers& all = view.registers().at(insn);
        if (std::ranges::any_of(all.read, depends_on_thread) || !is_in_such_a_loop(insn)) continue;
        found.push_back({insn, 0, static_cast<std::uint32_t>(all.written.size())});
        for (const std::uint32_t to : all.written) loaded.emplace(to, insn);
    }
    take_out_second_operands(loaded, view);
    for (const auto& [reg, insn] : loaded) ++std::ranges::lower_bound(found, insn, {}, &UniformLoad::insn)->shared;
    return found;
}

}  // namespace warpgrade::vgpu
