// Who waits where, when nobody can go on.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/checks/synccheck.hpp"
#include "vgpu/exec/warp_runner.hpp"
#include "vgpu/state/lanes.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace {

// All threads of a block that wait at one instruction for the same.
struct Place {
    const Warp* warp = nullptr;  // of the first thread
    const Split* split = nullptr;
    std::uint32_t threads = 0;
};

std::vector<Place> waiting_places(const BlockState& block) {
    std::vector<Place> places;
    for (const Warp& w : block.warps)
        for (const Split& s : w.splits) {
            const bool at_barrier = s.state == Split::State::AtBarrier;
            const auto same = std::find_if(places.begin(), places.end(), [&](const Place& p) {
                return p.split->waiting_insn == s.waiting_insn && p.split->state == s.state &&
                       (at_barrier ? p.split->barrier == s.barrier : p.warp == &w && p.split->members == s.members);
            });
            Place& place = same == places.end() ? places.emplace_back(Place{&w, &s, 0}) : *same;
            place.threads += static_cast<std::uint32_t>(std::popcount(s.mask));
        }
    // Lanes that wait for others of their own warp explain most.
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.split->state == Split::State::AtCollective && b.split->state != Split::State::AtCollective;
    });
    return places;
}

std::uint32_t first_thread(const Place& p) {
    return p.warp->index * warp_size + static_cast<std::uint32_t>(std::countr_zero(p.split->mask));
}

// The lanes that wait in the same collective.
std::uint32_t lanes_in(const Warp& w, const Split& s) {
    std::uint32_t here = 0;
    for (const Split& other : w.splits)
        if (other.state == s.state && other.members == s.members &&
            other.waiting_insn->collective == s.waiting_insn->collective)
            here |= other.mask;
    return here;
}

std::string waits_for(const Executor& e, const BlockState& block, const Place& p) {
    const Split& s = *p.split;
    if (s.state == Split::State::AtBarrier) {
        const Barrier& b = block.barriers[s.barrier];
        return fmt::format("at barrier {}, which {} of {} threads have reached", s.barrier, b.arrived,
                           b.expected ? b.expected : block.live_threads);
    }
    const std::string& opcode = e.code->collectives[s.waiting_insn->collective].opcode;
    return fmt::format("in {} with the mask {:#010x} for the lanes {:#010x} of warp {}, which never come",
                       s.waiting_insn->collective == e.code->warp_sync ? "__syncwarp" : opcode, s.members,
                       s.members & p.warp->live & ~lanes_in(*p.warp, s), p.warp->index);
}

// The same for diagnostics, of one thread: "waits at __syncthreads(), which 40 of 64 threads have reached".
std::string waits(const Executor& e, const BlockState& block, const Place& p) {
    const Split& s = *p.split;
    if (s.state == Split::State::AtBarrier) {
        const Barrier& b = block.barriers[s.barrier];
        const std::uint32_t expected = b.expected ? b.expected : block.live_threads;
        return fmt::format("waits at {}, which {} of {} threads have reached", barrier_name(*s.waiting_insn, s.barrier),
                           grouped(b.arrived), grouped(expected));
    }
    const std::uint32_t absent = s.members & p.warp->live & ~lanes_in(*p.warp, s);
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(absent));
    return fmt::format(
        "waits in {} for {} of its warp that the mask {:#010x} names and that never come, the first of "
        "them thread {}",
        collective_name(*e.code, *s.waiting_insn), counted(static_cast<std::uint32_t>(std::popcount(absent)), "thread"),
        s.members, e.launch->thread_name(p.warp->index * warp_size + lane));
}

device::Diagnostic diagnose(const Executor& e, const BlockState& block, const std::vector<Place>& places) {
    constexpr std::size_t most = 8;
    device::Diagnostic found;
    found.rule = &device::rules::deadlock;
    found.message = waits(e, block, places[0]);
    for (std::size_t i = 1; i < std::min(places.size(), most); ++i)
        found.related.push_back(
            {places[i].threads == 1 ? "one thread waits at" : grouped(places[i].threads) + " threads wait at",
             e.launch->source_place(*places[i].split->waiting_insn),
             e.launch->thread_place(block.linear, first_thread(places[i]))});
    return found;
}

}  // namespace

void raise_deadlock(const Executor& e, const BlockState& block) {
    constexpr std::size_t most = 4;
    const auto places = waiting_places(block);
    if (places.empty()) throw std::logic_error("a block without live threads cannot be in a deadlock");
    std::string text = "deadlock: ";
    for (std::size_t i = 0; i < std::min(places.size(), most); ++i) {
        const Place& p = places[i];
        text += fmt::format("{}{} thread{} (first {}) wait{} at {} {}", i ? "; " : "", p.threads,
                            p.threads == 1 ? "" : "s", e.launch->thread_name(first_thread(p)),
                            p.threads == 1 ? "s" : "", e.launch->place(*p.split->waiting_insn), waits_for(e, block, p));
    }
    if (places.size() > most) text += fmt::format("; and so on at {} more places", places.size() - most);
    raise_at(*places[0].warp, places[0].split->waiting_insn, device::error::launch_timeout, text,
             static_cast<unsigned>(std::countr_zero(places[0].split->mask)), diagnose(e, block, places));
}

}  // namespace warpgrade::vgpu
