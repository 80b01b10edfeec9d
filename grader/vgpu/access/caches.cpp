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
    // Different capacities place the first pages apart, so that the warps' steps do not all share one set of the host's
    // cache.
    for (std::size_t warp = traces_.size(); warp < warps; ++warp) traces_.emplace_back().reserve(64 + 4 * warp);
    traces_.resize(warps);
    begin_phase();
    misses.clear();
    lost_reads = lost_writes = 0;
}

void BlockL1::begin_phase() {
    for (auto& trace : traces_) trace.clear();
    lists_.clear();
    ++phase_;
}

inline void BlockL1::perform_one(const LineRequest& request) {
    const auto sectors = static_cast<unsigned>(request.sectors);
    switch (static_cast<LineRequest::Kind>(request.kind)) {
        case LineRequest::Kind::Read: {
            const unsigned there = cache_.read(request.line, sectors);
            (*stats_)[request.slot].l1_hits += count(there);
            if (there != sectors) miss(request, sectors & ~there);
            break;
        }
        case LineRequest::Kind::Atomic:
            cache_.forget(request.line, sectors);
            miss(request, sectors);
            break;
        case LineRequest::Kind::ReadPastL1:
        case LineRequest::Kind::Write:
            miss(request, sectors);
            break;
    }
}

inline void BlockL1::perform(const Step& step) {
    if (step.count == 0) return perform_one(step.request);
    const std::span parts(lists_.data() + step.list, step.count);
    LineRequest request = step.request;
    if (static_cast<LineRequest::Kind>(request.kind) == LineRequest::Kind::Read) {
        const auto missed = [&](std::uint64_t line, unsigned sectors) {
            request.line = line;
            miss(request, sectors);
        };
        (*stats_)[request.slot].l1_hits += memo_.read(cache_, step.request.line, {phase_, step.list, parts}, missed);
        return;
    }
    for (const LinePart& part : parts) {
        request.line = step.request.line + static_cast<std::uint64_t>(part.line);
        request.sectors = part.sectors;
        perform_one(request);
    }
}

std::uint32_t BlockL1::keep(std::span<const LinePart> parts) {
    const auto list = static_cast<std::uint32_t>(lists_.size());
    lists_.insert(lists_.end(), parts.begin(), parts.end());
    return list;
}

void BlockL1::access(std::uint32_t warp, const Access& access, unsigned bytes, std::uint32_t slot,
                     LineRequest::Kind kind) {
    const LineParts touched(access, 0, bytes);
    const std::span<const LinePart> parts(touched.begin(), touched.end());
    const Step step = step_of(0, parts, slot, kind);
    note(warp, parts.size() == 1 ? step : Step{step.request, keep(parts), step.count});
}

// The warps take turns, one instruction each, until all steps are performed.
void BlockL1::at_barrier() {
    done_.assign(traces_.size(), 0);
    for (bool any = true; any;) {
        any = false;
        for (std::size_t w = 0; w < traces_.size(); ++w) {
            std::size_t& next = done_[w];
            if (next == traces_[w].size()) continue;
            any = true;
            perform(traces_[w][next++]);
        }
    }
    begin_phase();
}

void BlockL1::miss(const LineRequest& request, unsigned sectors) {
    if (misses.size() < max_requests) {
        misses.push_back(request);
        misses.back().sectors = sectors;
    } else if (static_cast<LineRequest::Kind>(request.kind) <= LineRequest::Kind::ReadPastL1) {
        lost_reads += count(sectors);
    } else {
        lost_writes += count(sectors);
    }
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
    Set& all = reinterpret_cast<Set*>(storage_.data())[request.line % sets_];
    if (all.launch != launch_) all = {.launch = launch_, .lines = {}};
    Line* const set = all.lines;
    Line* chosen = set;
    for (Line* way = set; way != set + ways; ++way) {
        if (way->used != 0 && way->tag >> 8 == request.line) {
            chosen = way;
            break;
        }
        if (way->used < chosen->used) chosen = way;
    }
    if (chosen->used == 0 || chosen->tag >> 8 != request.line) {
        stats.dram_writes += count(chosen->tag >> 4 & 15);
        chosen->tag = std::uint64_t{request.line} << 8;
        chosen->used = 0;
    }
    const auto own = static_cast<unsigned>(chosen->used >> 4 >= block_began_ ? chosen->used & 15 : 0);
    const auto wanted = static_cast<unsigned>(request.sectors);
    const auto valid = static_cast<unsigned>(chosen->tag & 15);
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
            chosen->tag |= std::uint64_t{wanted} << 4;
            break;
        case LineRequest::Kind::Write:  // needs no old content: L2 tracks which bytes of a sector are new
            stats.l2_writes += count(wanted);
            chosen->tag |= std::uint64_t{wanted} << 4;
            break;
    }
    chosen->tag |= wanted;
    chosen->used = ++now_ << 4 | own | wanted;
}

void CacheReplay::replay(const std::vector<LineRequest>& misses, const BlockWork& work) {
    spread_.add(work);
    l2_.begin_block();
    for (const LineRequest& request : misses) l2_.request(request, stats_[request.slot]);
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
