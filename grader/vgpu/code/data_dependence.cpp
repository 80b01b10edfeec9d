#include "vgpu/code/data_dependence.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "vgpu/code/flow_graph.hpp"

namespace warpgrade::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

constexpr std::uint32_t most_blocks = 2048;
constexpr std::size_t most_instructions = 1 << 16;

bool has_modifier(const ptx::Instruction& in, std::string_view modifier) {
    return std::ranges::find(in.modifiers, modifier) != in.modifiers.end();
}

bool is_fence(const ptx::Instruction& in) { return in.opcode == "membar" || in.opcode == "fence"; }

struct FlowStep {
    const ptx::Instruction* text = nullptr;  // null: not known, so that it may do anything
    std::vector<std::uint32_t> read, written;
    bool accesses_memory = false;
};

class DataFlow {
  public:
    DataFlow(const Code& code, const FunctionCode& kernel, const ptx::Function& source,
             const std::vector<RegisterAccess>& accesses)
        : code_(code), kernel_(kernel), steps_(code.insns.size()), from_data_(source.registers.size()) {
        std::map<std::uint32_t, const ptx::Instruction*> at_line;
        for (const ptx::Instruction& in : source.body) {
            const auto [known, is_new] = at_line.emplace(in.ptx_line, &in);
            if (!is_new) known->second = nullptr;
        }
        for (std::uint32_t i = 0; i < steps_.size(); ++i)
            if (const auto in = at_line.find(code.ptx_lines[i]); in != at_line.end()) steps_[i].text = in->second;
        for (const RegisterAccess& access : accesses) {
            FlowStep& step = steps_[access.insn];
            (access.kind == RegisterAccess::Kind::Read ? step.read : step.written).push_back(access.reg);
        }
        for (std::size_t slot = 0; slot < code.stat_insns.size(); ++slot)
            steps_[code.stat_insns[slot]].accesses_memory = true;
    }

    DataDependence find() {
        using On = DataDependence::On;
        if (!code_.calls.empty()) return {On::calls, first_call(), {}};
        if (kernel_.end_block - kernel_.first_block > most_blocks || steps_.size() > most_instructions)
            return {On::calls, code_.blocks[kernel_.first_block].begin, {}};
        if (code_.orders_memory || code_.talks_to_host) return {On::order, first_that_orders(), {}};
        const PostDominators meets(code_, kernel_);
        do {
            changed_ = false;
            for (std::uint32_t i = 0; i < steps_.size(); ++i) follow(steps_[i]);
            for (std::uint32_t b = kernel_.first_block; b < kernel_.end_block; ++b)
                if (is_decided_by_data(b))
                    for (const std::uint32_t behind : meets.region(b).first) take_all_written(behind);
        } while (changed_);
        for (std::uint32_t b = kernel_.first_block; b < kernel_.end_block; ++b) {
            const BasicBlock& block = code_.blocks[b];
            for (std::uint32_t i = block.begin; i < past(block); ++i)
                if (steps_[i].accesses_memory && is_address_of_data(steps_[i])) return {On::address, i, {}};
            if (!is_decided_by_data(b)) continue;
            for (const std::uint32_t behind : meets.region(b).first)
                if (does_more_than_arithmetic(code_.blocks[behind])) return {On::branch, block.end, {}};
        }
        return {On::nothing, 0, fixed_stores()};
    }

  private:
    [[nodiscard]] std::vector<std::uint32_t> fixed_stores() const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t i = 0; i < steps_.size(); ++i)
            if (steps_[i].text && steps_[i].text->opcode == "st" && !any_from_data(steps_[i].read)) found.push_back(i);
        return found;
    }
    [[nodiscard]] std::uint32_t first_call() const {
        for (const BasicBlock& block : code_.blocks)
            if (block.terminator == Terminator::Call) return block.end;
        return 0;
    }
    [[nodiscard]] std::uint32_t first_that_orders() const {
        const auto orders = [](const FlowStep& step) {
            return step.text &&
                   (is_fence(*step.text) || std::ranges::any_of(step.text->modifiers, [](const auto& word) {
                        return word == "volatile" || word == "acquire" || word == "release" || word == "acq_rel" ||
                               word == "sys";
                    }));
        };
        const auto first = std::ranges::find_if(steps_, orders);
        return first == steps_.end() ? 0 : static_cast<std::uint32_t>(first - steps_.begin());
    }
    static std::uint32_t past(const BasicBlock& block) {
        return block.end + (block.terminator == Terminator::Fall ? 0 : 1);
    }
    [[nodiscard]] bool any_from_data(const std::vector<std::uint32_t>& registers) const {
        return std::ranges::any_of(registers, [&](std::uint32_t reg) { return from_data_[reg]; });
    }
    void mark(std::vector<bool>::reference fact) {
        changed_ |= !fact;
        fact = true;
    }
    void mark(bool& fact) {
        changed_ |= !fact;
        fact = true;
    }
    void take_all_written(std::uint32_t block) {
        for (std::uint32_t i = code_.blocks[block].begin; i < past(code_.blocks[block]); ++i)
            for (const std::uint32_t to : steps_[i].written) mark(from_data_[to]);
    }

    // True if what the instruction gives may be data although nothing that it reads in registers is.
    [[nodiscard]] bool brings_data(const FlowStep& step) const {
        if (!step.text) return true;
        const ptx::Instruction& in = *step.text;
        if (in.opcode == "activemask" || in.opcode == "mbarrier") return true;
        for (const ptx::Operand& from : in.operands)
            if (from.kind == Kind::Special && (from.symbol.starts_with("%clock") || from.symbol == "%smid" ||
                                               from.symbol.starts_with("%globaltimer")))
                return true;
        if (!step.accesses_memory) return false;
        if (in.opcode == "ldmatrix") return shared_;
        if (in.opcode != "ld") return true;
        if (has_modifier(in, "shared") || has_modifier(in, "shared::cta")) return shared_;
        return !has_modifier(in, "local") || local_;
    }

    // What a register or memory gets from data.
    void follow(const FlowStep& step) {
        if (any_from_data(step.read) || (!step.written.empty() && brings_data(step)))
            for (const std::uint32_t to : step.written) mark(from_data_[to]);
        if (!step.accesses_memory || (step.text && step.text->opcode.starts_with("ld"))) return;
        if (step.text && step.text->opcode == "st") {
            if (!any_from_data(step.read)) return;
            const bool to_shared = has_modifier(*step.text, "shared") || has_modifier(*step.text, "shared::cta"),
                       to_local = has_modifier(*step.text, "local"), to_global = has_modifier(*step.text, "global");
            if (!to_local && !to_global) mark(shared_);
            if (!to_shared && !to_global) mark(local_);
            return;
        }
        mark(shared_);  // atomics and asynchronous copies
    }

    [[nodiscard]] bool is_decided_by_data(std::uint32_t b) const {
        const BasicBlock& block = code_.blocks[b];
        return (block.conditional || block.terminator == Terminator::Skip ||
                block.terminator == Terminator::BranchIndexed) &&
               any_from_data(steps_[block.end].read);
    }

    // True if data decide where the instruction accesses memory, or for which lanes.
    [[nodiscard]] bool is_address_of_data(const FlowStep& step) const {
        const ptx::Instruction* in = step.text;
        if (!in || !(in->opcode == "st" || in->opcode == "atom" || in->opcode == "red"))
            return any_from_data(step.read);
        if (in->guard != ptx::Operand::no_register && from_data_[in->guard]) return true;
        return std::ranges::any_of(in->operands, [&](const ptx::Operand& operand) {
            return operand.kind == Kind::Address && operand.reg != ptx::Operand::no_register && from_data_[operand.reg];
        });
    }

    [[nodiscard]] bool does_more_than_arithmetic(const BasicBlock& block) const {
        switch (block.terminator) {
            case Terminator::Fall:
            case Terminator::Branch:
            case Terminator::Skip:
            case Terminator::BranchIndexed:
                break;
            default:
                return true;
        }
        return std::any_of(steps_.begin() + block.begin, steps_.begin() + block.end, [](const FlowStep& step) {
            return step.accesses_memory || !step.text || is_fence(*step.text);
        });
    }

    const Code& code_;
    const FunctionCode& kernel_;
    std::vector<FlowStep> steps_;
    std::vector<bool> from_data_;                            // by register
    bool shared_ = false, local_ = false, changed_ = false;  // memory that may hold data
};

}  // namespace

DataDependence find_data_dependence(const Code& code, const FunctionCode& kernel, const ptx::Function& source,
                                    const std::vector<RegisterAccess>& accesses) {
    return DataFlow(code, kernel, source, accesses).find();
}

}  // namespace warpgrade::vgpu
