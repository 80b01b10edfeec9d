// How warps, and the lanes inside a warp, take turns.
//
// Inside a warp the lanes that stand at the lowest instruction run first: in code as compilers lay it out, that brings
// diverged lanes together again at the immediate post-dominator. Lanes that spin on memory (they synchronise again and
// again without getting on) step back, so that those they wait for can run: every lane makes progress, as on Volta and
// later. Everything is in a fixed order, so counters and results are the same on every run.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vgpu/builtins.hpp"
#include "vgpu/grid.hpp"
#include "vgpu/lanes.hpp"

namespace warpgrade::vgpu {

namespace error = device::error;

namespace {

constexpr std::uint32_t spin_limit = 64;         // synchronising operations before diverged lanes step back
constexpr std::uint32_t warp_turn = 512;         // … before the warp lets other warps run
constexpr std::uint64_t charge_chunk = 1 << 14;  // instructions between two looks at the budget
constexpr std::uint32_t max_call_depth = 512;

enum class Ran : std::uint8_t { Rescheduled, TurnOver };

class WarpRunner {
  public:
    WarpRunner(Executor& executor, BlockState& of_block, Warp& warp)
        : e(executor), block(of_block), w(warp), code(*executor.code) {}

    // Runs until all lanes have exited or wait, or the warp has used its turn (then false).
    bool run() {
        w.sync_operations = 0;
        std::uint32_t spent = 0;
        for (;;) {
            const int next = pick();
            if (next < 0) return true;
            const Ran ran = run_split(static_cast<std::size_t>(next));
            spent += w.sync_operations;
            w.sync_operations = 0;
            if (ran == Ran::TurnOver && spent >= warp_turn) return false;
        }
    }

  private:
    // The ready split to run: deepest call first, then lowest instruction; splits at the same place merge. -1: none.
    int pick() {
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
        for (std::size_t i = splits.size(); i-- > 0;) {
            if (static_cast<int>(i) == best) continue;
            Split& chosen = splits[static_cast<std::size_t>(best)];
            if (splits[i].state != Split::State::Ready || splits[i].pc != chosen.pc || splits[i].frame != chosen.frame)
                continue;
            chosen.mask |= splits[i].mask;
            splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i));
            if (static_cast<int>(i) < best) --best;
        }
        return best;
    }

    [[nodiscard]] bool before(const Split& a, const Split& b) const {
        const std::uint32_t da = w.frames[a.frame].depth, db = w.frames[b.frame].depth;
        return da != db ? da > db : a.pc < b.pc;
    }

    // The lowest place where other ready lanes of the same call stand: there they may be joined.
    [[nodiscard]] std::uint32_t meeting_point(std::size_t self) const {
        std::uint32_t limit = ~0u;
        for (std::size_t i = 0; i < w.splits.size(); ++i) {
            const Split& s = w.splits[i];
            if (i != self && s.state == Split::State::Ready && !s.deferred && s.frame == w.splits[self].frame &&
                s.pc > w.splits[self].pc)
                limit = std::min(limit, s.pc);
        }
        return limit;
    }

    void enter_frame(std::uint32_t frame) {
        w.frame = frame;
        w.base[0] = w.frames[frame].registers;
    }

    Ran run_split(std::size_t self) {
        const Insn* insns = code.insns.data();
        const BasicBlock* blocks = code.blocks.data();
        std::uint32_t pc = w.splits[self].pc, mask = w.splits[self].mask;
        enter_frame(w.splits[self].frame);
        std::uint32_t limit = w.splits.size() > 1 ? meeting_point(self) : ~0u;
        const auto leave = [&](Ran why) {
            w.splits[self].pc = pc;
            w.splits[self].mask = mask;
            return why;
        };
        for (;;) {
            const BasicBlock& b = blocks[pc];
            ++e.block_warps[pc];
            e.block_threads[pc] += static_cast<unsigned>(std::popcount(mask));
            e.instructions += b.size;
            w.clock += b.size;
            const Insn* const end = insns + b.end;
            if (mask == full_mask)
                for (const Insn* i = insns + b.begin; i != end; ++i) i->full(w, *i, mask);
            else
                for (const Insn* i = insns + b.begin; i != end; ++i) i->masked(w, *i, mask);
            switch (b.terminator) {
                case Terminator::Fall:
                    ++pc;
                    break;
                case Terminator::Branch: {
                    const std::uint32_t taken = b.conditional ? condition(*end, mask) : mask;
                    const bool backward = b.target <= pc;
                    if (taken == mask) {
                        pc = b.target;
                    } else if (taken == 0) {
                        ++pc;
                    } else {
                        ++e.block_divergent[pc];
                        const std::uint32_t low = std::min(b.target, pc + 1), high = std::max(b.target, pc + 1);
                        const std::uint32_t low_mask = b.target < pc + 1 ? taken : mask & ~taken;
                        add_split(high, mask & ~low_mask);
                        mask = low_mask;
                        pc = low;
                        limit = std::min(limit, high);
                    }
                    if (backward) {
                        if (e.instructions >= charge_chunk) [[unlikely]]
                            charge(*end);
                        if (w.sync_operations >= spin_limit) [[unlikely]] {
                            w.splits[self].deferred = w.splits.size() > 1;
                            return leave(Ran::TurnOver);
                        }
                    }
                    break;
                }
                case Terminator::BranchIndexed: {
                    branch_indexed(*end, b, pc, mask);
                    remove(self);
                    return Ran::Rescheduled;
                }
                case Terminator::Barrier: {
                    const bool waits = arrive(*end, self, pc + 1, mask);
                    ++pc;
                    if (!waits) break;
                    return Ran::Rescheduled;
                }
                case Terminator::WarpSync: {
                    const std::uint32_t members = operand<std::uint32_t>(w, end->a)[std::countr_zero(mask)];
                    ++pc;
                    if ((members & w.live & ~mask) == 0) break;
                    wait(self, Split::State::AtWarpSync, pc, mask, *end);
                    w.splits[self].members = members;
                    release_warp_sync();
                    return Ran::Rescheduled;
                }
                case Terminator::Exit: {
                    const std::uint32_t leaving = b.conditional ? condition(*end, mask) : mask;
                    mask &= ~leaving;
                    ++pc;
                    w.splits[self].mask = mask;
                    if (mask == 0) remove(self);
                    exit_lanes(leaving);
                    if (mask == 0) return Ran::Rescheduled;
                    break;
                }
                case Terminator::Call: {
                    const CallSite& site = code.calls[b.target];
                    ++pc;
                    if (site.builtin >= 0) {
                        call_builtin(w, *end, site, mask);
                        break;
                    }
                    call(site, b.target, self, pc, mask, *end);
                    if (e.instructions >= charge_chunk) charge(*end);
                    return Ran::Rescheduled;
                }
                case Terminator::Return: {
                    const std::uint32_t leaving = b.conditional ? condition(*end, mask) : mask;
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
                    const std::uint32_t hit = b.conditional ? condition(*end, mask) : mask;
                    if (hit)
                        raise_at(w, end, error::launch_failure, "the kernel executed a trap",
                                 static_cast<unsigned>(std::countr_zero(hit)));
                    ++pc;
                    break;
                }
            }
            if (pc >= limit) return leave(Ran::Rescheduled);
        }
    }

    [[nodiscard]] std::uint32_t condition(const Insn& in, std::uint32_t mask) const {
        return mask & (predicate(w, in.guard) ^ (in.guard_negated ? ~0u : 0u));
    }

    void add_split(std::uint32_t pc, std::uint32_t mask) {
        Split s;
        s.pc = pc;
        s.mask = mask;
        s.frame = w.frame;
        w.splits.push_back(s);
    }

    void remove(std::size_t index) { w.splits.erase(w.splits.begin() + static_cast<std::ptrdiff_t>(index)); }

    void charge(const Insn& at) {
        if (!e.grid->charge(e))
            raise_at(
                w, &at, error::launch_timeout,
                fmt::format("the kernel executed more than {} warp instructions and was stopped: does this loop end?",
                            e.grid->limits.instructions),
                static_cast<unsigned>(std::countr_zero(w.live ? w.live : 1u)));
    }

    void branch_indexed(const Insn& in, const BasicBlock& b, std::uint32_t pc, std::uint32_t mask) {
        const auto& table = code.branch_tables[b.target];
        const auto* index = operand<std::uint32_t>(w, in.a);
        std::uint32_t rest = mask;
        bool diverged = false;
        while (rest) {
            const std::uint32_t i = index[std::countr_zero(rest)];
            if (i >= table.size())
                raise_at(w, &in, error::invalid_pc, fmt::format("branch table index {} of {}", i, table.size()),
                         static_cast<unsigned>(std::countr_zero(rest)));
            std::uint32_t same = 0;
            for_active(rest, [&](unsigned l) { same |= std::uint32_t{index[l] == i} << l; });
            diverged |= same != mask;
            add_split(table[i], same);
            rest &= ~same;
        }
        if (diverged) ++e.block_divergent[pc];
    }

    void wait(std::size_t self, Split::State state, std::uint32_t pc, std::uint32_t mask, const Insn& in) {
        Split& s = w.splits[self];
        s.state = state;
        s.pc = pc;
        s.mask = mask;
        s.waiting_insn = &in;
    }

    // True if the split waits now (or waited and was released: then it is rescheduled).
    bool arrive(const Insn& in, std::size_t self, std::uint32_t resume, std::uint32_t mask) {
        const auto lane = static_cast<unsigned>(std::countr_zero(mask));
        const std::uint32_t id = operand<std::uint32_t>(w, in.a)[lane];
        if (id >= block.barriers.size())
            raise_at(w, &in, error::illegal_instruction, fmt::format("barrier {} does not exist: there are 16", id),
                     lane);
        Barrier& barrier = block.barriers[id];
        const unsigned kind = in.aux & barrier_form::kind;
        if (in.aux & barrier_form::counted) {
            const std::uint32_t threads = operand<std::uint32_t>(w, in.b)[lane];
            if (threads == 0 || threads % warp_size)
                raise_at(w, &in, error::illegal_instruction,
                         fmt::format("a barrier's number of threads must be a multiple of 32, not {}", threads), lane);
            barrier.expected = threads;
        }
        // A counted barrier counts whole warps: lanes that have exited, or never were, arrive with the others.
        const bool whole_warp = (in.aux & barrier_form::counted) && mask == w.live;
        barrier.arrived += whole_warp ? warp_size : static_cast<std::uint32_t>(std::popcount(mask));
        if (kind >= barrier_form::popc) {
            const std::uint32_t holds = mask & (predicate(w, in.c) ^ (in.aux & barrier_form::negated ? ~0u : 0u));
            barrier.count += static_cast<std::uint32_t>(std::popcount(holds));
        }
        if (kind != barrier_form::arrive) {
            wait(self, Split::State::AtBarrier, resume, mask, in);
            w.splits[self].barrier = static_cast<std::uint8_t>(id);
        }
        complete(id);
        return kind != barrier_form::arrive;
    }

    void complete(std::uint32_t id) {
        Barrier& barrier = block.barriers[id];
        const std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
        if (barrier.arrived == 0 || barrier.arrived < expected) return;
        for (Warp& other : block.warps)
            for (Split& s : other.splits) {
                if (s.state != Split::State::AtBarrier || s.barrier != id) continue;
                s.state = Split::State::Ready;
                deliver(other, s, barrier);
            }
        barrier = Barrier{};
    }

    // The result of a bar.red.
    static void deliver(Warp& other, const Split& s, const Barrier& barrier) {
        const Insn& in = *s.waiting_insn;
        const unsigned kind = in.aux & barrier_form::kind;
        if (kind < barrier_form::popc) return;
        std::byte* at = other.frames[s.frame].registers + (in.d & area::offset_mask);
        if (kind == barrier_form::popc) {
            auto* d = reinterpret_cast<std::uint32_t*>(at);
            for_active(s.mask, [&](unsigned l) { d[l] = barrier.count; });
        } else {
            auto& d = *reinterpret_cast<std::uint32_t*>(at);
            const bool value = kind == barrier_form::all ? barrier.count == barrier.arrived : barrier.count > 0;
            d = (d & ~s.mask) | (value ? s.mask : 0u);
        }
    }

    void release_warp_sync() {
        std::uint32_t waiting = 0;
        for (const Split& s : w.splits)
            if (s.state == Split::State::AtWarpSync) waiting |= s.mask;
        for (Split& s : w.splits)
            if (s.state == Split::State::AtWarpSync && (s.members & w.live & ~waiting) == 0)
                s.state = Split::State::Ready;
    }

    void exit_lanes(std::uint32_t lanes) {
        if (!lanes) return;
        w.live &= ~lanes;
        block.live_threads -= static_cast<std::uint32_t>(std::popcount(lanes));
        if (w.live == 0)
            ++block.warps_done;
        else
            release_warp_sync();
        for (std::uint32_t id = 0; id < block.barriers.size(); ++id)
            if (block.barriers[id].arrived && !block.barriers[id].expected) complete(id);
    }

    void copy(std::byte* from, std::byte* to, const CallCopy& c, std::uint32_t mask) const {
        from += c.from & area::offset_mask;
        to += c.to & area::offset_mask;
        for_active(mask, [&](unsigned l) {
            std::memcpy(to + std::size_t{l} * c.bytes, from + std::size_t{l} * c.bytes, c.bytes);
        });
    }

    void call(const CallSite& site, std::uint32_t site_index, std::size_t self, std::uint32_t resume,
              std::uint32_t mask, const Insn& in) {
        const FunctionCode& callee = code.functions[site.callee];
        const Frame caller = w.frames[w.frame];
        const std::uint32_t caller_index = w.frame;
        const std::uint32_t local_offset = caller.local_offset + code.functions[caller.function].local_bytes;
        const auto lane = static_cast<unsigned>(std::countr_zero(mask));
        if (caller.depth + 1 > max_call_depth || local_offset + callee.local_bytes > w.local_stride)
            raise_at(w, &in, error::hardware_stack_error,
                     fmt::format("stack overflow: {} calls deep in '{}'", caller.depth + 1, callee.name), lane);
        std::uint32_t index = 1;
        while (index < w.frames.size() && (w.frames[index].users || w.frames[index].storage_bytes < callee.frame_bytes))
            ++index;
        if (index == w.frames.size()) {
            w.frames.emplace_back();
            w.frame_storage.resize(w.frames.size());
            w.frame_storage[index] = aligned_bytes(callee.frame_bytes);
            std::memset(w.frame_storage[index].get(), 0, callee.frame_bytes);
            w.frames[index].registers = w.frame_storage[index].get();
            w.frames[index].storage_bytes = callee.frame_bytes;
        }
        Frame& f = w.frames[index];
        f.function = site.callee;
        f.caller = caller_index;
        f.return_pc = resume;
        f.call_site = site_index;
        f.users = static_cast<std::uint32_t>(std::popcount(mask));
        f.depth = caller.depth + 1;
        f.local_offset = local_offset;
        for (const CallCopy& c : site.arguments) copy(caller.registers, f.registers, c, mask);
        Split& s = w.splits[self];
        s.frame = index;
        s.pc = callee.entry_block;
        s.mask = mask;
    }

    void return_lanes(std::uint32_t lanes) {
        Frame& f = w.frames[w.frame];
        for (const CallCopy& c : code.calls[f.call_site].results)
            copy(f.registers, w.frames[f.caller].registers, c, lanes);
        f.users -= static_cast<std::uint32_t>(std::popcount(lanes));
        Split s;
        s.frame = f.caller;
        s.pc = f.return_pc;
        s.mask = lanes;
        w.splits.push_back(s);
    }

    Executor& e;
    BlockState& block;
    Warp& w;
    const Code& code;
};

// All live threads wait and nothing can release them. Lanes that wait for others of their warp explain most.
[[noreturn]] void raise_deadlock(const BlockState& block) {
    const Warp* waiting_warp = nullptr;
    const Split* waiting = nullptr;
    for (const Warp& w : block.warps)
        for (const Split& s : w.splits)
            if (!waiting || (waiting->state != Split::State::AtWarpSync && s.state == Split::State::AtWarpSync)) {
                waiting_warp = &w;
                waiting = &s;
            }
    if (!waiting) throw std::logic_error("a block without live threads cannot be in a deadlock");
    const Warp& w = *waiting_warp;
    const auto lane = static_cast<unsigned>(std::countr_zero(waiting->mask));
    if (waiting->state == Split::State::AtWarpSync)
        raise_at(w, waiting->waiting_insn, error::launch_timeout,
                 fmt::format("deadlock: lanes {:#010x} wait in __syncwarp for lanes {:#010x}, which never come",
                             waiting->mask, waiting->members & w.live & ~waiting->mask),
                 lane);
    const Barrier& b = block.barriers[waiting->barrier];
    raise_at(w, waiting->waiting_insn, error::launch_timeout,
             fmt::format("deadlock: {} of {} threads reached this barrier, the others never do", b.arrived,
                         b.expected ? b.expected : block.live_threads),
             lane);
}

}  // namespace

void raise_at(const Warp& warp, const Insn* insn, int code, const std::string& message, unsigned lane) {
    Fault fault(code, message, lane);
    fault.insn = insn;
    fault.warp = warp.index;
    throw fault;
}

bool run_block(Executor& e, BlockState& block) {
    while (block.warps_done < block.warps.size()) {
        bool ran = false, spinning = false;
        for (Warp& w : block.warps) {
            const bool ready = std::any_of(w.splits.begin(), w.splits.end(),
                                           [](const Split& s) { return s.state == Split::State::Ready; });
            if (!ready) continue;
            ran = true;
            spinning |= !WarpRunner(e, block, w).run();
        }
        if (block.warps_done == block.warps.size()) break;
        if (!ran) raise_deadlock(block);
        if (spinning) return false;
    }
    return true;
}

}  // namespace warpgrade::vgpu
