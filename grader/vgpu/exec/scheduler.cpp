// How warps, and the lanes of a warp, take turns.
//
// Within a warp, the lanes at the lowest instruction run first. In code as compilers arrange it, this reunites diverged
// lanes at the immediate post-dominator. Lanes that spin on memory (they synchronise repeatedly without progress) step
// back, so that the lanes that they wait for can run: every lane makes progress, as on Volta and later. The order is
// fixed, so counters and results are the same in every run. There are others (device/order.hpp), as fixed.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/exec/builtins.hpp"
#include "vgpu/exec/warp_runner.hpp"
#include "vgpu/state/lanes.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace error = device::error;
using device::Order;

namespace {

constexpr std::uint32_t spin_limit = 64;         // see Warp::sync_operations; before diverged lanes step back
constexpr std::uint64_t charge_chunk = 1 << 14;  // instructions between two checks of the budget
constexpr std::uint64_t warp_slice = 1 << 20;    // instructions of one turn, for loops that wait without synchronising

// True for the block that the others do not keep waiting.
bool is_ahead(const Executor& e, const BlockState& block) {
    return e.launch->limits.order == Order::ahead && block.linear + 1 == e.launch->config.grid.count();
}

}  // namespace

bool WarpRunner::runs_in_steps() const {
    const Order order = e.launch->limits.order;
    if (order != Order::ahead) return order == Order::interleaved;
    const std::size_t warps = block.warps.size();
    return w.index + 1 < warps || (warps == 1 && !is_ahead(e, block));
}

Turn WarpRunner::run() {
    const bool steps = runs_in_steps();
    // In other orders whoever is waited for may come last.
    const std::uint32_t turn = e.launch->limits.order == Order::forward ? warp_turn : spin_limit;
    w.slice_end = w.clock + warp_slice;
    std::uint32_t spent = 0;
    for (;;) {
        const int next = pick();
        if (next < 0) return Turn::Waits;
        const auto self = static_cast<std::size_t>(next);
        const Ran ran = steps         ? run_split<true, true>(self)
                        : e.watch.any ? run_split<true>(self)
                                      : run_split<false>(self);
        if (steps) {  // whoever spins shows over many turns
            if (ran != Ran::TurnOver) continue;
            if (w.sync_operations < spin_limit) return Turn::Slice;
            w.splits[self].deferred = w.splits.size() > 1;
            w.sync_operations = 0;
            return Turn::Spins;
        }
        spent += w.sync_operations;
        w.sync_operations = 0;
        if (ran != Ran::TurnOver) continue;
        if (spent >= turn) return Turn::Spins;
        if (w.clock >= w.slice_end) return Turn::Slice;
    }
}

// The ready split to run: deepest call first, then lowest instruction. Splits at the same place are merged. -1 if there
// is none.
int WarpRunner::pick() {
    auto& splits = w.splits;
    int best = -1;
    bool deferred_only = true;
    for (const Split& s : splits) deferred_only &= s.state != Split::State::Ready || s.deferred;
    for (std::size_t i = 0; i < splits.size(); ++i) {
        Split& s = splits[i];
        if (s.state != Split::State::Ready) continue;
        if (deferred_only)
            s.deferred = false;
        else if (s.deferred)
            continue;
        if (best < 0 || before(s, splits[static_cast<std::size_t>(best)])) best = static_cast<int>(i);
    }
    if (best < 0 || splits.size() == 1) return best;
    for (std::size_t i = splits.size(); static_cast<int>(--i) > best;) {  // the best is the first at its place
        Split& chosen = splits[static_cast<std::size_t>(best)];
        if (splits[i].state != Split::State::Ready || splits[i].pc != chosen.pc || splits[i].frame != chosen.frame ||
            !may_merge(splits[i], chosen))
            continue;
        chosen.mask |= splits[i].mask;
        chosen.last = std::min(chosen.last, splits[i].last);
        splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return best;
}

bool WarpRunner::before(const Split& a, const Split& b) const {
    if (!may_merge(a, b)) return (a.mask & w.first_lanes) != 0;
    const std::uint32_t da = w.frames[a.frame].depth, db = w.frames[b.frame].depth;
    return da != db ? da > db : a.pc < b.pc;
}

// The lowest place of other ready lanes of the same call, where these lanes may be merged with them.
std::uint32_t WarpRunner::reconvergence_point(std::size_t self) const {
    std::uint32_t limit = ~0u;
    const Split& own = w.splits[self];
    for (const Split& s : w.splits)
        if (s.state == Split::State::Ready && !s.deferred && s.frame == own.frame && s.pc > own.pc && may_merge(s, own))
            limit = std::min(limit, s.pc);
    return limit;
}

void WarpRunner::enter_frame(std::uint32_t frame) {
    const Frame& f = w.frames[frame];
    w.frame = frame;
    w.base[0] = f.registers;
    w.local_end = f.local_end;
}

// Without checks, the lanes' last blocks and their registers' contents need not be tracked. In steps, the turn ends
// with the basic block.
template <bool Checking, bool Steps>
WarpRunner::Ran WarpRunner::run_split(std::size_t self) {
    const Insn* insns = code.insns.data();
    const BasicBlock* blocks = code.blocks.data();
    std::uint32_t pc = w.splits[self].pc, mask = w.splits[self].mask, last = w.splits[self].last;
    enter_frame(w.splits[self].frame);
    std::uint32_t limit = w.splits.size() > 1 ? reconvergence_point(self) : ~0u;
    const auto leave = [&](Ran why) {
        w.splits[self].pc = pc;
        w.splits[self].mask = mask;
        w.splits[self].last = last;
        return why;
    };
    for (;;) {
        const BasicBlock& b = blocks[pc];
        ++e.block_warps[pc];
        e.block_threads[pc] += static_cast<unsigned>(std::popcount(mask));
        e.instructions += b.size;
        w.clock += b.size;
        w.work.issue_tenths += b.issue_tenths;
        w.work.time += b.time;
        const Insn* const end = insns + b.end;
        if (Checking && e.watch.values)
            run_watched(w, b, mask);
        else if (mask == full_mask)
            for (const Insn* i = insns + b.begin; i != end; ++i) i->full(w, *i, mask);
        else
            for (const Insn* i = insns + b.begin; i != end; ++i) i->masked(w, *i, mask);
        if (Checking && b.size > 1) last = pc;
        switch (b.terminator) {
            case Terminator::Fall:
                ++pc;
                break;
            case Terminator::Skip:
            case Terminator::Branch: {
                const std::uint32_t taken = b.conditional ? guard_lanes(w, *end, mask) : mask;
                const bool backward = b.target <= pc;
                if (taken == mask) {
                    pc = b.target;
                } else if (taken == 0) {
                    ++pc;
                } else {
                    ++e.block_divergent[pc];
                    if (b.predicated_until == 0) w.work.part();
                    const std::uint32_t low = std::min(b.target, pc + 1), high = std::max(b.target, pc + 1);
                    const std::uint32_t low_mask = b.target < pc + 1 ? taken : mask & ~taken;
                    add_split(high, mask & ~low_mask, w.frame);
                    w.splits.back().last = last;
                    mask = low_mask;
                    pc = low;
                    limit = std::min(limit, high);
                }
                if (backward) {
                    if (e.instructions >= charge_chunk) [[unlikely]]
                        charge(*end, mask);
                    if (w.sync_operations >= spin_limit || w.clock >= w.slice_end) [[unlikely]] {
                        w.splits[self].deferred = w.splits.size() > 1;
                        return leave(Ran::TurnOver);
                    }
                }
                break;
            }
            case Terminator::BranchIndexed: {
                branch_indexed(*end, b, pc, mask);
                remove(self);
                if (e.instructions >= charge_chunk) charge(*end, mask);
                return Ran::Rescheduled;
            }
            case Terminator::Barrier: {
                w.splits[self].last = last;
                const bool waits = arrive(*end, self, pc + 1, mask);
                ++pc;
                if (!waits) break;
                return Ran::Rescheduled;
            }
            case Terminator::Collective: {
                if (!collective(*end, self, pc + 1, mask)) return Ran::Rescheduled;
                ++pc;
                break;
            }
            case Terminator::Exit: {
                const std::uint32_t leaving = b.conditional ? guard_lanes(w, *end, mask) : mask;
                mask &= ~leaving;
                ++pc;
                w.splits[self].mask = mask;
                if (mask == 0) remove(self);
                exit_lanes(leaving, last);
                if (mask == 0) return Ran::Rescheduled;
                break;
            }
            case Terminator::Call: {
                const CallSite& site = code.calls[b.target];
                ++pc;
                if (site.builtin) {
                    call_builtin(w, *end, site, mask);
                    break;
                }
                if (site.callee == CallSite::through_pointer)
                    call_indirect(site, b.target, self, pc, mask, *end);
                else
                    call(site, b.target, self, pc, mask, *end);
                if (e.instructions >= charge_chunk) charge(*end, mask);
                return Ran::Rescheduled;
            }
            case Terminator::Return: {
                const std::uint32_t leaving = b.conditional ? guard_lanes(w, *end, mask) : mask;
                mask &= ~leaving;
                ++pc;
                if (leaving) {
                    return_lanes(leaving);
                    w.splits[self].mask = mask;
                    w.splits[self].pc = pc;
                    if (mask == 0) remove(self);
                    return Ran::Rescheduled;
                }
                break;
            }
            case Terminator::Trap: {
                const std::uint32_t hit = b.conditional ? guard_lanes(w, *end, mask) : mask;
                if (hit)
                    raise_at(w, end, error::launch_failure, static_cast<unsigned>(std::countr_zero(hit)),
                             trap_message());
                ++pc;
                break;
            }
        }
        if (pc >= limit) return leave(Ran::Rescheduled);
        if (Steps) return leave(Ran::TurnOver);
    }
}

void WarpRunner::add_split(std::uint32_t pc, std::uint32_t mask, std::uint32_t frame) {
    Split s;
    s.pc = pc;
    s.mask = mask;
    s.frame = frame;
    w.splits.push_back(s);
}

void WarpRunner::charge(const Insn& at, std::uint32_t mask) {
    if (e.launch->charge(e)) return;
    device::Diagnostic found;
    if (e.launch->stopped()) {
        found.message =
            fmt::format("is still in this loop when the program's time is over; {} are done", e.launch->how_far());
    } else {
        found.rule = &device::rules::runaway;
        found.message = fmt::format("is still in this loop after the kernel has executed {}",
                                    counted(e.launch->limits.instructions, "warp instruction"));
    }
    raise_at(w, &at, error::launch_timeout, static_cast<unsigned>(std::countr_zero(mask)), std::move(found));
}

std::string WarpRunner::trap_message() const {
    const bool wants_workspace = code.used_specials >> static_cast<unsigned>(Special::EnvReg2) & 1;
    if (!wants_workspace || e.launch->config.cooperative) return "executes a trap";
    return "executes a trap: grid.sync() works only in a launch by cudaLaunchCooperativeKernel";
}

void WarpRunner::branch_indexed(const Insn& in, const BasicBlock& b, std::uint32_t pc, std::uint32_t mask) {
    const auto& table = code.branch_tables[b.target];
    const auto* index = operand<std::uint32_t>(w, in.a);
    std::uint32_t rest = mask;
    bool diverged = false;
    while (rest) {
        const std::uint32_t i = index[std::countr_zero(rest)];
        if (i >= table.size())
            raise_at(w, &in, error::invalid_pc, static_cast<unsigned>(std::countr_zero(rest)),
                     fmt::format("branches to entry {} of a branch table of {}", i, table.size()));
        std::uint32_t same = 0;
        for_active(rest, [&](unsigned l) { same |= std::uint32_t{index[l] == i} << l; });
        diverged |= same != mask;
        add_split(table[i], same, w.frame);
        rest &= ~same;
    }
    if (!diverged) return;
    ++e.block_divergent[pc];
    w.work.part();
}

bool run_block(Executor& e, BlockState& block) {
    const bool backwards = e.launch->limits.runs_backwards();
    const bool in_turns = e.launch->limits.runs_together() && !is_ahead(e, block);
    const std::size_t warps = block.warps.size();
    while (block.warps_done < warps) {
        bool ran = false, spinning = false;
        for (std::size_t i = 0; i < warps; ++i) {
            Warp& w = block.warps[backwards ? warps - 1 - i : i];
            const bool ready = std::any_of(w.splits.begin(), w.splits.end(),
                                           [](const Split& s) { return s.state == Split::State::Ready; });
            if (!ready) continue;
            ran = true;
            spinning |= WarpRunner(e, block, w).run() == Turn::Spins;
        }
        if (!ran) raise_deadlock(e, block);
        if (spinning || in_turns) return false;
    }
    return true;
}

}  // namespace warpgrade::vgpu
