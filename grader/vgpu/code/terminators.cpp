// Decodes the ends of basic blocks: branches, calls, barriers, collectives. Their rows name the kind; the scheduler
// executes them.
#include <algorithm>
#include <utility>

#include "vgpu/code/decoder.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;

Terminator FunctionDecoder::ends(std::uint32_t position) const {
    return rows_[position] ? rows_[position]->facts.ends : Terminator::Fall;
}

bool FunctionDecoder::needs_skip(std::uint32_t position) const {
    if (function.body[position].guard == Operand::no_register) return false;
    switch (ends(position)) {
        case Terminator::Fall:
        case Terminator::Branch:
        case Terminator::Return:
        case Terminator::Exit:
        case Terminator::Trap:
            return false;
        default:
            return true;
    }
}

void FunctionDecoder::decode_terminator(std::uint32_t position) {
    const ptx::Instruction& in = function.body[position];
    const OpcodeRow& row = *rows_[position];
    InsnBuilder b(*this, in);
    const bool skips = needs_skip(position);
    if (!skips) apply_guard(in, b.out);
    block().conditional = b.out.has_guard;
    const Terminator how = row.facts.ends;
    block().terminator = how == Terminator::Return && is_kernel() ? Terminator::Exit : how;
    if (row.decode) row.decode(b);
    b.out.flow = row.facts.flow;
    if (how == Terminator::Barrier) builder.code.needs_whole_warps |= (b.out.form & barrier_form::counted) != 0;
    if (how == Terminator::Collective) b.out.collective = collective(b.text(), row.facts);
    block().end = static_cast<std::uint32_t>(builder.code.insns.size());
    block().size = block().end - block().begin + (skips ? 0 : 1);
    append(b.out, in);
}

std::uint32_t FunctionDecoder::collective(const std::string& text, const OpcodeFacts& facts) {
    Code& code = builder.code;
    const auto at = std::ranges::find(code.collectives, text, &Collective::opcode);
    const auto index = static_cast<std::uint32_t>(at - code.collectives.begin());
    if (at == code.collectives.end()) code.collectives.push_back({text, facts.function});
    if (facts.orders_warp) code.warp_sync = index;
    return index;
}

void FunctionDecoder::add_call(CallSite site, PendingCall call) {
    Code& code = builder.code;
    call.site = block().target = static_cast<std::uint32_t>(code.calls.size());
    call.caller = index_;
    builder.pending.push_back(std::move(call));
    code.calls.push_back(std::move(site));
}

// Decodes the guard of @p bar.sync 0 and similar as a jump over it for the lanes whose predicate does not hold.
void FunctionDecoder::decode_skip(std::uint32_t position) {
    const ptx::Instruction& in = function.body[position];
    Insn out;
    apply_guard(in, out);
    out.guard_negated = !out.guard_negated;
    Code& code = builder.code;
    BasicBlock& block = code.blocks.back();
    block.terminator = Terminator::Skip;
    block.conditional = true;
    block.target = block_of_[position + 1];
    block.end = static_cast<std::uint32_t>(code.insns.size());
    block.size = block.end - block.begin + 1;  // the guarded instruction is counted here even if it does not run
    append(out, in);
    BasicBlock guarded;
    guarded.begin = static_cast<std::uint32_t>(code.insns.size());
    code.blocks.push_back(guarded);
}

}  // namespace warpgrade::vgpu
