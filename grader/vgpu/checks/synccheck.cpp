#include "vgpu/checks/synccheck.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/code/flow_graph.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace {

// Threads that wait for the same barrier at one instruction.
struct Group {
    const Insn* insn;
    std::uint32_t threads, first;  // number of threads; number of the first one in the block
    bool splits_a_warp;            // other lanes of one of these warps wait at another instruction
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

// The last source line that the lanes ran before they exited.
device::SourcePlace last_place(const Launch& launch, const ExitedLanes& exited) {
    const BasicBlock& b = launch.code.blocks[exited.last];
    return launch.source_place(launch.code.insns[b.end > b.begin ? b.end - 1 : b.begin]);
}

// True if lanes that have exited ran code that comes, or may come, after `in`.
bool has_missed(const Code& code, ExitedLanes& exited, const Insn& in) {
    if (std::ranges::find(exited.rightly_skipped, &in) != exited.rightly_skipped.end()) return false;
    std::vector<bool> seen(code.blocks.size());
    // `in` is the terminator of this block.
    std::vector<std::uint32_t> open{block_of(code, static_cast<std::uint32_t>(&in - code.insns.data())) + 1};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        if (at >= code.blocks.size() || seen[at]) continue;
        if (at == exited.last) return true;
        seen[at] = true;
        for_successors(code, at, [&](std::uint32_t next) { open.push_back(next); });
    }
    exited.rightly_skipped.push_back(&in);
    return false;
}

}  // namespace

std::string barrier_name(const Insn& in, std::uint32_t id) {
    return id == 0 && !(in.form & barrier_form::counted) ? "__syncthreads()" : fmt::format("barrier {}", id);
}

std::string collective_name(const Code& code, const Insn& in) {
    const Collective& collective = code.collectives[in.collective];
    return collective.function.empty() ? collective.opcode : std::string(collective.function);
}

void report_divergent_barrier(Executor& e, BlockState& block, std::uint32_t id) {
    const auto groups = groups_at(block, id);
    const auto aligned = [](const Group& g) { return (g.insn->form & barrier_form::aligned) != 0; };
    const auto of_block = [&](const Group& g) {
        return aligned(g) && id == 0 && !(g.insn->form & barrier_form::counted);
    };
    // True if threads must not wait for one barrier at these two places.
    const auto wrong = [&](const Group& a, const Group& b) {
        return (of_block(a) && of_block(b)) || (a.splits_a_warp && b.splits_a_warp && (aligned(a) || aligned(b)));
    };
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t k = i + 1; k < groups.size(); ++k) {
            const Group &here = groups[i], &there = groups[k];
            if (!wrong(here, there)) continue;
            block.watch.divergence_reported = true;
            const Insn* insns = e.code->insns.data();
            device::Diagnostic* found = e.watch.findings.add(device::rules::divergent_barrier, block.linear,
                                                             static_cast<std::uint32_t>(here.insn - insns),
                                                             static_cast<std::uint32_t>(there.insn - insns));
            if (!found) return;
            std::uint32_t all = 0;
            for (const Group& g : groups) all += g.threads;
            found->message = fmt::format("waits at this {} with {} of the block's {}; the others wait at another one",
                                         barrier_name(*here.insn, id), grouped(here.threads), counted(all, "thread"));
            found->place = e.launch->source_place(*here.insn);
            found->thread = e.launch->thread_place(block.linear, here.first);
            for (const Group& g : groups)
                if (&g != &here)
                    found->related.push_back(
                        {g.threads == 1 ? "one thread waits at" : grouped(g.threads) + " threads wait at",
                         e.launch->source_place(*g.insn), e.launch->thread_place(block.linear, g.first)});
            return;
        }
}

void report_missed_barrier(Executor& e, BlockState& block, const Insn& in, std::uint32_t id) {
    const ExitedLanes* first = nullptr;
    std::uint32_t gone = 0, first_thread = 0;
    for (Warp& other : block.warps)
        for (ExitedLanes& exited : other.watch.exited_lanes) {
            if (!has_missed(*e.code, exited, in)) continue;
            gone += static_cast<std::uint32_t>(std::popcount(exited.lanes));
            if (first) continue;
            first = &exited;
            first_thread = other.index * warp_size + static_cast<std::uint32_t>(std::countr_zero(exited.lanes));
        }
    if (!first) return;
    device::Diagnostic* found = e.watch.findings.add(device::rules::divergent_barrier, block.linear,
                                                     static_cast<std::uint32_t>(&in - e.code->insns.data()));
    if (!found) return;
    found->message = fmt::format("waits at this {}, but {} of the block skipped it and {} left the kernel",
                                 barrier_name(in, id), counted(gone, "thread"), gone == 1 ? "has" : "have");
    found->place = e.launch->source_place(in);
    if (const auto groups = groups_at(block, id); !groups.empty())
        found->thread = e.launch->thread_place(block.linear, groups[0].first);
    found->related.push_back(
        {"passed by", last_place(*e.launch, *first), e.launch->thread_place(block.linear, first_thread)});
}

void report_missed_collective(Warp& w, const Insn& in, std::uint32_t members, std::uint32_t callers) {
    Executor& e = *w.executor;
    const BlockState& block = *w.block;
    for (ExitedLanes& exited : w.watch.exited_lanes) {
        const std::uint32_t missing = members & exited.lanes;
        if (!missing || !has_missed(*e.code, exited, in)) continue;
        device::Diagnostic* found = e.watch.findings.add(device::rules::lane_mask, block.linear,
                                                         static_cast<std::uint32_t>(&in - e.code->insns.data()));
        if (!found) return;
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(missing));
        found->message =
            fmt::format("calls {} with the mask {:#010x}, which names {} of its warp that skipped the call",
                        collective_name(*e.code, in), members,
                        counted(static_cast<std::uint32_t>(std::popcount(missing)), "thread"));
        found->place = e.launch->source_place(in);
        found->thread = e.launch->thread_place(
            block.linear, w.index * warp_size + static_cast<std::uint32_t>(std::countr_zero(callers)));
        found->related.push_back({"passed by", last_place(*e.launch, exited),
                                  e.launch->thread_place(block.linear, w.index * warp_size + lane)});
        return;
    }
}

void report_mask_without_caller(Warp& w, const Insn& in, std::uint32_t members, std::uint32_t strangers) {
    Executor& e = *w.executor;
    const BlockState& block = *w.block;
    device::Diagnostic* found = e.watch.findings.add(device::rules::lane_mask, block.linear,
                                                     static_cast<std::uint32_t>(&in - e.code->insns.data()));
    if (!found) return;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(strangers));
    const auto others = static_cast<std::uint32_t>(std::popcount(strangers)) - 1;
    found->message = fmt::format("calls {} with the mask {:#010x}, which does not name its own lane {}",
                                 collective_name(*e.code, in), members, lane);
    if (others) found->message += fmt::format("; {} the same", also(others));
    found->place = e.launch->source_place(in);
    found->thread = e.launch->thread_place(block.linear, w.index * warp_size + lane);
}

}  // namespace warpgrade::vgpu
