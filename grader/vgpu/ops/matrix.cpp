#include "vgpu/ops/matrix.hpp"

#include <fmt/format.h>

#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

std::vector<Element> matrix_elements(const InsnBuilder& b) {
    std::vector<Element> elements;
    for (const auto& m : b.in.modifiers)
        if (const auto e = parse_element(m)) elements.push_back(*e);
    return elements;
}

Shape matrix_shape(const InsnBuilder& b) {
    for (const auto& m : b.in.modifiers)
        if (const auto shape = parse_shape(m)) return *shape;
    b.refuse("names no shape");
}

namespace {

FragmentRegisters registers(InsnBuilder& b, const ptx::Operand& operand, unsigned count, ptx::Type type,
                            bool destination) {
    const bool single = count == 1 && operand.kind != ptx::Operand::Kind::Vector;
    const std::size_t given = single ? 1 : operand.elements.size();
    if (given != count || count > Fragment::max_registers)
        b.refuse(fmt::format("an operand has {} registers, expected {}", given, count));
    FragmentRegisters r{count, {}};
    for (unsigned i = 0; i < count; ++i) {
        const ptx::Operand& element = single ? operand : operand.elements[i];
        r.place[i] = destination ? b.destination(element, ptx::size_of(type)) : b.source(element, type);
    }
    return r;
}

}  // namespace

FragmentRegisters fragment_registers(InsnBuilder& b, const ptx::Operand& operand, const Fragment& fragment, bool wmma,
                                     bool destination) {
    const bool repeats = wmma && fragment.element == Element::F16 && fragment.matrix != Matrix::C;
    const ptx::Type type = fragment.element == Element::F64   ? ptx::Type::F64
                           : fragment.element == Element::F32 ? ptx::Type::F32
                                                              : ptx::Type::B32;
    return registers(b, operand, repeats ? Fragment::max_registers : fragment.registers(), type, destination);
}

FragmentRegisters word_registers(InsnBuilder& b, const ptx::Operand& operand, unsigned count, bool destination) {
    return registers(b, operand, count, ptx::Type::B32, destination);
}

void require_whole_warp(const Warp& w, const Insn& in, std::uint32_t mask) {
    if (mask == full_mask) return;
    raise_at(
        w, &in, device::error::illegal_instruction, static_cast<unsigned>(std::countr_zero(mask)),
        fmt::format(
            "executes a matrix instruction, which needs all 32 threads of the warp together, but only those "
            "of mask {:#010x} reached it: the others are in another branch, have exited, or do not exist in this block",
            mask));
}

}  // namespace warpgrade::vgpu
