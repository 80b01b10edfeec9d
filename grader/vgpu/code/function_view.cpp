#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

FunctionView::FunctionView(const Code& code, const FunctionCode& function, const ptx::Function& source,
                           const std::vector<RegisterAccess>& accesses)
    : code_(&code), function_(&function), source_(&source) {
    for (const RegisterAccess& access : accesses) {
        Registers& all = registers_[access.insn];
        (access.kind == RegisterAccess::Kind::Read ? all.read : all.written).push_back(access.reg);
    }
    for (const ptx::Instruction& in : source.body) by_line_.emplace(in.ptx_line, &in);
}

const ptx::Instruction* FunctionView::source_of(std::uint32_t insn) const {
    const auto in = by_line_.find(code_->ptx_lines[insn]);
    return in == by_line_.end() ? nullptr : in->second;
}

}  // namespace warpgrade::vgpu
