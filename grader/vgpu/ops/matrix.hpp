// What the matrix instructions have in common: their fragments' registers, and that whole warps execute them.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "vgpu/code/decoder.hpp"
#include "vgpu/code/opcodes.hpp"
#include "vgpu/ops/matrix_layout.hpp"

namespace warpgrade::vgpu {

// Forms stand in the constant pool (matrix_form), so they are made of 32-bit words.
struct FragmentRegisters {
    std::uint32_t count;
    Ref place[Fragment::most_registers];
};

// The element types that the instruction names, in their order; its shape. Refused if there is none.
std::vector<Element> matrix_elements(const InsnBuilder& b);
Shape matrix_shape(const InsnBuilder& b);

// Places of a fragment's operand, {…} or a single register. The f16 fragments A and B of wmma have eight registers,
// also where fewer hold all elements: the others repeat them.
FragmentRegisters fragment_registers(InsnBuilder& b, const ptx::Operand& operand, const Fragment& fragment, bool wmma,
                                     bool destination);

// Registers of 32 bits.
FragmentRegisters word_registers(InsnBuilder& b, const ptx::Operand& operand, unsigned count, bool destination);

template <class Form>
Ref matrix_form(InsnBuilder& b, const Form& form) {
    static_assert(sizeof(Form) % sizeof(Ref) == 0);
    const auto words = std::bit_cast<std::array<Ref, sizeof(Form) / sizeof(Ref)>>(form);
    return b.table(words);
}

// PTX leaves undefined what .aligned instructions do in a part of a warp: here it is a fault.
void require_whole_warp(const Warp& w, const Insn& in, std::uint32_t mask);

}  // namespace warpgrade::vgpu
