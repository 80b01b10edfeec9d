#include "vgpu/code/uniform.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace warpgrade::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

constexpr std::array<std::string_view, 10> computing = {"mov", "cvta", "cvt", "add", "sub",
                                                        "mul", "mad",  "shl", "shr", "and"};

// The spaces in which an address means the same in all threads: not `local`, and not a generic address, which may be.
constexpr std::array<std::string_view, 4> of_all_threads = {"global", "shared", "const", "param"};

bool is_of_block(std::string_view special) {
    return special.starts_with("%ctaid") || special.starts_with("%nctaid") || special.starts_with("%ntid");
}

// True if the instruction computes the same for all threads of the block.
bool is_uniform(const ptx::Instruction& in, const std::vector<bool>& uniform) {
    if (in.guard != ptx::Operand::no_register) return false;
    if (in.opcode == "ld") {
        const ptx::Operand& from = in.operands[1];
        return std::ranges::find(of_all_threads, in.modifiers.front()) != of_all_threads.end() &&
               (from.reg == ptx::Operand::no_register || uniform[from.reg]);
    }
    if (std::ranges::find(computing, in.opcode) == computing.end()) return false;
    return std::all_of(in.operands.begin() + 1, in.operands.end(), [&](const ptx::Operand& source) {
        return source.kind == Kind::Immediate || source.kind == Kind::Symbol ||
               (source.kind == Kind::Special && is_of_block(source.symbol)) ||
               (source.kind == Kind::Register && uniform[source.reg]);
    });
}

}  // namespace

std::vector<bool> find_uniform_registers(const ptx::Function& kernel) {
    std::vector<unsigned> writes(kernel.registers.size());
    const auto note = [&](const ptx::Operand& to) {
        if (to.kind == Kind::Register && to.reg < writes.size()) ++writes[to.reg];
    };
    for (const ptx::Instruction& in : kernel.body) {
        if (in.operands.empty()) continue;
        note(in.operands[0]);
        for (const ptx::Operand& element : in.operands[0].elements) note(element);
    }
    std::vector<bool> uniform(kernel.registers.size());
    for (const ptx::Instruction& in : kernel.body) {
        if (in.operands.size() < 2 || in.modifiers.empty() || in.operands[0].kind != Kind::Register) continue;
        const std::uint32_t to = in.operands[0].reg;
        if (to < writes.size() && writes[to] == 1 && is_uniform(in, uniform)) uniform[to] = true;
    }
    return uniform;
}

}  // namespace warpgrade::vgpu
