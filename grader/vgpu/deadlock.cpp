// Who waits where, when nobody can go on.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/lanes.hpp"
#include "vgpu/warp_runner.hpp"

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

std::string waits_for(const Executor& e, const BlockState& block, const Place& p) {
    const Split& s = *p.split;
    if (s.state == Split::State::AtBarrier) {
        const Barrier& b = block.barriers[s.barrier];
        return fmt::format("at barrier {}, which {} of {} threads have reached", s.barrier, b.arrived,
                           b.expected ? b.expected : block.live_threads);
    }
    std::uint32_t here = 0;
    for (const Split& other : p.warp->splits)
        if (other.state == s.state && other.members == s.members && other.waiting_insn->stat == s.waiting_insn->stat)
            here |= other.mask;
    const std::string& opcode = e.code->collectives[s.waiting_insn->stat];
    return fmt::format("in {} with the mask {:#010x} for the lanes {:#010x} of warp {}, which never come",
                       opcode == "bar.warp.sync" ? "__syncwarp" : opcode, s.members, s.members & p.warp->live & ~here,
                       p.warp->index);
}

}  // namespace

void raise_deadlock(const Executor& e, const BlockState& block) {
    constexpr std::size_t most = 4;
    const auto places = waiting_places(block);
    if (places.empty()) throw std::logic_error("a block without live threads cannot be in a deadlock");
    std::string text = "deadlock: ";
    for (std::size_t i = 0; i < std::min(places.size(), most); ++i) {
        const Place& p = places[i];
        const std::uint32_t first =
            p.warp->index * warp_size + static_cast<std::uint32_t>(std::countr_zero(p.split->mask));
        text += fmt::format("{}{} thread{} (first {}) wait{} at {} {}", i ? "; " : "", p.threads,
                            p.threads == 1 ? "" : "s", e.grid->thread_name(first), p.threads == 1 ? "s" : "",
                            e.grid->place(*p.split->waiting_insn), waits_for(e, block, p));
    }
    if (places.size() > most) text += fmt::format("; and so on at {} more places", places.size() - most);
    raise_at(*places[0].warp, places[0].split->waiting_insn, device::error::launch_timeout, text,
             static_cast<unsigned>(std::countr_zero(places[0].split->mask)));
}

}  // namespace warpgrade::vgpu
