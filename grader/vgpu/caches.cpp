#include "vgpu/caches.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "vgpu/access.hpp"
#include "vgpu/site.hpp"

namespace warpgrade::vgpu {
namespace {

// A hash in the upper bits; for tables of lines that are often a power of two apart.
constexpr std::uint64_t hash_of(std::uint64_t line) { return line * 0x9E3779B97F4A7C15u; }

// The sectors of one line that an access touches.
struct Part {
    std::uint64_t line;
    unsigned sectors;
};

// The lines of an access, each once, in the order in which lanes touch them first.
class Parts {
  public:
    Parts(const Access& x, std::uint64_t base, unsigned bytes) {
        if (x.kind == Access::Kind::Uniform) {
            add<true>(base + x.address[0], base + x.address[0]);
            return;
        }
        if (x.kind == Access::Kind::Contiguous) {
            add<true>(base + x.address[0], base + x.address[warp_size - 1] + bytes - 1);
            return;
        }
        std::memset(places_, nowhere, sizeof places_);
        for (unsigned g = 0; g < warp_size; g += 8) {
            const std::uint64_t* a = x.address + g;
            switch (x.group[g / 8]) {
                case Access::Kind::Uniform:
                    add(base + a[0], base + a[0]);
                    break;
                case Access::Kind::Contiguous:
                    add(base + a[0], base + a[7] + bytes - 1);
                    break;
                case Access::Kind::Other:  // an aligned access of up to 16 bytes lies in one sector
                    for (unsigned l = 0; l < 8; ++l) add(base + a[l], base + a[l]);
            }
        }
    }
    [[nodiscard]] const Part* begin() const { return parts_; }
    [[nodiscard]] const Part* end() const { return parts_ + count_; }

  private:
    static constexpr std::uint8_t nowhere = 0xff;

    // Alone: no line was there before.
    template <bool Alone = false>
    void add(std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t line = first / line_bytes; line <= last / line_bytes; ++line) {
            const unsigned low = line == first / line_bytes ? first % line_bytes / sector_bytes : 0;
            const unsigned high = line == last / line_bytes ? last % line_bytes / sector_bytes : 3;
            const unsigned sectors = ((2u << high) - 1) & ~((1u << low) - 1);
            if constexpr (Alone)
                parts_[count_++] = {line, sectors};
            else
                merge(line, sectors);
        }
    }
    void merge(std::uint64_t line, unsigned sectors) {
        if (count_ > 0 && parts_[count_ - 1].line == line) {
            parts_[count_ - 1].sectors |= sectors;
            return;
        }
        unsigned place = hash_of(line) >> 58;
        for (; places_[place] != nowhere; place = (place + 1) % std::size(places_))
            if (parts_[places_[place]].line == line) {
                parts_[places_[place]].sectors |= sectors;
                return;
            }
        places_[place] = static_cast<std::uint8_t>(count_);
        parts_[count_++] = {line, sectors};
    }

    Part parts_[2 * warp_size];  // more than any access has
    unsigned count_ = 0;
    std::uint8_t places_[2 * warp_size];  // by a hash of the line, the next one if that is taken: where it is in parts_
};

template <class T>
std::uint64_t count(T sectors) {
    return static_cast<std::uint64_t>(std::popcount(sectors));
}

}  // namespace

void BlockL1::begin_block(std::uint64_t bytes, std::uint32_t warps, std::vector<MemorySite>& stats) {
    const std::uint64_t sets = std::max<std::uint64_t>(bytes / line_bytes / ways, 1);
    if (sets != sets_) {
        sets_ = sets;
        lines_.assign(sets * ways, Line{});
    }
    floor_ = ++now_;
    stats_ = &stats;
    traces_.resize(warps);
    for (auto& trace : traces_) trace.clear();
    misses.clear();
    lost_reads = lost_writes = 0;
}

// Spread by a hash, as arrays whose rows are a power of two apart would all meet in a few sets otherwise.
inline BlockL1::Line* BlockL1::set_of(std::uint64_t line) {
    const std::uint64_t hash = hash_of(line) >> 32;
    return lines_.data() + (hash * sets_ >> 32) * ways;
}

inline unsigned BlockL1::find(const LineRequest& request) {
    Line* const set = set_of(request.line);
    for (Line* way = set; way != set + ways; ++way)
        if (way->tag == request.line && way->used >= floor_) {
            way->used = ++now_;
            const unsigned there = way->sectors & request.sectors;
            way->sectors |= request.sectors;
            return there;
        }
    Line* chosen = set;
    for (Line* way = set + 1; way != set + ways; ++way)
        if (way->used < chosen->used) chosen = way;
    *chosen = {request.line, ++now_, static_cast<unsigned>(request.sectors)};
    return 0;
}

inline void BlockL1::perform(const LineRequest& request) {
    const auto sectors = static_cast<unsigned>(request.sectors);
    switch (static_cast<LineRequest::Kind>(request.kind)) {
        case LineRequest::Kind::Read: {
            const unsigned there = find(request);
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

void BlockL1::access(std::uint32_t warp, const Access& access, std::uint64_t base, unsigned bytes, std::uint32_t slot,
                     LineRequest::Kind kind) {
    auto& trace = traces_[warp];
    const Parts parts(access, base, bytes);
    const std::size_t before = trace.size();
    trace.resize(before + static_cast<std::size_t>(parts.end() - parts.begin()));
    LineRequest* request = trace.data() + before;
    for (const Part& part : parts)
        *request++ = {part.line, part.sectors, static_cast<std::uint64_t>(kind), 0,
                      std::min(slot, LineRequest::most_slots - 1)};
    trace.back().last = 1;
    if (trace.size() >= longest_trace) meet();
}

// The warps take turns, an instruction each, until nothing is left.
void BlockL1::meet() {
    done_.assign(traces_.size(), 0);
    for (bool any = true; any;) {
        any = false;
        for (std::size_t w = 0; w < traces_.size(); ++w) {
            const auto& trace = traces_[w];
            std::size_t& next = done_[w];
            if (next == trace.size()) continue;
            any = true;
            do perform(trace[next]);
            while (!trace[next++].last);
        }
    }
    for (auto& trace : traces_) trace.clear();
}

void BlockL1::forget(const LineRequest& request) {
    for (Line *way = set_of(request.line), *end = way + ways; way != end; ++way)
        if (way->tag == request.line && way->used >= floor_) way->sectors &= ~static_cast<unsigned>(request.sectors);
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
