// Where lanes wait for each other: block barriers, collectives of a warp (shuffles, votes, __syncwarp …), exits.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/checks/synccheck.hpp"
#include "vgpu/exec/warp_runner.hpp"
#include "vgpu/state/lanes.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace error = device::error;

// True if the split waits now, or waited and was released and has to be rescheduled.
bool WarpRunner::arrive(const Insn& in, std::size_t self, std::uint32_t resume, std::uint32_t mask) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint32_t id = operand<std::uint32_t>(w, in.a)[lane];
    if (id >= block.barriers.size())
        raise_at(w, &in, error::illegal_instruction, lane,
                 fmt::format("waits at barrier {}, but a block has only {}", id, block.barriers.size()));
    Barrier& barrier = block.barriers[id];
    const unsigned kind = in.form & barrier_form::kind;
    e.watch.order_may_matter |= id != 0 || kind == barrier_form::arrive || (in.form & barrier_form::counted);
    if (in.form & barrier_form::counted) {
        const std::uint32_t threads = operand<std::uint32_t>(w, in.b)[lane];
        if (threads == 0 || threads % warp_size)
            raise_at(w, &in, error::illegal_instruction, lane,
                     fmt::format("waits at a barrier for {}, which is not a positive multiple of {}",
                                 counted(threads, "thread"), warp_size));
        barrier.expected = threads;
    }
    // A counted barrier counts whole warps: lanes that have exited, or never existed, arrive with the others.
    const bool whole_warp = (in.form & barrier_form::counted) && mask == w.live;
    barrier.arrived += whole_warp ? warp_size : static_cast<std::uint32_t>(std::popcount(mask));
    if (kind >= barrier_form::popc) {
        const std::uint32_t holds = mask & (predicate(w, in.c) ^ (in.form & barrier_form::negated ? ~0u : 0u));
        barrier.asked += static_cast<std::uint32_t>(std::popcount(mask));
        barrier.count += static_cast<std::uint32_t>(std::popcount(holds));
    }
    if (kind != barrier_form::arrive) {
        Split& s = w.splits[self];
        s.state = Split::State::AtBarrier;
        s.pc = resume;
        s.mask = mask;
        s.waiting_insn = &in;
        s.barrier = static_cast<std::uint8_t>(id);
        if (!barrier.first) barrier.first = &in;
        barrier.apart |= barrier.first != &in;
    }
    complete(id);
    return kind != barrier_form::arrive;
}

namespace {

// The result of a bar.red.
void deliver(Warp& other, const Split& s, const Barrier& barrier) {
    const Insn& in = *s.waiting_insn;
    const unsigned kind = in.form & barrier_form::kind;
    if (kind < barrier_form::popc) return;
    std::byte* at = other.frames[s.frame].registers + (in.d & area::offset_mask);
    if (kind == barrier_form::popc) {
        auto* d = reinterpret_cast<std::uint32_t*>(at);
        for_active(s.mask, [&](unsigned l) { d[l] = barrier.count; });
    } else {
        auto& d = *reinterpret_cast<std::uint32_t*>(at);
        const bool value = kind == barrier_form::all ? barrier.count == barrier.asked : barrier.count > 0;
        d = (d & ~s.mask) | (value ? s.mask : 0u);
    }
}

}  // namespace

void WarpRunner::complete(std::uint32_t id) {
    Barrier& barrier = block.barriers[id];
    const std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
    if (barrier.arrived < expected) return;
    block.l1.at_barrier();
    if (e.watch.values) {  // a barrier of some warps counts for all, so that no report is false
        const Mark now = mark::at_time(++e.watch.now);
        for (Warp& other : block.warps) other.watch.bound = other.watch.warp_bound = now;
    }
    if (e.launch->limits.checks.sync) {
        if (barrier.apart)
            report_divergent_barrier(e, block, id);
        else if (!barrier.expected && barrier.first && !block.watch.divergence_reported)
            report_missed_barrier(e, block, *barrier.first, id);
    }
    for (Warp& other : block.warps)
        for (Split& s : other.splits) {
            if (s.state != Split::State::AtBarrier || s.barrier != id) continue;
            s.state = Split::State::Ready;
            deliver(other, s, barrier);
        }
    barrier = Barrier{};
}

// Lanes that execute a collective wait for the other lanes in their member mask, until these execute a collective of
// the same kind with the same mask, at any instruction, or exit. A lane outside its own mask waits too but is no
// member. True if all have arrived and the collective is done; false if the lanes were rescheduled.
bool WarpRunner::collective(const Insn& in, std::size_t self, std::uint32_t resume, std::uint32_t mask) {
    const auto* masks = operand<std::uint32_t>(w, in.members());
    const std::uint32_t members = masks[std::countr_zero(mask)];
    const std::uint32_t alike = ballot([=](unsigned l) { return masks[l] == members; }) & mask;
    if ((alike & ~members) != 0 && e.launch->limits.checks.sync)
        report_mask_without_caller(w, in, members, alike & ~members);
    e.watch.order_may_matter |= members != full_mask || alike != mask;
    if (alike == mask && (members & w.live & ~mask) == 0) [[likely]] {
        w.participants = w.present = mask;
        begin_collective(in, mask);
        in.masked(w, in, mask);
        synchronised(in.collective);
        return true;
    }
    struct Group {
        std::uint32_t members, lanes;
    } groups[warp_size];
    unsigned count = 0;
    bool all_here = true;
    for (std::uint32_t rest = mask; rest; rest &= ~groups[count++].lanes) {
        const std::uint32_t wanted = masks[std::countr_zero(rest)];
        groups[count] = {wanted, ballot([=](unsigned l) { return masks[l] == wanted; }) & rest};
        if (count && (groups[count].lanes & ~wanted) != 0 && e.launch->limits.checks.sync)  // not the first again
            report_mask_without_caller(w, in, wanted, groups[count].lanes & ~wanted);
        all_here &= (wanted & w.live & ~groups[count].lanes) == 0;
    }
    if (all_here) {  // tiles of one warp, side by side
        w.present = mask;
        begin_collective(in, mask);
        for (unsigned i = 0; i < count; ++i) {
            w.participants = groups[i].lanes;
            in.masked(w, in, groups[i].lanes);
        }
        synchronised(in.collective);
        return true;
    }
    const std::uint32_t frame = w.frame;
    remove(self);
    for (unsigned i = 0; i < count; ++i) {
        add_split(resume, groups[i].lanes, frame);
        Split& s = w.splits.back();
        s.state = Split::State::AtCollective;
        s.members = groups[i].members;
        s.waiting_insn = &in;
    }
    for (unsigned i = 0; i < count; ++i) perform_if_complete(groups[i].members, in.collective);
    return false;
}

// Lanes that wait at different instructions exchange values through a scratch register in place of each one's source.
void WarpRunner::perform_if_complete(std::uint32_t members, std::uint32_t kind) {
    const auto waits_for_it = [&](const Split& s) {
        return s.state == Split::State::AtCollective && s.members == members && s.waiting_insn->collective == kind;
    };
    std::uint32_t arrived = 0;
    for (const Split& s : w.splits)
        if (waits_for_it(s)) arrived |= s.mask;
    if ((members & w.live & ~arrived) != 0) return;
    if ((members & ~arrived) != 0)
        for (const Split& s : w.splits)
            if (waits_for_it(s)) report_missed_collective(w, *s.waiting_insn, members, s.mask);
    const std::uint32_t running = w.frame;
    alignas(64) std::byte scratch[warp_size * 8] = {};
    w.watch.exchanged.clear();
    std::uint32_t holds = 0;  // for a predicate source: the lanes in which it is true, after negation
    const auto negated = [](const Insn& in) { return in.form & collective_form::negated ? ~0u : 0u; };
    for (const Split& s : w.splits) {
        if (!waits_for_it(s)) continue;
        const Insn& in = *s.waiting_insn;
        enter_frame(s.frame);
        if (e.watch.values) gather_exchanged(w, in, s.mask);
        const std::size_t bytes = in.form >> collective_form::source_shift;
        if (bytes == 0) {
            holds |= (predicate(w, in.a) ^ negated(in)) & s.mask;
            continue;
        }
        const std::byte* source = operand<std::byte>(w, in.a);
        for_active(s.mask, [&](unsigned l) { std::memcpy(scratch + l * bytes, source + l * bytes, bytes); });
    }
    w.base[3] = scratch;
    w.participants = w.present = arrived;
    for (Split& s : w.splits) {
        if (!waits_for_it(s)) continue;
        enter_frame(s.frame);
        if (e.watch.values) define_results(w, *s.waiting_insn, s.mask);
        Insn in = *s.waiting_insn;
        if (in.form >> collective_form::source_shift == 0) {
            const std::uint32_t bits = holds ^ negated(in);
            std::memcpy(scratch, &bits, sizeof bits);
        }
        in.a = area::scratch;
        in.masked(w, in, s.mask);
    }
    for (Split& s : w.splits)
        if (waits_for_it(s)) s.state = Split::State::Ready;
    enter_frame(running);
    synchronised(kind);
}

void WarpRunner::exit_lanes(std::uint32_t lanes, std::uint32_t last) {
    if (!lanes) return;
    if (e.launch->limits.checks.sync && last != Split::unknown) {
        const auto same = std::ranges::find(w.watch.exited_lanes, last, &ExitedLanes::last);
        if (same != w.watch.exited_lanes.end())
            same->lanes |= lanes;
        else
            w.watch.exited_lanes.push_back({lanes, last, {}});
    }
    w.live &= ~lanes;
    block.live_threads -= static_cast<std::uint32_t>(std::popcount(lanes));
    if (w.live == 0) {
        ++block.warps_done;
    } else {  // no lane waits for the exited ones any more
        for (std::size_t i = 0; i < w.splits.size(); ++i)
            if (w.splits[i].state == Split::State::AtCollective)
                perform_if_complete(w.splits[i].members, w.splits[i].waiting_insn->collective);
    }
    for (std::uint32_t id = 0; id < block.barriers.size(); ++id)
        if (block.barriers[id].arrived != 0) complete(id);
}

}  // namespace warpgrade::vgpu
