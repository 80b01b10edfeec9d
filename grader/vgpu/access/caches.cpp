#include "vgpu/access/caches.hpp"

#include <algorithm>
#include <atomic>

#include "vgpu/access/site.hpp"

namespace warpgrade::vgpu {
namespace {

template <class T>
std::uint64_t count(T sectors) {
    return static_cast<std::uint64_t>(std::popcount(sectors));
}

}  // namespace

BlockL1::BlockL1() {
    static std::atomic<std::uint64_t> caches{0};
    phase_ = ++caches << 32;
}

void BlockL1::begin_block(std::uint64_t bytes, std::uint32_t warps, std::vector<MemorySite>& stats) {
    cache_.begin(bytes);
    stats_ = &stats;
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

inline void BlockL1::perform_line(std::uint64_t line, unsigned sectors, const Step& step) {
    unsigned there = 0;
    if (step.kind == LineRequest::Kind::Read) {
        there = cache_.read(line, sectors);
        (*stats_)[step.slot].l1_hits += count(there);
    } else if (step.kind == LineRequest::Kind::Atomic) {
        cache_.forget(line, sectors);
    }
    if (there != sectors) miss(line, sectors & ~there, step);
}

inline void BlockL1::perform(const Step& step) {
    const auto line = static_cast<std::uint64_t>(step.line);
    if (step.list == no_list) return perform_line(line, step.parts, step);
    const std::span parts(lists_.data() + step.list, step.parts);
    if (step.kind == LineRequest::Kind::Read) {
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
        for (const std::span<const Step> steps : turns_) {
            perform(steps[turn]);
            over |= turn + 1 == steps.size();
        }
        if (over) std::erase_if(turns_, [turn](const auto& steps) { return turn + 1 == steps.size(); });
    }
    begin_phase();
}

void BlockL1::miss(std::uint64_t line, unsigned sectors, const Step& step) {
    if (misses.size() < max_requests)
        misses.push_back(LineRequest::of(line, sectors, step.kind, step.slot));
    else if (step.kind <= LineRequest::Kind::ReadPastL1)
        lost_reads += count(sectors);
    else
        lost_writes += count(sectors);
}

namespace {

// The memory of the last launch's L2, for the next launch.
struct Spare {
    std::mutex mutex;
    HostPages storage;
    std::uint64_t launches = 0;
};
Spare spare;

}  // namespace

L2Cache::L2Cache(std::uint64_t bytes) : sets_(std::max<std::uint64_t>(bytes / line_bytes / ways, 1)) {
    const std::lock_guard lock(spare.mutex);
    launch_ = ++spare.launches;
    if (spare.storage.size() == sets_ * sizeof(Set)) std::swap(storage_, spare.storage);
    if (!storage_.data()) storage_ = HostPages(sets_ * sizeof(Set));
}

L2Cache::~L2Cache() {
    const std::lock_guard lock(spare.mutex);
    std::swap(storage_, spare.storage);
}

// One bit for each half of a line of which a sector is among these.
static unsigned halves_of(unsigned sectors) { return (sectors | sectors >> 1) & 5; }

void L2Cache::request(const LineRequest& request, CacheStats& stats) {
    Set& set = reinterpret_cast<Set*>(storage_.data())[request.line % sets_];
    if (set.launch != launch_) set = {.launch = launch_, .tag = {}, .used = {}};
    const std::uint64_t line = request.line;  // is not 0: no memory lies there, so no empty way has its tag
    std::size_t way = 0;
    while (way != ways && set.tag[way] >> 8 != line) ++way;
    if (way == ways) {
        way = find_least<ways>([&](std::size_t i) { return set.used[i]; });
        stats.dram_writes += count(set.tag[way] >> 4 & 15);
        set.tag[way] = line << 8;
        set.used[way] = 0;
    }
    std::uint64_t& tag = set.tag[way];
    const auto own = static_cast<unsigned>(set.used[way] >> 4 >= block_began_ ? set.used[way] & 15 : 0);
    const auto wanted = static_cast<unsigned>(request.sectors);
    const auto valid = static_cast<unsigned>(tag & 15);
    switch (static_cast<LineRequest::Kind>(request.kind)) {
        case LineRequest::Kind::Read:
        case LineRequest::Kind::ReadPastL1:
            stats.l2_reads += count(wanted);
            stats.l2_reads_again += count(wanted & own);
            stats.l2_read_hits += count(wanted & valid);
            stats.dram_reads += count(wanted & ~valid);
            stats.fetched_sectors += 2 * count(halves_of(wanted & ~valid) & ~halves_of(valid));
            break;
        case LineRequest::Kind::Atomic:
            stats.dram_reads += count(wanted & ~valid);
            tag |= std::uint64_t{wanted} << 4;
            break;
        case LineRequest::Kind::Write:  // needs no old content: L2 tracks which bytes of a sector are new
            stats.l2_writes += count(wanted);
            tag |= std::uint64_t{wanted} << 4;
            break;
    }
    tag |= wanted;
    set.used[way] = ++now_ << 4 | own | wanted;
}

void CacheReplay::replay(const std::vector<LineRequest>& misses, const BlockWork& work) {
    spread_.add(work);
    l2_.begin_block();
    constexpr std::size_t ahead = 8;  // sets of irregular accesses are not in the host's caches
    for (std::size_t i = 0; i < misses.size(); ++i) {
        if (i + ahead < misses.size()) l2_.prefetch(misses[i + ahead]);
        l2_.request(misses[i], stats_[misses[i].slot]);
    }
}

void CacheReplay::finish_block(std::uint64_t linear, BlockL1& l1, const BlockWork& work) {
    l1.at_barrier();
    const std::lock_guard lock(mutex_);
    lost_.l2_reads += l1.lost_reads;
    lost_.dram_reads += l1.lost_reads;
    lost_.l2_writes += l1.lost_writes;
    lost_.dram_writes += l1.lost_writes;
    if (linear != next_) {
        waiting_.emplace(linear, Waiting{std::exchange(l1.misses, {}), work});
        return;
    }
    replay(l1.misses, work);
    for (++next_; !waiting_.empty() && waiting_.begin()->first == next_; ++next_) {
        replay(waiting_.begin()->second.misses, waiting_.begin()->second.work);
        waiting_.erase(waiting_.begin());
    }
}

std::uint64_t l1_share(std::uint64_t l1_bytes, std::uint64_t shared_bytes_per_block, std::uint64_t resident) {
    resident = std::max<std::uint64_t>(resident, 1);
    const std::uint64_t shared = std::min(l1_bytes, shared_bytes_per_block * resident);
    return (l1_bytes - shared) / resident;
}

}  // namespace warpgrade::vgpu
