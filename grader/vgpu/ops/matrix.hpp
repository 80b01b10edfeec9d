// What the matrix instructions share: the registers of fragments, and that whole warps must execute them.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "vgpu/code/decoder.hpp"
#include "vgpu/code/opcodes.hpp"
#include "vgpu/ops/matrix_layout.hpp"

namespace warpgrade::vgpu {

// Forms are in the constant pool (matrix_form), so they are made of 32-bit words.
struct FragmentRegisters {
    std::uint32_t count;
    Ref place[Fragment::max_registers];
};

// The element types that the instruction names, in order, and its shape. An instruction without them is refused.
std::vector<Element> matrix_elements(const InsnBuilder& b);
Shape matrix_shape(const InsnBuilder& b);

// The places of a fragment's operand, {…} or a single register. The f16 fragments A and B of wmma always have eight
// registers; if fewer hold all elements, the others repeat them.
FragmentRegisters fragment_registers(InsnBuilder& b, const ptx::Operand& operand, const Fragment& fragment, bool wmma,
                                     bool destination);

// The places of an operand of 32-bit registers.
FragmentRegisters word_registers(InsnBuilder& b, const ptx::Operand& operand, unsigned count, bool destination);

template <class Form>
Ref matrix_form(InsnBuilder& b, const Form& form) {
    static_assert(sizeof(Form) % sizeof(Ref) == 0);
    const auto words = std::bit_cast<std::array<Ref, sizeof(Form) / sizeof(Ref)>>(form);
    return b.table(words);
}

// PTX leaves .aligned instructions in a part of a warp undefined. Here they are a fault.
void require_whole_warp(const Warp& w, const Insn& in, std::uint32_t mask);

}  // namespace warpgrade::vgpu
