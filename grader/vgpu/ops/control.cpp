// Control flow and barriers, which end basic blocks. Their operands are decoded here; the scheduler executes them.
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

namespace {

void decode_branch(InsnBuilder& b) {
    b.expect_operands(1, 1);
    if (b.operand(0).kind != Kind::Label) b.refuse("needs a label");
    b.function.block().target = b.function.block_at(b.operand(0).target, b.in.ptx_line);
}

void decode_branch_indexed(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.a = b.source(0, ptx::Type::U32);
    std::vector<std::uint32_t> table;
    for (const auto& [name, targets] : b.function.function.branch_targets)
        if (name == b.operand(1).symbol)
            for (const auto t : targets) table.push_back(b.function.block_at(t, b.in.ptx_line));
    if (table.empty()) b.refuse("no branch table '" + b.operand(1).symbol + "'");
    auto& tables = b.function.builder.code.branch_tables;
    b.function.block().target = static_cast<std::uint32_t>(tables.size());
    tables.push_back(std::move(table));
}

void decode_call(InsnBuilder& b) {
    b.expect_operands(3, 4);  // results, callee, arguments; a prototype or list of targets
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
    CallSite site;
    if (callee.kind == Kind::Register) {
        b.out.a = b.source(callee, ptx::Type::U64);
        site.callee = CallSite::through_pointer;
    } else if (site.builtin = find_builtin(callee.symbol); site.builtin) {
        b.function.synchronises_globally();  // output and allocations come in the order of the blocks
    } else {
        CodeBuilder& builder = b.function.builder;
        const ptx::Function* f = builder.module.find_function(callee.symbol);
        if (!f || f->is_declaration) b.refuse(explain_uncallable(callee.symbol));
        site.callee = builder.function(*f);
    }
    pending.callee = callee.symbol;
    pending.ptx_line = b.in.ptx_line;
    b.function.add_call(std::move(site), std::move(pending));
}

// `bar` is short for `barrier.cta.aligned`.
template <bool Aligned>
void decode_barrier(InsnBuilder& b) {
    std::size_t next = 0;
    if (b.has("red")) {
        const bool count = b.has("popc");
        b.out.form = count ? barrier_form::popc : b.has("and") ? barrier_form::all : barrier_form::any;
        b.expect_operands(3, 4);
        b.out.d = count ? b.destination(0, 4) : b.predicate_destination(b.operand(0));
        bool negated = false;
        b.out.c = b.predicate_source(b.operand(b.operand_count() - 1), &negated);
        if (negated) b.out.form |= barrier_form::negated;
        next = 1;
    } else {
        b.expect_operands(1, 2);
        b.out.form = b.has("arrive") ? barrier_form::arrive : barrier_form::sync;
    }
    if (Aligned || b.has("aligned")) b.out.form |= barrier_form::aligned;
    b.out.a = b.source(next, ptx::Type::U32);
    const std::size_t counted = b.has("red") ? 4 : 2;
    if (b.operand_count() == counted) {
        b.out.b = b.source(next + 1, ptx::Type::U32);
        b.out.form |= barrier_form::counted;
    } else if (b.has("arrive")) {
        b.refuse("needs a number of threads");
    }
}

constexpr OpcodeFacts ends(Terminator how) { return {.ends = how}; }
constexpr OpcodeFacts barrier = ends(Terminator::Barrier);
constexpr auto aligned = decode_barrier<true>, unaligned = decode_barrier<false>;

constexpr OpcodeRow rows[] = {
    {"bra", "", "", "uni", "branches", decode_branch, ends(Terminator::Branch)},
    {"brx", "idx", "", "uni", "branches through a table", decode_branch_indexed, ends(Terminator::BranchIndexed)},
    {"call", "", "", "uni", "calls a function", decode_call, ends(Terminator::Call)},
    {"ret", "", "", "uni", "returns; from a kernel: ends the thread", nullptr, ends(Terminator::Return)},
    {"exit", "", "", "", "ends the thread", nullptr, ends(Terminator::Exit)},
    {"trap", "", "", "", "ends the kernel with an error", nullptr, ends(Terminator::Trap)},
    {"brkpt", "", "", "", "as trap", nullptr, ends(Terminator::Trap)},
    {"bar", "sync", "", "cta aligned", "block barrier", aligned, barrier},
    {"bar", "arrive", "", "cta aligned", "arrives at a barrier without waiting", aligned, barrier},
    {"bar", "red popc", "u32", "cta aligned", "barrier that counts a predicate", aligned, barrier},
    {"bar", "red and", "pred", "cta aligned", "barrier that tests whether all hold", aligned, barrier},
    {"bar", "red or", "pred", "cta aligned", "barrier that tests whether any holds", aligned, barrier},
    {"barrier", "sync", "", "cta aligned", "block barrier", unaligned, barrier},
    {"barrier", "arrive", "", "cta aligned", "arrives at a barrier without waiting", unaligned, barrier},
    {"barrier", "red popc", "u32", "cta aligned", "barrier that counts a predicate", unaligned, barrier},
    {"barrier", "red and", "pred", "cta aligned", "barrier that tests whether all hold", unaligned, barrier},
    {"barrier", "red or", "pred", "cta aligned", "barrier that tests whether any holds", unaligned, barrier},
};

}  // namespace

std::span<const OpcodeRow> control_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
