// Runs one instruction, written in PTX, for a vector of operands.
#pragma once

#include <string>
#include <vector>

#include "vgpu/machine.hpp"

namespace warpgrade::vgpu::test {

// "b32" for a register that holds a T.
template <class T>
inline const char* bits() {
    return sizeof(T) == 2 ? "b16" : sizeof(T) == 4 ? "b32" : "b64";
}

// Runs `body` for each element: operands in %a, %b, %c, result in %d. In the second warp, half of the lanes are off.
template <class D, class A, class B = A, class C = A>
std::vector<D> apply(const std::string& body, std::vector<A> a, std::vector<B> b = {}, std::vector<C> c = {}) {
    const std::size_t n = a.size();
    b.resize(n);
    c.resize(n);
    const auto load = [](const char* reg, const char* type, std::size_t size, int param) {
        return "ld.param.u64 %p, [k_param_" + std::to_string(param) + "];\nmad.wide.u32 %q, %i, " +
               std::to_string(size) + ", %p;\nld.global." + type + " " + reg + ", [%q];\n";
    };
    std::string ptx =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, .param .u64 "
        "k_param_1, .param .u64 k_param_2, .param .u64 k_param_3)\n{\n.reg .b64 %p, %q;\n.reg .b32 %i;\n"
        ".reg .pred %t, %u;\n";
    ptx += std::string(".reg .") + bits<A>() + " %a;\n.reg ." + bits<B>() + " %b;\n.reg ." + bits<C>() +
           " %c;\n.reg ." + bits<D>() + " %d;\n";
    ptx += "mov.u32 %i, %tid.x;\n" + load("%a", bits<A>(), sizeof(A), 0) + load("%b", bits<B>(), sizeof(B), 1) +
           load("%c", bits<C>(), sizeof(C), 2) + body + "\nld.param.u64 %p, [k_param_3];\nmad.wide.u32 %q, %i, " +
           std::to_string(sizeof(D)) + ", %p;\nst.global." + bits<D>() + " [%q], %d;\nret;\n}\n";
    Machine m(1, ptx);
    const auto ba = m.upload(a);
    const auto bb = m.upload(b);
    const auto bc = m.upload(c);
    const auto bd = m.upload(std::vector<D>(n));
    m.launch("k", {1}, {static_cast<std::uint32_t>(n)}, ba, bb, bc, bd);
    return m.download(bd);
}

}  // namespace warpgrade::vgpu::test
