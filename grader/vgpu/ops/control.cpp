// Control flow and barriers: what ends a basic block. The scheduler carries these out; here they are decoded.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/code/decoder.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;
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
    {"barrier", "sync", "", "cta aligned", "block barrier", nullptr},
    {"barrier", "arrive", "", "cta aligned", "arrives at a barrier without waiting", nullptr},
    {"barrier", "red popc", "u32", "cta aligned", "barrier that counts a predicate", nullptr},
    {"barrier", "red and", "pred", "cta aligned", "barrier that tests whether all hold", nullptr},
    {"barrier", "red or", "pred", "cta aligned", "barrier that tests whether any holds", nullptr},
};

void decode_barrier(InsnBuilder& b, BasicBlock& block) {
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
    // `bar` is short for `barrier.cta.aligned`.
    if (b.in.opcode == "bar" || b.has("aligned")) b.out.aux |= barrier_form::aligned;
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
    const auto named = [&](const OpcodeRow& row) { return in.opcode == row.mnemonic; };
    const auto collectives = warp_opcodes();
    return std::any_of(std::begin(rows), std::end(rows), named) ||
           std::any_of(collectives.begin(), collectives.end(), named);
}

void FunctionDecoder::decode_terminator(const ptx::Instruction& in, std::uint32_t) {
    InsnBuilder b(*this, in);
    const OpcodeRow* row = find_opcode(in);
    if (!row) throw refusal_of(in, b.text());
    Code& code = builder.code;
    BasicBlock& block = code.blocks.back();
    if (!needs_skip(in)) apply_guard(in, b.out);
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
        decode_call(b, block);
    } else if (row->decode) {
        block.terminator = Terminator::Collective;
        row->decode(b);
        const auto at = std::find(code.collectives.begin(), code.collectives.end(), b.text());
        b.out.stat = static_cast<std::uint32_t>(at - code.collectives.begin());
        if (at == code.collectives.end()) code.collectives.push_back(b.text());
    } else {
        decode_barrier(b, block);
    }
    block.end = static_cast<std::uint32_t>(code.insns.size());
    block.size = block.end - block.begin + (needs_skip(in) ? 0 : 1);
    append(b.out, in);
}

void FunctionDecoder::decode_call(InsnBuilder& b, BasicBlock& block) {
    b.expect_operands(3, 4);  // results, callee, arguments; a prototype or list of targets
    const ptx::Instruction& in = b.in;
    PendingCall pending;
    const auto names = [&](const Operand& list, std::vector<std::string>& to) {
        for (const Operand& e : list.elements) {
            if (e.kind != Kind::Symbol) b.refuse("arguments must be .param variables");
            to.push_back(e.symbol);
        }
    };
    names(b.operand(0), pending.results);
    names(b.operand(2), pending.arguments);
    const Operand& callee = b.operand(1);
    Code& code = builder.code;
    CallSite site;
    if (callee.kind == Kind::Register) {
        b.out.a = b.source(callee, ptx::Type::U64);
        site.callee = CallSite::through_pointer;
    } else if (site.builtin = find_builtin(callee.symbol); site.builtin) {
        synchronises_globally();  // what is printed or allocated comes in the order of the blocks
    } else {
        const ptx::Function* f = builder.module.find_function(callee.symbol);
        if (!f || f->is_declaration) b.refuse(why_not_callable(callee.symbol));
        site.callee = builder.function(*f);
    }
    pending.callee = callee.symbol;
    pending.site = static_cast<std::uint32_t>(code.calls.size());
    pending.caller = index_;
    pending.ptx_line = in.ptx_line;
    builder.pending.push_back(std::move(pending));
    block.terminator = Terminator::Call;
    block.target = static_cast<std::uint32_t>(code.calls.size());
    code.calls.push_back(std::move(site));
}

}  // namespace warpgrade::vgpu
