// synccheck: barriers that threads meet in different places, and masks that do not fit the lanes that call.
//
// What is legal, by the PTX manual and the CUDA programming guide:
//   - `bar` and `barrier.aligned` (__syncthreads() and its kin): all threads of a warp execute the same instruction.
//     For __syncthreads() the guide wants the same of all threads of the block. Named barriers of inline assembly
//     (bar.sync 1, 64) connect different places of different warps on purpose.
//   - `barrier` without .aligned (cooperative groups): threads may meet in different places.
//   - Threads that have exited count as arrived, at barriers as in masks: `if (i >= n) return;` may stand before a
//     __syncthreads(). But who passes by and goes on with what comes behind has missed it, though it works since
//     Volta: `if (i < n) { ...; __syncthreads(); } out[i] = 0;`. Told apart by the last basic block with code that
//     the thread ran before its exit: can it be run after the barrier as well?
//   - When lanes come is nobody's business: they may come late, because others of their warp spin.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/lanes.hpp"
#include "vgpu/warp_runner.hpp"
#include "vgpu/words.hpp"

namespace warpgrade::vgpu {

namespace {

// Threads that wait for the same barrier at one instruction.
struct Group {
    const Insn* insn;
    std::uint32_t threads, first;  // how many; the first one's number in the block
    bool splits_a_warp;            // others of one of these warps wait at another instruction
};

std::vector<Group> groups_at(const BlockState& block, std::uint32_t barrier) {
    std::vector<Group> groups;
    for (const Warp& w : block.warps) {
        const Insn* of_warp = nullptr;
        bool split = false;
        for (const Split& s : w.splits) {
            if (s.state != Split::State::AtBarrier || s.barrier != barrier) continue;
            if (!of_warp) of_warp = s.waiting_insn;
            split |= s.waiting_insn != of_warp;
        }
        for (const Split& s : w.splits) {
            if (s.state != Split::State::AtBarrier || s.barrier != barrier) continue;
            const auto threads = static_cast<std::uint32_t>(std::popcount(s.mask));
            const std::uint32_t first = w.index * warp_size + static_cast<std::uint32_t>(std::countr_zero(s.mask));
            const auto same = std::ranges::find(groups, s.waiting_insn, &Group::insn);
            if (same == groups.end()) {
                groups.push_back({s.waiting_insn, threads, first, split});
                continue;
            }
            same->threads += threads;
            same->first = std::min(same->first, first);
            same->splits_a_warp |= split;
        }
    }
    std::ranges::sort(groups, {}, &Group::first);
    return groups;
}

// The last line that lanes ran before they exited.
device::SourcePlace last_place(const Grid& grid, const Departure& departure) {
    const BasicBlock& b = grid.code.blocks[departure.last];
    return grid.source_place(grid.code.insns[b.end > b.begin ? b.end - 1 : b.begin]);
}

}  // namespace

std::string barrier_name(const Insn& in, std::uint32_t id) {
    return id == 0 && !(in.aux & barrier_form::counted) ? "__syncthreads()" : fmt::format("barrier {}", id);
}

std::string collective_name(const Code& code, const Insn& in) {
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"bar.warp.sync", "__syncwarp()"},         {"shfl.sync.up", "__shfl_up_sync()"},
        {"shfl.sync.down", "__shfl_down_sync()"},  {"shfl.sync.bfly", "__shfl_xor_sync()"},
        {"shfl.sync.idx", "__shfl_sync()"},        {"vote.sync.all", "__all_sync()"},
        {"vote.sync.any", "__any_sync()"},         {"vote.sync.ballot", "__ballot_sync()"},
        {"match.any.sync", "__match_any_sync()"},  {"match.all.sync", "__match_all_sync()"},
        {"redux.sync.add", "__reduce_add_sync()"}, {"redux.sync.min", "__reduce_min_sync()"},
        {"redux.sync.max", "__reduce_max_sync()"}, {"redux.sync.and", "__reduce_and_sync()"},
        {"redux.sync.or", "__reduce_or_sync()"},   {"redux.sync.xor", "__reduce_xor_sync()"}};
    const std::string& opcode = code.collectives[in.stat];
    for (const auto& [begin, name] : names)
        if (opcode.starts_with(begin)) return std::string(name);
    return opcode;
}

// The barrier is complete, and its threads wait at more than one instruction.
void WarpRunner::report_divergent_barrier(std::uint32_t id) {
    const auto groups = groups_at(block, id);
    const auto aligned = [](const Group& g) { return (g.insn->aux & barrier_form::aligned) != 0; };
    const auto of_block = [&](const Group& g) {
        return aligned(g) && id == 0 && !(g.insn->aux & barrier_form::counted);
    };
    // The first two places that may not be apart.
    const auto wrong = [&](const Group& a, const Group& b) {
        return (of_block(a) && of_block(b)) || (a.splits_a_warp && b.splits_a_warp && (aligned(a) || aligned(b)));
    };
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t k = i + 1; k < groups.size(); ++k) {
            const Group &here = groups[i], &there = groups[k];
            if (!wrong(here, there)) continue;
            block.parted = true;
            const Insn* insns = code.insns.data();
            device::Diagnostic* found = e.findings.add(device::rules::divergent_barrier, block.linear,
                                                       static_cast<std::uint32_t>(here.insn - insns),
                                                       static_cast<std::uint32_t>(there.insn - insns));
            if (!found) return;
            std::uint32_t all = 0;
            for (const Group& g : groups) all += g.threads;
            found->message = fmt::format("waits at this {} with {} of the block's {}; the others wait at another one",
                                         barrier_name(*here.insn, id), grouped(here.threads), counted(all, "thread"));
            found->place = e.grid->source_place(*here.insn);
            found->thread = e.grid->thread_place(block.linear, here.first);
            for (const Group& g : groups)
                if (&g != &here)
                    found->related.push_back(
                        {g.threads == 1 ? "one thread waits at" : grouped(g.threads) + " threads wait at",
                         e.grid->source_place(*g.insn), e.grid->thread_place(block.linear, g.first)});
            return;
        }
}

// Did lanes that have exited run something that comes after `in`, or may come after it?
bool WarpRunner::passed_by(Departure& departure, const Insn& in) const {
    if (std::ranges::find(departure.cleared, &in) != departure.cleared.end()) return false;
    const auto index = static_cast<std::uint32_t>(&in - code.insns.data());
    const auto from = std::ranges::upper_bound(code.blocks, index, {}, &BasicBlock::begin) - code.blocks.begin();
    std::vector<bool> seen(code.blocks.size());
    std::vector<std::uint32_t> open{static_cast<std::uint32_t>(from)};  // the terminator of its block is `in`
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        if (at >= code.blocks.size() || seen[at]) continue;
        if (at == departure.last) return true;
        seen[at] = true;
        const BasicBlock& b = code.blocks[at];
        const bool jumps = b.terminator == Terminator::Branch || b.terminator == Terminator::Skip;
        const bool ends =
            b.terminator == Terminator::Exit || b.terminator == Terminator::Return || b.terminator == Terminator::Trap;
        if (jumps) open.push_back(b.target);
        if (b.terminator == Terminator::BranchIndexed)
            for (const std::uint32_t t : code.branch_tables[b.target]) open.push_back(t);
        else if (b.conditional || !(jumps || ends))
            open.push_back(at + 1);
    }
    departure.cleared.push_back(&in);
    return false;
}

// The barrier is complete: who is not there has exited.
void WarpRunner::look_for_departed(const Insn& in, std::uint32_t id) {
    const Departure* first = nullptr;
    std::uint32_t gone = 0, first_thread = 0;
    for (Warp& other : block.warps)
        for (Departure& departure : other.departures) {
            if (!passed_by(departure, in)) continue;
            gone += static_cast<std::uint32_t>(std::popcount(departure.lanes));
            if (first) continue;
            first = &departure;
            first_thread = other.index * warp_size + static_cast<std::uint32_t>(std::countr_zero(departure.lanes));
        }
    if (!first) return;
    device::Diagnostic* found = e.findings.add(device::rules::divergent_barrier, block.linear,
                                               static_cast<std::uint32_t>(&in - code.insns.data()));
    if (!found) return;
    found->message = fmt::format("waits at this {}, which {} of the block {} passed by; they have left the kernel",
                                 barrier_name(in, id), counted(gone, "thread"), gone == 1 ? "has" : "have");
    found->place = e.grid->source_place(in);
    if (const auto groups = groups_at(block, id); !groups.empty())
        found->thread = e.grid->thread_place(block.linear, groups[0].first);
    found->related.push_back(
        {"passed by", last_place(*e.grid, *first), e.grid->thread_place(block.linear, first_thread)});
}

// The call is complete: members that are not there have exited.
void WarpRunner::look_for_departed_members(const Insn& in, std::uint32_t members, std::uint32_t callers) {
    for (Departure& departure : w.departures) {
        const std::uint32_t missing = members & departure.lanes;
        if (!missing || !passed_by(departure, in)) continue;
        device::Diagnostic* found =
            e.findings.add(device::rules::lane_mask, block.linear, static_cast<std::uint32_t>(&in - code.insns.data()));
        if (!found) return;
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(missing));
        found->message = fmt::format("calls {} with the mask {:#010x}, which names {} of its warp that passed by",
                                     collective_name(code, in), members,
                                     counted(static_cast<std::uint32_t>(std::popcount(missing)), "thread"));
        found->place = e.grid->source_place(in);
        found->thread = e.grid->thread_place(
            block.linear, w.index * warp_size + static_cast<std::uint32_t>(std::countr_zero(callers)));
        found->related.push_back({"passed by", last_place(*e.grid, departure),
                                  e.grid->thread_place(block.linear, w.index * warp_size + lane)});
        return;
    }
}

// Lanes call with a mask that does not name them.
void WarpRunner::report_foreign_mask(const Insn& in, std::uint32_t members, std::uint32_t strangers) {
    device::Diagnostic* found =
        e.findings.add(device::rules::lane_mask, block.linear, static_cast<std::uint32_t>(&in - code.insns.data()));
    if (!found) return;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(strangers));
    const auto others = static_cast<std::uint32_t>(std::popcount(strangers)) - 1;
    found->message = fmt::format("calls {} with the mask {:#010x}, which does not name its own lane {}",
                                 collective_name(code, in), members, lane);
    if (others) found->message += fmt::format("; {} so too", also(others));
    found->place = e.grid->source_place(in);
    found->thread = e.grid->thread_place(block.linear, w.index * warp_size + lane);
}

}  // namespace warpgrade::vgpu
