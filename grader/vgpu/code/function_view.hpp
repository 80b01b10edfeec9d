// A decoded function beside the PTX that it comes from: what each instruction was, and its registers.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/register_places.hpp"
#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu {

struct Registers {
    std::vector<std::uint32_t> read, written;
};

class FunctionView {
  public:
    FunctionView(const Code& code, const FunctionCode& function, const ptx::Function& source,
                 const std::vector<RegisterAccess>& accesses);

    [[nodiscard]] const FunctionCode& function() const { return *function_; }
    [[nodiscard]] const ptx::Function& source() const { return *source_; }
    // By instruction, of those that use any.
    [[nodiscard]] const std::map<std::uint32_t, Registers>& registers() const { return registers_; }
    // Null for an instruction that no line of the function was.
    [[nodiscard]] const ptx::Instruction* source_of(std::uint32_t insn) const;

  private:
    const Code* code_;
    const FunctionCode* function_;
    const ptx::Function* source_;
    std::map<std::uint32_t, Registers> registers_;
    std::map<std::uint32_t, const ptx::Instruction*> by_line_;
};

}  // namespace warpgrade::vgpu
