// The observers of memory: racecheck and initcheck. They see each access of shared memory, and each access of global
// memory that matters to them, before it is performed; shadow/marks.hpp keeps the earlier accesses. Nothing here is
// called when they are switched off.
#pragma once

#include "vgpu/access/atomic_queues.hpp"
#include "vgpu/access/site.hpp"
#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

enum class Op : std::uint8_t { Load, Store, Atomic };

// Moves the elements of one access between registers and memory. Each lane's element is at origin + its address.
using Mover = void (*)(Warp&, const Insn&, std::byte* origin, const Access&);

// What the observers need to know about an instruction's access.
struct AccessTraits {
    Mark kind = mark::plain;
    // A load that only copies this many elements per lane: undefined ones are no error yet and go to WarpWatch::loaded.
    unsigned copies = 0;
    // Writes each lane's value of a store to a place of its own; nullptr if the values cannot be separated.
    Mover spread = nullptr;
    bool overwrites = false;  // an atomic that ignores the old value
    // Of an atomic: what it costs where lanes meet (atomic_queues.hpp).
    MeetingLanes lanes;
    bool read_only = false;  // a load through the read-only cache: __ldg, const __restrict__, textures
    // The lanes of a store whose value is undefined; nullptr if there are none.
    const StoredUndefined* undefined = nullptr;
};

// The granules that an access touches.
struct Granules {
    const GranuleShape& shape;
    std::int64_t first;
};
inline Granules granules_of(Pattern& p, std::uint64_t first, unsigned shift) {
    return {p.granules(shift), static_cast<std::int64_t>(first >> shift)};
}
inline Granules granules_of(Executor& e, const Access& x, std::uint64_t base, unsigned bytes, unsigned shift) {
    e.watch.scratch_shape.learn(x, bytes, shift);
    return {e.watch.scratch_shape, static_cast<std::int64_t>((x.address[std::countr_zero(x.mask)] - base) >> shift)};
}

inline Observer observer_of(const Warp& w, const Insn& in, Mark kind) {
    Observer o;
    o.me = mark::at_time(w.executor->watch.now) | mark::of_site(in.memory_slot) | kind | Mark{w.index} << 5;
    o.bound = w.watch.bound;
    o.warp_bound = w.watch.warp_bound;
    return o;
}

// An access that the marks call suspicious, for report_conflicts. `base` is the address of granule 0.
struct WatchedAccess {
    Op op;
    ptx::Space space;
    const Access& access;
    unsigned bytes;
    std::uint64_t base;
    const std::byte* host;  // host address of `base`
    unsigned shift;
    MarkedMemory memory;
    Mark written_since = 0;
};
// Goes lane by lane: reports the conflicts and undefined values that the marks hint at, and notes the access.
void report_conflicts(Warp& w, const Insn& in, const WatchedAccess& a, const Granules& g, const Observer& o,
                      const AccessTraits& how);

// Reports the lanes of a load through the read-only cache that read what this launch has written.
void report_stale_reads(Warp& w, const Insn& in, const Access& x, unsigned bytes, const Allocation& allocation,
                        const LaunchTrack& track, const Observer& o);

// Checks and notes an access of shared memory. `traits` and `access` make the AccessTraits and the Access; they are
// called only if a check needs them.
template <Op O, class T, class F>
inline void watch_shared(Warp& w, const Insn& in, const Granules& g, unsigned bytes, Mark kind, T&& traits,
                         F&& access) {
    SharedMarks& marks = w.block->watch.marks;
    const BlockObserver o{observer_of(w, in, kind)};
    const MarkedMemory memory{marks.writes.data(), marks.reads.data()};
    if (O == Op::Load && note_load(memory, g.shape, g.first, o, w.block->watch.start)) [[likely]]
        return;
    const AccessTraits& how = traits();
    if (O == Op::Store && !g.shape.overlap && !how.undefined && note_store(memory, g.shape, g.first, o)) [[likely]]
        return;
    const WatchedAccess a{O,      ptx::Space::Shared,  access(), bytes, 0, w.block->shared, marks.shift,
                          memory, w.block->watch.start};
    report_conflicts(w, in, a, g, o, how);
}

// The same for an allocation that has marks.
template <Op O, class F>
inline void watch_global(Warp& w, const Insn& in, Allocation& allocation, LaunchTrack& track, const Granules& g,
                         unsigned bytes, const AccessTraits& how, F&& access) {
    Observer o = observer_of(w, in, how.kind);
    o.turn = w.block->watch.turn;
    o.settled = w.block->watch.settled;
    o.settled_reads = w.block->watch.settled_reads;
    o.turns = w.block->watch.resumed ? &w.executor->watch.turns : nullptr;
    const MarkedMemory memory = track.marks();
    if (O == Op::Load && note_load(memory, g.shape, g.first, o, 0)) [[likely]] {
        if (how.read_only) [[unlikely]]
            report_stale_reads(w, in, access(), bytes, allocation, track, o);
        return;
    }
    if (O == Op::Store && !g.shape.overlap && note_store(memory, g.shape, g.first, o)) [[likely]]
        return;
    if (w.executor->optimistic) throw AttemptFailed{};
    const WatchedAccess a{O, ptx::Space::Global, access(), bytes, allocation.base, allocation.host, track.shift, memory,
                          0};
    report_conflicts(w, in, a, g, o, how);
}

// Notes an access that may synchronise threads: what a fence made visible, and which threads have seen it.
void note_synchronisation(Warp& w, const Access& x, ptx::Space space, Op op, bool releases);
// The warp has waited for a barrier object: everything until now happened before it.
inline void order_after_everything(Warp& w) {
    w.watch.bound = w.watch.warp_bound = mark::at_time(++w.executor->watch.now);
}

// Checks that a load of global memory is defined; notes what a store defines.
template <Op O>
void watch_defined(Warp& w, const Insn& in, Allocation& a, const Access& x, unsigned bytes, const AccessTraits& how);

// Lane `lane` loads unwritten bytes at `address`. Its whole access is `bytes` bytes from `begin`. Reports an error
// unless the load only copies.
void report_undefined_load(Warp& w, const Insn& in, ptx::Space space, unsigned lane, std::uint64_t begin,
                           std::uint64_t address, unsigned bytes, const AccessTraits& how);
// From now on, the running load's registers are undefined where the load found nothing written.
void mark_loaded_undefined(Warp& w, const Insn& in);
// Reports that `in` uses an undefined register.
void report_use(Warp& w, const Insn& in, unsigned lane, const UndefinedOrigin& origin);
// After the launch: adds to a finding that its whole memory is uninitialized, where that is so.
void note_wholly_unwritten(std::vector<device::Diagnostic>& diagnostics, const GlobalMemory& memory);

}  // namespace warpgrade::vgpu
