#include "vgpu/code/fused.hpp"

#include <cstdint>
#include <string_view>

namespace warpgrade::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

enum class Group : std::uint8_t { none, logic, sum, shift, bound, wide_product, long_sum };

Group group_of(const ptx::Instruction& in) {
    if (in.modifiers.empty() || in.operands.size() < 2 || in.operands[0].kind != Kind::Register) return Group::none;
    const std::string_view opcode = in.opcode, type = in.modifiers.back();
    if (type == "b32" && (opcode == "and" || opcode == "or" || opcode == "xor" || opcode == "not")) return Group::logic;
    if (type == "b32" && opcode == "shl") return Group::shift;
    if (opcode == "add" && (type == "s64" || type == "u64")) return Group::long_sum;
    if (type != "s32" && type != "u32") return Group::none;
    if (opcode == "mul" && in.modifiers.front() == "wide") return Group::wide_product;
    if (in.modifiers.size() == 1 && (opcode == "add" || opcode == "sub")) return Group::sum;
    return opcode == "min" || opcode == "max" ? Group::bound : Group::none;
}

// A machine instruction has three operands: it does the work of two such.
bool is_one_instruction(Group first, Group second) {
    switch (first) {
        case Group::logic:
            return second == Group::logic;
        case Group::sum:
            return second == Group::sum || second == Group::bound;
        case Group::shift:
            return second == Group::sum;
        case Group::wide_product:
            return second == Group::long_sum;
        default:
            return false;
    }
}

constexpr std::uint32_t nobody = ~0u, several = ~1u;

// By register: how often it is written, and the instruction that alone reads it.
struct Uses {
    std::uint32_t writes = 0, reader = nobody;
};

std::vector<Uses> uses_of_registers(const ptx::Function& function) {
    std::vector<Uses> uses(function.registers.size());
    const auto read = [&](std::uint32_t reg, std::uint32_t by) {
        if (reg < uses.size()) uses[reg].reader = uses[reg].reader == nobody ? by : several;
    };
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
        const ptx::Instruction& in = function.body[i];
        read(in.guard, i);
        for (std::size_t k = 0; k < in.operands.size(); ++k) {
            const ptx::Operand& operand = in.operands[k];
            const bool is_result = k == 0 && operand.kind == Kind::Register && group_of(in) != Group::none;
            if (is_result && operand.reg < uses.size()) ++uses[operand.reg].writes;
            if (!is_result) read(operand.reg, i);
            for (const ptx::Operand& element : operand.elements) read(element.reg, i);
        }
    }
    return uses;
}

// By instruction: the number of its basic block.
std::vector<std::uint32_t> number_blocks(const ptx::Function& function) {
    std::vector<bool> begins(function.body.size() + 1);
    const auto mark = [&](std::size_t at) {
        if (at < begins.size()) begins[at] = true;
    };
    for (std::size_t i = 0; i < function.body.size(); ++i)
        for (const ptx::Operand& operand : function.body[i].operands)
            if (operand.kind == Kind::Label) mark(operand.target), mark(i + 1);
    for (const auto& [label, targets] : function.branch_targets)
        for (const std::uint32_t target : targets) mark(target);
    std::vector<std::uint32_t> number(function.body.size());
    for (std::uint32_t i = 0, block = 0; i < number.size(); ++i) number[i] = block += begins[i] ? 1 : 0;
    return number;
}

}  // namespace

std::vector<bool> find_fused(const ptx::Function& function) {
    const std::vector<Uses> uses = uses_of_registers(function);
    const std::vector<std::uint32_t> block = number_blocks(function);
    std::vector<bool> fused(function.body.size()), full(function.body.size());  // full: does the work of two
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
        const ptx::Instruction& in = function.body[i];
        const Group group = group_of(in);
        if (group == Group::none || full[i] || in.guard != ptx::Operand::no_register) continue;
        if (in.operands[0].reg >= uses.size()) continue;
        const Uses& use = uses[in.operands[0].reg];
        if (use.writes != 1 || use.reader >= several || use.reader <= i || full[use.reader] ||
            block[use.reader] != block[i])
            continue;
        const ptx::Instruction& user = function.body[use.reader];
        if (user.guard != ptx::Operand::no_register || !is_one_instruction(group, group_of(user))) continue;
        fused[i] = true;
        full[use.reader] = true;
    }
    return fused;
}

}  // namespace warpgrade::vgpu
