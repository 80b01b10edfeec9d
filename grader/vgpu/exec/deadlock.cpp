// Reports which threads wait where when no thread can continue.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/checks/synccheck.hpp"
#include "vgpu/exec/warp_runner.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace {

// Threads of a block that wait for the same thing at one instruction.
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
    // Lanes that wait for others of their own warp explain the deadlock best.
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

// "waits at __syncthreads(), which 40 of 64 threads have reached".
std::string waits(const Executor& e, const BlockState& block, const Place& p) {
    const Split& s = *p.split;
    if (s.state == Split::State::AtBarrier) {
        const Barrier& b = block.barriers[s.barrier];
        const std::uint32_t expected = b.expected ? b.expected : block.live_threads;
        return fmt::format("waits at {}, which {} of {} threads have reached", barrier_name(*s.waiting_insn, s.barrier),
                           grouped(b.arrived), grouped(expected));
    }
    const std::uint32_t absent = s.members & p.warp->live & ~lanes_in(*p.warp, s);
    const auto count = static_cast<std::uint32_t>(std::popcount(absent));
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(absent));
    return fmt::format("waits in {} for {} of its warp that {} in the mask {:#010x} but never arrive{} {}",
                       collective_name(*e.code, *s.waiting_insn), counted(count, "thread"), count == 1 ? "is" : "are",
                       s.members, count == 1 ? "s: thread" : ", the first of them thread",
                       e.launch->thread_name(p.warp->index * warp_size + lane));
}

}  // namespace

void raise_deadlock(const Executor& e, const BlockState& block) {
    constexpr std::size_t most = 8;
    const auto places = waiting_places(block);
    if (places.empty()) throw std::logic_error("a block without live threads cannot be in a deadlock");
    const Place& first = places[0];
    device::Diagnostic found;
    found.rule = &device::rules::deadlock;
    found.message = waits(e, block, first);
    for (std::size_t i = 1; i < std::min(places.size(), most); ++i)
        found.related.push_back(
            {places[i].threads == 1 ? "one thread waits at" : grouped(places[i].threads) + " threads wait at",
             e.launch->source_place(*places[i].split->waiting_insn),
             e.launch->thread_place(block.linear, first_thread(places[i]))});
    raise_at(*first.warp, first.split->waiting_insn, device::error::launch_timeout,
             static_cast<unsigned>(std::countr_zero(first.split->mask)), std::move(found));
}

}  // namespace warpgrade::vgpu
