// Control flow and barriers: what ends a basic block. The scheduler carries these out; here they are decoded.
#include <fmt/format.h>

#include "vgpu/builtins.hpp"
#include "vgpu/decoder.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;
using ptx::PtxError;
using Kind = ptx::Operand::Kind;

namespace {

constexpr OpcodeRow rows[] = {
    {"bra", "", "", "uni", "branches", nullptr},
    {"brx", "idx", "", "uni", "branches through a table", nullptr},
    {"call", "", "", "uni", "calls a function", nullptr},
    {"ret", "", "", "uni", "returns; from a kernel: ends the thread", nullptr},
    {"exit", "", "", "", "ends the thread", nullptr},
    {"trap", "", "", "", "ends the kernel with an error", nullptr},
    {"brkpt", "", "", "", "as trap", nullptr},
    {"bar", "sync", "", "cta aligned", "block barrier", nullptr},
    {"bar", "arrive", "", "cta aligned", "arrives at a barrier without waiting", nullptr},
    {"bar", "red popc", "u32", "cta aligned", "barrier that counts a predicate", nullptr},
    {"bar", "red and", "pred", "cta aligned", "barrier that tests whether all hold", nullptr},
    {"bar", "red or", "pred", "cta aligned", "barrier that tests whether any holds", nullptr},
    {"bar", "warp sync", "", "", "waits for the lanes of a warp", nullptr},
    {"barrier", "sync", "", "cta aligned", "block barrier", nullptr},
    {"barrier", "arrive", "", "cta aligned", "arrives at a barrier without waiting", nullptr},
    {"barrier", "red popc", "u32", "cta aligned", "barrier that counts a predicate", nullptr},
    {"barrier", "red and", "pred", "cta aligned", "barrier that tests whether all hold", nullptr},
    {"barrier", "red or", "pred", "cta aligned", "barrier that tests whether any holds", nullptr},
};

void decode_barrier(InsnBuilder& b, BasicBlock& block) {
    if (b.has("warp")) {
        b.expect_operands(1, 1);
        b.out.a = b.source(0, ptx::Type::U32);
        block.terminator = Terminator::WarpSync;
        return;
    }
    block.terminator = Terminator::Barrier;
    std::size_t next = 0;
    if (b.has("red")) {
        const bool count = b.has("popc");
        b.out.aux = count ? barrier_form::popc : b.has("and") ? barrier_form::all : barrier_form::any;
        b.expect_operands(3, 4);
        b.out.d = count ? b.destination(0, 4) : b.predicate_destination(b.operand(0));
        bool negated = false;
        b.out.c = b.predicate_source(b.operand(b.operand_count() - 1), &negated);
        if (negated) b.out.aux |= barrier_form::negated;
        next = 1;
    } else {
        b.expect_operands(1, 2);
        b.out.aux = b.has("arrive") ? barrier_form::arrive : barrier_form::sync;
    }
    b.out.a = b.source(next, ptx::Type::U32);
    const std::size_t counted = b.has("red") ? 4 : 2;
    if (b.operand_count() == counted) {
        b.out.b = b.source(next + 1, ptx::Type::U32);
        b.out.aux |= barrier_form::counted;
    } else if (b.has("arrive")) {
        b.refuse("needs a number of threads");
    }
}

}  // namespace

std::span<const OpcodeRow> control_opcodes() { return rows; }

bool is_terminator(const ptx::Instruction& in) {
    for (const OpcodeRow& row : rows)
        if (in.opcode == row.mnemonic) return true;
    return false;
}

void FunctionDecoder::decode_terminator(const ptx::Instruction& in, std::uint32_t) {
    InsnBuilder b(*this, in);
    if (!find_opcode(in))
        throw PtxError(in.ptx_line, fmt::format("'{}' is not supported by the virtual GPU", b.text()));
    Code& code = builder.code;
    BasicBlock& block = code.blocks.back();
    apply_guard(in, b.out);
    block.conditional = b.out.has_guard;
    if (in.opcode == "bra") {
        b.expect_operands(1, 1);
        if (b.operand(0).kind != Kind::Label) b.refuse("needs a label");
        block.terminator = Terminator::Branch;
        block.target = block_at(b.operand(0).target, in.ptx_line);
    } else if (in.opcode == "brx") {
        b.expect_operands(2, 2);
        block.terminator = Terminator::BranchIndexed;
        b.out.a = b.source(0, ptx::Type::U32);
        std::vector<std::uint32_t> table;
        for (const auto& [name, targets] : function.branch_targets)
            if (name == b.operand(1).symbol)
                for (const auto t : targets) table.push_back(block_at(t, in.ptx_line));
        if (table.empty()) b.refuse("no branch table '" + b.operand(1).symbol + "'");
        block.target = static_cast<std::uint32_t>(code.branch_tables.size());
        code.branch_tables.push_back(std::move(table));
    } else if (in.opcode == "ret" || in.opcode == "exit") {
        block.terminator = in.opcode == "ret" && !is_kernel() ? Terminator::Return : Terminator::Exit;
    } else if (in.opcode == "trap" || in.opcode == "brkpt") {
        block.terminator = Terminator::Trap;
    } else if (in.opcode == "call") {
        decode_call(in, b.out, block);
    } else {
        decode_barrier(b, block);
    }
    const bool may_be_guarded = block.terminator == Terminator::Branch || block.terminator == Terminator::Exit ||
                                block.terminator == Terminator::Return || block.terminator == Terminator::Trap;
    if (block.conditional && !may_be_guarded) b.refuse("with a guard is not supported");
    block.end = static_cast<std::uint32_t>(code.insns.size());
    block.size = block.end - block.begin + 1;
    append(b.out, in);
}

void FunctionDecoder::decode_call(const ptx::Instruction& in, Insn&, BasicBlock& block) {
    const auto refuse = [&](const std::string& why) { throw PtxError(in.ptx_line, "call: " + why); };
    PendingCall pending;
    const Operand* callee = nullptr;
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
        const Operand& o = in.operands[i];
        if (o.kind == Kind::Symbol && !callee)
            callee = &o;
        else if (o.kind == Kind::Register && !callee)
            refuse("indirect calls are not supported");
        else if (o.kind == Kind::Vector)
            for (const Operand& e : o.elements) {
                if (e.kind != Kind::Symbol) refuse("arguments must be .param variables");
                (callee ? pending.arguments : pending.results).push_back(e.symbol);
            }
    }
    if (!callee) refuse("names no function");
    Code& code = builder.code;
    CallSite site;
    const ptx::Function* f = builder.module.find_function(callee->symbol);
    site.builtin = find_builtin(callee->symbol);
    if (site.builtin >= 0) {
        synchronises_globally();  // what is printed comes in the order of the blocks
    } else {
        if (!f || f->is_declaration) refuse("function '" + callee->symbol + "' is not supported or not defined here");
        site.callee = builder.function(*f);
    }
    pending.callee = callee->symbol;
    pending.site = static_cast<std::uint32_t>(code.calls.size());
    pending.caller = index_;
    pending.ptx_line = in.ptx_line;
    builder.pending.push_back(std::move(pending));
    block.terminator = Terminator::Call;
    block.target = static_cast<std::uint32_t>(code.calls.size());
    code.calls.push_back(std::move(site));
}

}  // namespace warpgrade::vgpu
