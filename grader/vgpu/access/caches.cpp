#include "vgpu/access/caches.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "vgpu/access/site.hpp"

namespace warpgrade::vgpu {
BlockL1::BlockL1() {
    static std::atomic<std::uint64_t> caches{0};
    phase_ = ++caches << 32;
}

void BlockL1::begin_block(std::uint64_t bytes, std::uint32_t warps, std::vector<MemorySite>& stats,
                          std::vector<L1Misses>& misses_of_slots) {
    cache_.begin(bytes);
    stats_ = &stats;
    missed_ = &misses_of_slots;
    traces_.resize(warps);
    // Different sizes place the first pages apart, so that the warps' steps do not all share one set of the host's
    // cache.
    for (std::size_t warp = 0; warp < warps; ++warp)
        if (Trace& trace = traces_[warp]; trace.memory.empty()) trace.memory.resize(64 + 4 * warp);
    begin_phase();
    misses.clear();
    lost_reads = lost_writes = 0;
}

void BlockL1::begin_phase() {
    for (Trace& trace : traces_) {
        trace.end = trace.memory.data();
        trace.full = trace.end + trace.memory.size();
    }
    lists_.clear();
    ++phase_;
}

inline void BlockL1::miss(std::uint64_t line, unsigned sectors, const Step& step) {
    if (misses.size() < max_requests)
        misses.push_back(LineRequest::of(line, sectors, step.kind, step.slot));
    else if (step.kind <= LineRequest::Kind::ReadPastL1)
        lost_reads += count_sectors(sectors);
    else
        lost_writes += count_sectors(sectors);
}

inline void BlockL1::perform_line(std::uint64_t line, unsigned sectors, const Step& step) {
    unsigned there = 0;
    if (step.kind == LineRequest::Kind::Read) {
        there = cache_.read(line, sectors);
        (*stats_)[step.slot].l1_hits += count_sectors(there);
    } else if (step.kind == LineRequest::Kind::Write) {
        cache_.read(line, sectors);  // afterwards they are present
    } else if (step.kind == LineRequest::Kind::WritePart) {
        cache_.read(line, 0);
    } else if (step.kind == LineRequest::Kind::Atomic) {
        cache_.forget(line, sectors);
    }
    if (there != sectors) miss(line, sectors & ~there, step);
}

// A list of a step alone: to remember where its lines were found is of no use.
void BlockL1::read_once(std::span<const LinePart> parts, const Step& step) {
    std::array<LineRequest, L1Cache::most_lines> missed;
    const LineRequest* end = cache_.read_all(parts, LineRequest::of(0, 0, step.kind, step.slot), missed.data(),
                                             (*stats_)[step.slot].l1_hits);
    misses.insert(misses.end(), std::as_const(missed).data(), end);
}

inline void BlockL1::perform(const Step& step) {
    L1Misses& counted = (*missed_)[step.slot];
    const std::size_t before = misses.size() + lost_reads;
    if (step.kind != LineRequest::Kind::Read) {
        look_up(step);
        if (step.kind != LineRequest::Kind::ReadPastL1) return;
        ++counted.waits;
        counted.lines += misses.size() + lost_reads - before;
        return;
    }
    const std::int64_t first = step.list == no_list ? step.line : step.line + lists_[step.list].line;
    const std::uint64_t number = hash_of_line(static_cast<std::uint64_t>(first)) >> 56;
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    look_up(step);
    const std::size_t missed = misses.size() + lost_reads - before;
    std::uint64_t& on_the_way = on_the_way_[number / 64];
    counted.waits += missed > 0 || (on_the_way & bit) != 0;
    counted.lines += missed;
    if (missed > 0) on_the_way |= bit;
}

inline void BlockL1::look_up(const Step& step) {
    const auto line = static_cast<std::uint64_t>(step.line);
    if (step.list == no_list) return perform_line(line, step.parts, step);
    const std::span parts(lists_.data() + step.list, step.parts);
    if (step.kind == LineRequest::Kind::Read && step.is_once() && misses.size() + parts.size() <= max_requests) {
        read_once(parts, step);
    } else if (step.kind == LineRequest::Kind::Read) {
        const auto missed = [&](std::uint64_t where, unsigned sectors) { miss(where, sectors, step); };
        (*stats_)[step.slot].l1_hits += memo_.read(cache_, line, {phase_, step.list, parts}, missed);
    } else {
        for (const LinePart& part : parts)
            perform_line(line + static_cast<std::uint64_t>(part.line), part.sectors, step);
    }
}

std::uint32_t BlockL1::keep(std::span<const LinePart> parts) {
    const auto list = static_cast<std::uint32_t>(lists_.size());
    lists_.insert(lists_.end(), parts.begin(), parts.end());
    return list;
}

void BlockL1::access(std::uint32_t warp, const LineParts& touched, std::uint32_t slot, LineRequest::Kind kind) {
    const std::span<const LinePart> parts(touched.begin(), touched.end());
    if (parts.size() == 1)
        return note(warp, {parts[0].line, no_list, numbered(slot), static_cast<std::uint8_t>(parts[0].sectors), kind});
    note(warp, {0, keep(parts), numbered(slot), static_cast<std::uint8_t>(parts.size()), kind});
}

void BlockL1::make_room(Trace& trace) {
    const std::size_t steps = trace.memory.size();
    if (steps >= max_trace_steps) return at_barrier();
    trace.memory.resize(std::min(2 * steps, max_trace_steps));
    trace.end = trace.memory.data() + steps;
    trace.full = trace.memory.data() + trace.memory.size();
}

// The warps take turns, one instruction each, until all steps are performed.
void BlockL1::at_barrier() {
    turns_.clear();
    for (const Trace& trace : traces_)
        if (!trace.steps().empty()) turns_.push_back(trace.steps());
    for (std::size_t turn = 0; !turns_.empty(); ++turn) {
        bool over = false;
        on_the_way_ = {};
        for (const std::span<const Step> steps : turns_) {
            perform(steps[turn]);
            over |= turn + 1 == steps.size();
        }
        if (over) std::erase_if(turns_, [turn](const auto& steps) { return turn + 1 == steps.size(); });
    }
    begin_phase();
}

std::uint64_t l1_share(std::uint64_t l1_bytes, std::uint64_t shared_bytes_per_block, std::uint64_t resident) {
    resident = std::max<std::uint64_t>(resident, 1);
    const std::uint64_t shared = std::min(l1_bytes, shared_bytes_per_block * resident);
    return (l1_bytes - shared) / resident;
}

}  // namespace warpgrade::vgpu
