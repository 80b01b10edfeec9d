#include "vgpu/shadow/marks.hpp"

#include <algorithm>
#include <type_traits>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

namespace {

// Four marks at a time; each operation compiles to one or two vector instructions.
using Marks [[gnu::vector_size(32)]] = std::uint64_t;
using Truth [[gnu::vector_size(32)]] = std::int64_t;  // all ones or zero

inline Marks load(const Mark* p) {
    Marks m;
    __builtin_memcpy(&m, p, sizeof m);
    return m;
}
inline void store(Mark* p, Marks m) { __builtin_memcpy(p, &m, sizeof m); }

// The rules below are written once for one mark and for four; these are their building blocks.
template <class M>
inline M broadcast(Mark m) {
    if constexpr (std::is_same_v<M, Mark>)
        return m;
    else
        return Marks{m, m, m, m};
}
inline bool before(Mark a, Mark b) { return a < b; }
// Marks stay below 2^63, so they can be compared as signed numbers, for which AVX2 has an instruction.
inline Truth before(Marks a, Marks b) { return (Truth)a < (Truth)b; }
inline bool negated(bool t) { return !t; }
inline Truth negated(Truth t) { return ~t; }
inline bool any(bool t) { return t; }
inline bool any(Truth t) {
#if defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)t, (__m256i)t);
#else
    return (t[0] | t[1] | t[2] | t[3]) != 0;
#endif
}
inline Mark choose(bool t, Mark yes, Mark no) { return t ? yes : no; }
inline Marks choose(Truth t, Marks yes, Marks no) { return (Marks)(((Truth)yes & t) | ((Truth)no & ~t)); }
inline bool same(Mark a, Mark b) { return a == b; }
inline Truth same(Marks a, Marks b) { return (Truth)(a == b); }
template <class M>
inline auto has_none(M m, Mark bits) {
    return same(m & broadcast<M>(bits), broadcast<M>(0));
}

template <class O>
constexpr bool sees_one_block = std::is_same_v<O, BlockObserver>;

// Marks before the block's turn, and those before the settled time.
template <class M, class O>
inline auto before_turn(M m, const O& o) {
    if constexpr (sees_one_block<O>)
        return decltype(before(m, m)){};
    else
        return before(m, broadcast<M>(o.turn));
}
template <class M, class O>
inline auto is_settled(M m, const O& o) {
    if constexpr (sees_one_block<O>)
        return decltype(before(m, m)){};
    else
        return before(m, broadcast<M>(o.settled));
}

// True if another block made the mark. The log of turns tells whether a mark before this turn is from an earlier turn
// of this block; the version for four marks is used only where the log is not needed (see needs_log).
template <class O>
inline bool of_other_block(Mark m, const O& o) {
    return before_turn(m, o) && (is_settled(m, o) || (m & mark::several_blocks) || !o.turns || !o.turns->is_own(m));
}
template <class O>
inline Truth of_other_block(Marks m, const O& o) {
    return before_turn(m, o);
}
template <class O>
inline bool needs_log(Marks m, const O& o) {
    if constexpr (sees_one_block<O>)
        return false;
    else
        return o.turns && any(before_turn(m, o) & ~is_settled(m, o) & has_none(m, mark::several_blocks));
}

// How marks relate to what the observer knows. `who` is the observing lane, with mark::several_lanes if there are
// several.
template <class M, class O>
struct Relation {
    using T = decltype(before(M{}, M{}));
    T other_block, same_warp, ordered;
    Relation(M m, M who, const O& o) {
        const M difference = m ^ (who | broadcast<M>(o.me));
        other_block = of_other_block(m, o);
        same_warp = has_none(difference, mark::warp_bits) & has_none(m, mark::several_warps);
        const T same_lane = same_warp & has_none(difference, mark::lane_bits) & has_none(m | who, mark::several_lanes);
        const T before_me = before(m, choose(same_warp, broadcast<M>(o.warp_bound), broadcast<M>(o.bound))) | same_lane;
        ordered = is_settled(m, o) | (negated(other_block) & has_none(m, mark::several_blocks) & before_me);
    }
};

// Marks that are ordered regardless of who made them. Most are: they were made before the last barrier. The others need
// a closer look.
template <class M, class O>
inline auto is_old(M m, const O& o) {
    return is_settled(m, o) | (before(m, broadcast<M>(o.bound)) & negated(before_turn(m, o)));
}

// Plain reads by several warps of this block since the last barrier: another read changes nothing.
template <class M, class O>
inline auto is_common(M m, const O& o) {
    constexpr Mark shared_by_warps = mark::several_warps | mark::several_blocks | mark::kind;
    return negated(before(m, broadcast<M>(o.bound))) & negated(before_turn(m, o)) &
           same(m & broadcast<M>(shared_by_warps), broadcast<M>(mark::several_warps));
}

// A granule's mark of reads after another read.
template <class M, class O>
inline M merged(M old, M who, const O& o) {
    const Relation<M, O> r(old, who, o);
    const M mine = who | broadcast<M>(o.me);
    const M apart = choose(r.other_block, broadcast<M>(mark::several_blocks),
                           choose(r.same_warp, broadcast<M>(mark::several_lanes), broadcast<M>(mark::several_warps)));
    return choose(r.ordered, mine, (old | apart) & (mine | broadcast<M>(~mark::kind)));
}

}  // namespace

std::optional<std::uint64_t> TurnLog::block_at(Mark m) const {
    const auto after = std::ranges::upper_bound(turns_, mark::time_of(m), {}, &Turn::time);
    if (after == turns_.begin()) return std::nullopt;
    return std::prev(after)->block;
}

bool is_ordered(Mark m, const Observer& o, Mark who) { return Relation<Mark, Observer>(m, who, o).ordered; }

namespace {

template <class O>
[[gnu::always_inline]] inline bool note_load_by(const MarkedMemory& memory, const GranuleShape& shape,
                                                std::int64_t first, const O& o, Mark written_since) {
    bool fine = true;
    for (const GranuleShape::Run& run : shape.runs) {
        const Mark* writes = memory.writes + first + run.begin;
        Mark* reads = memory.reads ? memory.reads + first + run.begin : nullptr;
        const Mark* who = shape.who.data() + run.who;
        const auto one = [&](std::uint32_t i) {
            fine &=
                (is_old(writes[i], o) || Relation<Mark, O>(writes[i], who[i], o).ordered) && writes[i] >= written_since;
            if (!reads || is_common(reads[i], o)) return;
            reads[i] = is_old(reads[i], o) ? who[i] | o.me : merged(reads[i], who[i], o);
        };
        std::uint32_t i = 0;
        for (; i + 4 <= run.count; i += 4) {
            const Marks write = load(writes + i), lanes = load(who + i);
            if (!any(~is_old(write, o) | before(write, broadcast<Marks>(written_since)))) [[likely]] {
                if (!reads) continue;
                const Marks read = load(reads + i);
                if (!any(~is_common(read, o))) continue;
                if (!any(~is_old(read, o))) {
                    store(reads + i, lanes | broadcast<Marks>(o.me));
                    continue;
                }
            }
            if (needs_log(write, o) || (reads && needs_log(load(reads + i), o))) {
                for (std::uint32_t k = i; k < i + 4; ++k) one(k);
                continue;
            }
            fine &= !any(~Relation<Marks, O>(write, lanes, o).ordered | before(write, broadcast<Marks>(written_since)));
            if (reads) store(reads + i, merged(load(reads + i), lanes, o));
        }
        for (; i < run.count; ++i) one(i);
    }
    return fine;
}

template <class O>
[[gnu::always_inline]] inline bool note_store_by(const MarkedMemory& memory, const GranuleShape& shape,
                                                 std::int64_t first, const O& o) {
    const O for_reads{o.for_reads()};
    for (const GranuleShape::Run& run : shape.runs) {
        Mark* writes = memory.writes + first + run.begin;
        const Mark* reads = memory.reads ? memory.reads + first + run.begin : nullptr;
        const Mark* who = shape.who.data() + run.who;
        const auto one = [&](std::uint32_t i) {
            if (!is_old(writes[i], o) && !Relation<Mark, O>(writes[i], who[i], o).ordered) return false;
            if (reads && !is_old(reads[i], for_reads) && !Relation<Mark, O>(reads[i], who[i], for_reads).ordered)
                return false;
            writes[i] = who[i] | o.me;
            return true;
        };
        std::uint32_t i = 0;
        for (; i + 4 <= run.count; i += 4) {
            const Marks lanes = load(who + i), write = load(writes + i),
                        read = reads ? load(reads + i) : broadcast<Marks>(0);
            if (!any(~(is_old(write, o) & is_old(read, for_reads)))) [[likely]] {
                store(writes + i, lanes | broadcast<Marks>(o.me));
                continue;
            }
            if (needs_log(write, o) || needs_log(read, for_reads)) {
                for (std::uint32_t k = i; k < i + 4; ++k)
                    if (!one(k)) return false;
                continue;
            }
            const Truth ordered =
                Relation<Marks, O>(write, lanes, o).ordered & Relation<Marks, O>(read, lanes, for_reads).ordered;
            if (any(~ordered)) return false;
            store(writes + i, lanes | broadcast<Marks>(o.me));
        }
        for (; i < run.count; ++i)
            if (!one(i)) return false;
    }
    return true;
}

}  // namespace

bool note_load(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
               Mark written_since) {
    return note_load_by(memory, shape, first, o, written_since);
}
bool note_load(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const BlockObserver& o,
               Mark written_since) {
    return note_load_by(memory, shape, first, o, written_since);
}
bool note_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o) {
    return note_store_by(memory, shape, first, o);
}
bool note_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const BlockObserver& o) {
    return note_store_by(memory, shape, first, o);
}

void force_store(const MarkedMemory& memory, const GranuleShape& shape, std::int64_t first, const Observer& o,
                 bool keep_weaker) {
    for (const GranuleShape::Run& run : shape.runs)
        for (std::uint32_t i = 0; i < run.count; ++i) {
            Mark& write = memory.writes[first + run.begin + i];
            const bool own = write >= o.turn || (o.turns && o.turns->is_own(write));
            const bool weaker = (write & mark::kind) == mark::plain || mark::is_block_scope(write);
            if (keep_weaker && own && write >= o.settled && weaker) continue;
            write = shape.who[run.who + i] | o.me;
        }
}

}  // namespace warpgrade::vgpu
