#include "vgpu/code/address_registers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace warpgrade::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

constexpr std::array<std::string_view, 6> forming = {"add", "sub", "mad", "mov", "cvta", "selp"};

bool forms_address(const ptx::Instruction& in) {
    return std::ranges::find(forming, in.opcode) != forming.end() && in.operands.size() > 1 &&
           in.operands[0].kind == Kind::Register;
}

}  // namespace

std::vector<bool> find_address_registers(const ptx::Function& function) {
    std::vector<bool> is_address(function.registers.size(), true);
    std::vector<std::vector<std::uint32_t>> sources(function.registers.size());  // of the sums that a register holds
    std::vector<std::uint32_t> open;
    const auto note_data = [&](std::uint32_t reg) {
        if (reg >= is_address.size() || !is_address[reg]) return;
        is_address[reg] = false;
        open.push_back(reg);
    };
    for (const ptx::Instruction& in : function.body) {
        const bool forms = forms_address(in) && in.operands[0].reg < sources.size();
        for (std::size_t i = 1; i < in.operands.size(); ++i) {
            const ptx::Operand& operand = in.operands[i];
            if (operand.kind == Kind::Register && forms)
                sources[in.operands[0].reg].push_back(operand.reg);
            else if (operand.kind == Kind::Register)
                note_data(operand.reg);
            for (const ptx::Operand& element : operand.elements)
                if (element.kind == Kind::Register) note_data(element.reg);
        }
    }
    while (!open.empty()) {
        const std::uint32_t reg = open.back();
        open.pop_back();
        for (const std::uint32_t source : sources[reg]) note_data(source);
    }
    return is_address;
}

}  // namespace warpgrade::vgpu
