#include "vgpu/shadow/marks.hpp"

#include <algorithm>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

namespace {

// Four marks at a time; the compiler makes one vector instruction of each operation, or two.
using Marks [[gnu::vector_size(32)]] = std::uint64_t;
using Truth [[gnu::vector_size(32)]] = std::int64_t;  // all ones or zero

inline Marks load(const Mark* p) {
    Marks m;
    __builtin_memcpy(&m, p, sizeof m);
    return m;
}
inline void store(Mark* p, Marks m) { __builtin_memcpy(p, &m, sizeof m); }
inline Marks all(Mark m) { return Marks{m, m, m, m}; }
// Marks stay below 2^63: compared as signed numbers, which AVX2 can.
inline Truth before(Marks a, Marks b) { return (Truth)a < (Truth)b; }
inline bool any(Truth t) {
#if defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)t, (__m256i)t);
#else
    return (t[0] | t[1] | t[2] | t[3]) != 0;
#endif
}
inline Marks choose(Truth t, Marks yes, Marks no) { return (Marks)(((Truth)yes & t) | ((Truth)no & ~t)); }
inline Truth is_zero(Marks m) { return (Truth)(m == all(0)); }

inline Truth is_zero_bits(Marks m, Mark bits) { return is_zero(m & all(bits)); }

// One or four marks against what the observer knows. `who`: the lane that looks, with mark::lanes if it is one of
// several.
template <class M>
struct Relation;

template <>
struct Relation<Mark> {
    bool other_block, same_warp, ordered;
    Relation(Mark m, Mark who, const Observer& o) {
        const Mark difference = m ^ (who | o.me);
        other_block = m < o.turn && (m < o.settled || !o.turns || !o.turns->is_own(m));
        same_warp = !(difference & mark::warp_bits) && !(m & mark::warps);
        const bool same_lane = same_warp && !(difference & mark::lane_bits) && !((m | who) & mark::lanes);
        const bool before_me = m < (same_warp ? o.warp_bound : o.bound) || same_lane;
        ordered = m < o.settled || (!other_block && !(m & mark::blocks) && before_me);
    }
};

template <>
struct Relation<Marks> {
    Truth other_block, same_warp, ordered;
    Relation(Marks m, Marks who, const Observer& o) {
        const Marks difference = m ^ (who | all(o.me));
        other_block = before(m, all(o.turn));
        same_warp = is_zero_bits(difference, mark::warp_bits) & is_zero_bits(m, mark::warps);
        const Truth same_lane =
            same_warp & is_zero_bits(difference, mark::lane_bits) & is_zero_bits(m | who, mark::lanes);
        const Truth before_me = before(m, choose(same_warp, all(o.warp_bound), all(o.bound))) | same_lane;
        ordered = before(m, all(o.settled)) | (~other_block & is_zero_bits(m, mark::blocks) & before_me);
    }
};

// Marks that may be of an earlier turn of this block: only one at a time can be looked up.
inline bool needs_log(Marks m, const Observer& o) {
    return o.turns && any(before(m, all(o.turn)) & ~before(m, all(o.settled)) & is_zero(m & all(mark::blocks)));
}

// Marks that are ordered whoever made them; the others need a closer look. Most are: made before the last barrier.
inline bool is_old(Mark m, const Observer& o) { return m < o.settled || (m < o.bound && m >= o.turn); }
inline Truth is_old(Marks m, const Observer& o) {
    return before(m, all(o.settled)) | (before(m, all(o.bound)) & ~before(m, all(o.turn)));
}
// Plain reads by several warps of this block since then: one more changes nothing.
constexpr Mark shared_by_warps = mark::warps | mark::blocks | mark::kind;
inline bool is_common(Mark m, const Observer& o) {
    return m >= o.bound && m >= o.turn && (m & shared_by_warps) == mark::warps;
}
inline Truth is_common(Marks m, const Observer& o) {
    return ~before(m, all(o.bound)) & ~before(m, all(o.turn)) & (Truth)((m & all(shared_by_warps)) == all(mark::warps));
}

// The mark of reads that a granule has after one more.
inline Mark merged(Mark old, Mark who, const Observer& o) {
    const Relation<Mark> r(old, who, o);
    const Mark mine = who | o.me;
    if (r.ordered) return mine;
    return (old | (r.other_block ? mark::blocks : r.same_warp ? mark::lanes : mark::warps)) & (mine | ~mark::kind);
}
inline Marks merged(Marks old, Marks who, const Observer& o) {
    const Relation<Marks> r(old, who, o);
    const Marks mine = who | all(o.me);
    const Marks apart =
        choose(r.other_block, all(mark::blocks), choose(r.same_warp, all(mark::lanes), all(mark::warps)));
    return choose(r.ordered, mine, (old | apart) & (mine | all(~mark::kind)));
}

}  // namespace

std::optional<std::uint64_t> TurnLog::block_at(Mark m) const {
    const auto after = std::ranges::upper_bound(turns_, mark::time_of(m), {}, &Turn::time);
    if (after == turns_.begin()) return std::nullopt;
    return std::prev(after)->block;
}

bool is_ordered(Mark m, const Observer& o, Mark who) { return Relation<Mark>(m, who, o).ordered; }

bool note_load(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
               Mark written_since) {
    bool fine = true;
    for (const GranuleShape::Run& run : shape.runs) {
        const Mark* writes = memory.writes + first + run.begin;
        Mark* reads = memory.reads ? memory.reads + first + run.begin : nullptr;
        const Mark* who = shape.who.data() + run.who;
        const auto one = [&](std::uint32_t i) {
            fine &= (is_old(writes[i], o) || is_ordered(writes[i], o, who[i])) && writes[i] >= written_since;
            if (!reads || is_common(reads[i], o)) return;
            reads[i] = is_old(reads[i], o) ? who[i] | o.me : merged(reads[i], who[i], o);
        };
        std::uint32_t i = 0;
        for (; i + 4 <= run.count; i += 4) {
            const Marks write = load(writes + i), lanes = load(who + i);
            if (!any(~is_old(write, o) | before(write, all(written_since)))) [[likely]] {
                if (!reads) continue;
                const Marks read = load(reads + i);
                if (!any(~is_common(read, o))) continue;
                if (!any(~is_old(read, o))) {
                    store(reads + i, lanes | all(o.me));
                    continue;
                }
            }
            if (needs_log(write, o) || (reads && needs_log(load(reads + i), o))) {
                for (std::uint32_t k = i; k < i + 4; ++k) one(k);
                continue;
            }
            fine &= !any(~Relation<Marks>(write, lanes, o).ordered | before(write, all(written_since)));
            if (reads) store(reads + i, merged(load(reads + i), lanes, o));
        }
        for (; i < run.count; ++i) one(i);
    }
    return fine;
}

bool note_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o) {
    const Observer of_reads = o.of_reads();
    for (const GranuleShape::Run& run : shape.runs) {
        Mark* writes = memory.writes + first + run.begin;
        const Mark* reads = memory.reads ? memory.reads + first + run.begin : nullptr;
        const Mark* who = shape.who.data() + run.who;
        const auto one = [&](std::uint32_t i) {
            if (!is_old(writes[i], o) && !is_ordered(writes[i], o, who[i])) return false;
            if (reads && !is_old(reads[i], of_reads) && !is_ordered(reads[i], of_reads, who[i])) return false;
            writes[i] = who[i] | o.me;
            return true;
        };
        std::uint32_t i = 0;
        for (; i + 4 <= run.count; i += 4) {
            const Marks lanes = load(who + i), write = load(writes + i), read = reads ? load(reads + i) : all(0);
            if (!any(~(is_old(write, o) & is_old(read, of_reads)))) [[likely]] {
                store(writes + i, lanes | all(o.me));
                continue;
            }
            if (needs_log(write, o) || needs_log(read, of_reads)) {
                for (std::uint32_t k = i; k < i + 4; ++k)
                    if (!one(k)) return false;
                continue;
            }
            const Truth ordered =
                Relation<Marks>(write, lanes, o).ordered & Relation<Marks>(read, lanes, of_reads).ordered;
            if (any(~ordered)) return false;
            store(writes + i, lanes | all(o.me));
        }
        for (; i < run.count; ++i)
            if (!one(i)) return false;
    }
    return true;
}

void force_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
                 bool keep_plain) {
    for (const GranuleShape::Run& run : shape.runs)
        for (std::uint32_t i = 0; i < run.count; ++i) {
            Mark& write = memory.writes[first + run.begin + i];
            const bool own = write >= o.turn || (write >= o.settled && o.turns && o.turns->is_own(write));
            if (keep_plain && own && write >= o.settled && (write & mark::kind) == mark::plain) continue;
            write = shape.who[run.who + i] | o.me;
        }
}

}  // namespace warpgrade::vgpu
