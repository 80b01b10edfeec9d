#include "vgpu/access/caches.hpp"

#include <algorithm>
#include <atomic>

#include "vgpu/access/site.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr std::uint64_t most_sets = 1 << 14, never = ~std::uint64_t{0};

template <class T>
std::uint64_t count(T sectors) {
    return static_cast<std::uint64_t>(std::popcount(sectors));
}

}  // namespace

BlockL1::BlockL1() : found_(remembered) {
    static std::atomic<std::uint64_t> caches{0};
    phase_ = ++caches << 32;
}

void BlockL1::begin_block(std::uint64_t bytes, std::uint32_t warps, std::vector<MemorySite>& stats) {
    const std::uint64_t sets = std::clamp<std::uint64_t>(bytes / line_bytes / ways, 1, most_sets);
    if (sets != sets_) {
        sets_ = sets;
        lines_.assign(sets * ways, Line{});
    }
    floor_ = ++now_;
    stats_ = &stats;
    // Their first pages lie apart, so that the warps' turns do not all meet in one set of the host's own cache.
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

// Spread by a hash, as arrays whose rows are a power of two apart would all meet in a few sets otherwise.
inline BlockL1::Line* BlockL1::set_of(std::uint64_t line) {
    const std::uint64_t hash = hash_of_line(line) >> 32;
    return lines_.data() + (hash * sets_ >> 32) * ways;
}

inline unsigned BlockL1::read(Line& way, const LineRequest& request) {
    way.used = ++now_;
    const auto there = static_cast<unsigned>(way.key & request.sectors);
    way.key |= request.sectors;
    return there;
}

inline unsigned BlockL1::find(const LineRequest& request, Line*& way) {
    Line* const set = set_of(request.line);
    for (way = set; way != set + ways; ++way)
        if (holds(*way, request.line)) return read(*way, request);
    way = set;
    for (Line* other = set + 1; other != set + ways; ++other)
        if (other->used < way->used) way = other;
    changes_ += way->used >= floor_;
    last_use_lost_ = std::max(last_use_lost_, way->used);
    *way = {std::uint64_t{request.line} << 4 | request.sectors, ++now_};
    return 0;
}

inline void BlockL1::perform_one(const LineRequest& request) {
    const auto sectors = static_cast<unsigned>(request.sectors);
    switch (static_cast<LineRequest::Kind>(request.kind)) {
        case LineRequest::Kind::Read: {
            Line* way;
            const unsigned there = find(request, way);
            (*stats_)[request.slot].l1_hits += count(there);
            if (there != sectors) miss(request, sectors & ~there);
            break;
        }
        case LineRequest::Kind::Atomic:
            forget(request);
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
    if (static_cast<LineRequest::Kind>(step.request.kind) == LineRequest::Kind::Read) return read_list(step);
    const LinePart* parts = lists_.data() + step.list;
    for (LineRequest request = step.request; const LinePart& part : std::span(parts, step.count)) {
        request.line = step.request.line + static_cast<std::uint64_t>(part.line);
        request.sectors = part.sectors;
        perform_one(request);
    }
}

// As perform_one() of each line.
inline void BlockL1::read_list(const Step& step) {
    const std::uint64_t line = step.request.line;
    Found& found = found_[hash_of_line(line + step.list) >> 58];
    const bool known = found.phase == phase_ && found.list == step.list && found.line == line;
    MemorySite& site = (*stats_)[step.request.slot];
    if (known && found.changes == changes_) {
        for (unsigned i = 0; i < step.count; ++i) lines_[found.at[i]].used = ++now_;
        site.l1_hits += found.sectors;
        return;
    }
    const std::uint64_t before = now_;
    unsigned sectors = 0, hits = 0;
    LineRequest request = step.request;
    for (unsigned i = 0; i < step.count; ++i) {
        const LinePart part = lists_[step.list + i];
        request.line = line + static_cast<std::uint64_t>(part.line);
        request.sectors = part.sectors;
        Line* way = &lines_[known ? found.at[i] : 0];
        const unsigned there = holds(*way, request.line) ? read(*way, request) : find(request, way);
        found.at[i] = static_cast<std::uint16_t>(way - lines_.data());
        hits += static_cast<unsigned>(count(there));
        sectors += static_cast<unsigned>(count(part.sectors));
        if (there != part.sectors) miss(request, static_cast<unsigned>(part.sectors) & ~there);
    }
    site.l1_hits += hits;
    found.phase = phase_;
    found.line = line;
    found.list = step.list;
    found.sectors = sectors;
    // A list whose own lines threw each other out is not there as a whole.
    found.changes = last_use_lost_ > before ? never : changes_;
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

// The warps take turns, an instruction each, until nothing is left.
void BlockL1::meet() {
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

void BlockL1::forget(const LineRequest& request) {
    for (Line *way = set_of(request.line), *end = way + ways; way != end; ++way)
        if (holds(*way, request.line)) {
            way->key &= ~std::uint64_t{request.sectors};
            ++changes_;
        }
}

void BlockL1::miss(const LineRequest& request, unsigned sectors) {
    if (misses.size() < most_requests) {
        misses.push_back(request);
        misses.back().sectors = sectors;
    } else if (static_cast<LineRequest::Kind>(request.kind) <= LineRequest::Kind::ReadPastL1) {
        lost_reads += count(sectors);
    } else {
        lost_writes += count(sectors);
    }
}

L2Cache::L2Cache(std::uint64_t bytes)
    : sets_(std::max<std::uint64_t>(bytes / line_bytes / ways, 1)), storage_(sets_ * ways * sizeof(Line)) {}

void L2Cache::request(const LineRequest& request, CacheStats& stats) {
    Line* const set = reinterpret_cast<Line*>(storage_.data()) + request.line % sets_ * ways;
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
    }
    chosen->used = ++now_;
    const auto wanted = static_cast<unsigned>(request.sectors);
    const auto valid = static_cast<unsigned>(chosen->tag & 15);
    switch (static_cast<LineRequest::Kind>(request.kind)) {
        case LineRequest::Kind::Read:
        case LineRequest::Kind::ReadPastL1:
            stats.l2_reads += count(wanted);
            stats.l2_read_hits += count(wanted & valid);
            stats.dram_reads += count(wanted & ~valid);
            break;
        case LineRequest::Kind::Atomic:
            stats.dram_reads += count(wanted & ~valid);
            chosen->tag |= std::uint64_t{wanted} << 4;
            break;
        case LineRequest::Kind::Write:  // needs no old content: L2 keeps which bytes of a sector are new
            stats.l2_writes += count(wanted);
            chosen->tag |= std::uint64_t{wanted} << 4;
            break;
    }
    chosen->tag |= wanted;
}

void CacheReplay::replay(const std::vector<LineRequest>& misses) {
    for (const LineRequest& request : misses) l2_.request(request, stats_[request.slot]);
}

void CacheReplay::finish_block(std::uint64_t linear, BlockL1& l1) {
    l1.meet();
    const std::lock_guard lock(mutex_);
    lost_.l2_reads += l1.lost_reads;
    lost_.dram_reads += l1.lost_reads;
    lost_.l2_writes += l1.lost_writes;
    lost_.dram_writes += l1.lost_writes;
    if (linear != next_) {
        waiting_.emplace(linear, std::exchange(l1.misses, {}));
        return;
    }
    replay(l1.misses);
    for (++next_; !waiting_.empty() && waiting_.begin()->first == next_; ++next_) {
        replay(waiting_.begin()->second);
        waiting_.erase(waiting_.begin());
    }
}

std::uint64_t l1_share(std::uint64_t l1_bytes, std::uint64_t shared_bytes_per_block, std::uint64_t resident) {
    resident = std::max<std::uint64_t>(resident, 1);
    const std::uint64_t shared = std::min(l1_bytes, shared_bytes_per_block * resident);
    return (l1_bytes - shared) / resident;
}

}  // namespace warpgrade::vgpu
