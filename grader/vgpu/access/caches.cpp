#include "vgpu/access/caches.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

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
        lost_reads += count(sectors);
    else
        lost_writes += count(sectors);
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

// A list of a step alone: to remember where its lines were found is of no use.
void BlockL1::read_once(std::span<const LinePart> parts, const Step& step) {
    const std::size_t before = misses.size();
    misses.resize(before + parts.size());
    LineRequest* end = misses.data() + before;
    unsigned hits = 0;
    for (const LinePart& part : parts) {
        const auto line = static_cast<std::uint64_t>(part.line);
        const auto sectors = static_cast<unsigned>(part.sectors);
        L1Cache::Place place;
        const unsigned there = cache_.read(line, sectors, place);
        hits += static_cast<unsigned>(std::popcount(there));
        *end = LineRequest::of(line, sectors & ~there, step.kind, step.slot);
        end += there != sectors;  // the next one replaces it if it is no miss
    }
    misses.resize(static_cast<std::size_t>(end - misses.data()));
    (*stats_)[step.slot].l1_hits += hits;
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

namespace {

// The last launch's L2, for the next launch.
struct Spare {
    std::mutex mutex;
    HostPages storage;
    std::uint64_t now = 0;
};
Spare spare;

}  // namespace

L2Cache::L2Cache(std::uint64_t bytes)
    : sets_(std::max<std::uint64_t>(bytes / line_bytes / ways, 1)), reciprocal_(~std::uint64_t{0} / sets_ + 1) {
    const std::lock_guard lock(spare.mutex);
    if (spare.storage.size() == sets_ * sizeof(Set)) {
        std::swap(storage_, spare.storage);
        clock_.floor = clock_.now = spare.now;
    }
    if (!storage_.data()) storage_ = HostPages(sets_ * sizeof(Set));
}

L2Cache::~L2Cache() {
    const std::lock_guard lock(spare.mutex);
    std::swap(storage_, spare.storage);
    spare.now = clock_.now;
}

// One bit for each half of a line of which a sector is among these.
static unsigned halves_of(unsigned sectors) { return (sectors | sectors >> 1) & 5; }

L2Cache::Way& L2Cache::replace(Set& set, std::uint64_t line, const Clock& clock, CacheStats& stats) {
    std::size_t least = 0;
    std::uint64_t used = set.way[0].used;
    for (std::size_t i = 1; i < ways; ++i) {  // by masks: a processor could not predict branches
        const std::uint64_t other = set.way[i].used, less = 0 - std::uint64_t{other < used};
        used ^= (used ^ other) & less;
        least ^= (least ^ i) & less;
    }
    Way& way = set.way[least];
    if (used >> 4 > clock.floor) stats.dram_writes += count(way.tag >> 4 & 15);
    way = {line << 8, 0};
    set.sign[least] = sign_of(line);
    return way;
}

inline L2Cache::Way& L2Cache::find(Set& set, std::uint64_t line, const Clock& clock, CacheStats& stats) {
    for (unsigned alike = set.alike(sign_of(line)); alike != 0; alike &= alike - 1) {
        Way& way = set.way[std::countr_zero(alike)];
        if (way.tag >> 8 != line) continue;
        if (way.used >> 4 <= clock.floor) [[unlikely]]
            way = {line << 8, 0};  // of an earlier launch
        return way;
    }
    return replace(set, line, clock, stats);
}

[[gnu::always_inline]] inline void L2Cache::request(Set& set, const LineRequest& request, Clock& clock,
                                                    CacheStats& stats) {
    const std::uint64_t line = request.line;
    Way& way = find(set, line, clock, stats);
    std::uint64_t &tag = way.tag, &used = way.used;
    // Without a branch: whether this block has asked before is as irregular as what it asks for.
    const auto own = static_cast<unsigned>(used & 15 & (0 - std::uint64_t{used >> 4 >= clock.block_began}));
    const auto wanted = static_cast<unsigned>(request.sectors);
    const auto valid = static_cast<unsigned>(tag & 15), missing = wanted & ~valid;
    switch (static_cast<LineRequest::Kind>(request.kind)) {
        case LineRequest::Kind::Read:
        case LineRequest::Kind::ReadPastL1:
            stats.l2_reads += count(wanted);
            stats.l2_read_hits += count(wanted & valid);
            stats.l2_reads_again += count(wanted & own);
            if (!missing) break;
            stats.dram_reads += count(missing);
            stats.fetched_sectors += 2 * count(halves_of(missing) & ~halves_of(valid));
            break;
        case LineRequest::Kind::Atomic:
            stats.dram_reads += count(missing);
            tag |= std::uint64_t{wanted} << 4;
            break;
        case LineRequest::Kind::Write:  // needs no old content: L2 tracks which bytes of a sector are new
            stats.l2_writes += count(wanted);
            tag |= std::uint64_t{wanted} << 4;
            break;
    }
    tag |= wanted;
    used = ++clock.now << 4 | own | wanted;
}

void L2Cache::request(std::span<const LineRequest> requests, std::span<CacheStats> stats) {
    Clock clock = clock_;  // in registers
    // Sets of irregular accesses are not in the host's caches.
    constexpr std::size_t ahead = 16;
    Set* sets[ahead];
    const auto fetch = [&](std::size_t i) {
        if (i >= requests.size()) return;
        sets[i % ahead] = &set_of(requests[i].line);
        __builtin_prefetch(sets[i % ahead], 1);
    };
    for (std::size_t i = 0; i < ahead; ++i) fetch(i);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        Set& set = *sets[i % ahead];
        fetch(i + ahead);
        request(set, requests[i], clock, stats[requests[i].slot]);
    }
    clock_ = clock;
}

void BlockRun::add(std::uint64_t number, BlockL1& l1, const BlockWork& work) {
    l1.at_barrier();
    if (blocks.empty()) first = number;
    if (misses.empty())
        std::swap(misses, l1.misses);
    else
        misses.insert(misses.end(), l1.misses.begin(), l1.misses.end());
    blocks.push_back({misses.size(), work});
    lost_reads += l1.lost_reads;
    lost_writes += l1.lost_writes;
}

void CacheReplay::replay(BlockRun& run) {
    lost_.l2_reads += run.lost_reads;
    lost_.dram_reads += run.lost_reads;
    lost_.l2_writes += run.lost_writes;
    lost_.dram_writes += run.lost_writes;
    std::size_t begin = 0;
    for (const BlockRun::Ended& block : run.blocks) {
        spread_.add(block.work);
        l2_.begin_block();
        l2_.request(std::span(run.misses).subspan(begin, block.misses - begin), stats_);
        begin = block.misses;
    }
}

void CacheReplay::finish(BlockRun& run) {
    std::unique_lock lock(mutex_);
    const auto replay_now = [&](BlockRun& some) {
        lock.unlock();
        replay(some);
        lock.lock();
        next_ += some.blocks.size();
        progress_.notify_all();
    };
    if (replaying_ || run.first != next_) {
        const std::uint64_t first = run.first;
        waiting_.emplace(first, std::exchange(run, {}));
        progress_.wait(lock, [&] { return !replaying_ || waiting_.size() < most_waiting; });
        if (replaying_) return;
        replaying_ = true;
    } else {
        replaying_ = true;
        replay_now(run);
        run.misses.clear();
        run.blocks.clear();
        run.lost_reads = run.lost_writes = 0;
    }
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
        auto next = waiting_.extract(waiting_.begin());
        replay_now(next.mapped());
    }
    replaying_ = false;
    progress_.notify_all();
}

std::uint64_t l1_share(std::uint64_t l1_bytes, std::uint64_t shared_bytes_per_block, std::uint64_t resident) {
    resident = std::max<std::uint64_t>(resident, 1);
    const std::uint64_t shared = std::min(l1_bytes, shared_bytes_per_block * resident);
    return (l1_bytes - shared) / resident;
}

}  // namespace warpgrade::vgpu
