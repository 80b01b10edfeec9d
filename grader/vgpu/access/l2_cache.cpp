#include "vgpu/access/l2_cache.hpp"

#include <bit>
#include <mutex>
#include <utility>

namespace warpgrade::vgpu {
namespace {

// The last launch's L2, for the next launch.
struct Spare {
    std::mutex mutex;
    HostPages storage;
    std::uint64_t now = 0;
};
Spare spare;

}  // namespace

L2Sets::L2Sets(std::uint64_t l2_bytes, unsigned parts)
    : count_(std::max<std::uint64_t>(l2_bytes / line_bytes / ways, 1)),
      reciprocal_(~std::uint64_t{0} / count_ + 1),
      parts_(std::clamp(parts, 1u, max_parts)) {}

L2Cache::L2Cache(std::uint64_t bytes, unsigned parts) : sets_(bytes, parts), clocks_(sets_.parts()) {
    const std::lock_guard lock(spare.mutex);
    if (spare.storage.size() == sets_.count() * sizeof(Set)) {
        std::swap(storage_, spare.storage);
        for (Clock& clock : clocks_) clock.floor = clock.now = spare.now;
    }
    if (!storage_.data()) storage_ = HostPages(sets_.count() * sizeof(Set));
}

L2Cache::~L2Cache() {
    const std::lock_guard lock(spare.mutex);
    std::swap(storage_, spare.storage);
    spare.now = 0;
    for (const Clock& clock : clocks_) spare.now = std::max(spare.now, clock.now);
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
    if (used >> 4 > clock.floor) stats.dram_writes += count_sectors(way.tag >> 4 & 15);
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
            stats.l2_reads += count_sectors(wanted);
            stats.l2_read_hits += count_sectors(wanted & valid);
            stats.l2_reads_again += count_sectors(wanted & own);
            if (!missing) break;
            stats.dram_reads += count_sectors(missing);
            stats.fetched_sectors += 2 * count_sectors(halves_of(missing) & ~halves_of(valid));
            break;
        case LineRequest::Kind::Atomic:
            stats.dram_reads += count_sectors(missing);
            tag |= std::uint64_t{wanted} << 4;
            break;
        case LineRequest::Kind::Write:  // needs no old content: L2 tracks which bytes of a sector are new
            stats.l2_writes += count_sectors(wanted);
            tag |= std::uint64_t{wanted} << 4;
            break;
    }
    tag |= wanted;
    used = ++clock.now << 4 | own | wanted;
}

void L2Cache::request(std::span<const LineRequest> requests, std::span<const std::size_t> ends,
                      std::span<CacheStats> stats, unsigned part) {
    Clock clock = clocks_[part];  // in registers
    // Sets of irregular accesses are not in the host's caches.
    constexpr std::size_t ahead = 16;
    Set* sets[ahead];
    const auto fetch = [&](std::size_t i) {
        if (i >= requests.size()) return;
        sets[i % ahead] = &set_of(requests[i].line);
        __builtin_prefetch(sets[i % ahead], 1);
    };
    for (std::size_t i = 0; i < ahead; ++i) fetch(i);
    std::size_t i = 0;
    for (const std::size_t end : ends) {
        clock.block_began = clock.now + 1;
        for (; i < end; ++i) {
            Set& set = *sets[i % ahead];
            fetch(i + ahead);
            request(set, requests[i], clock, stats[requests[i].slot]);
        }
    }
    clocks_[part] = clock;
}

}  // namespace warpgrade::vgpu
