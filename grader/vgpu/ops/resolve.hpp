// Resolves a warp-level access to host memory: checks bounds, alignment and state space, and notifies the observers of
// memory. Every address that a kernel forms goes through here.
#pragma once

#include <algorithm>
#include <optional>

#include "device/address_space.hpp"
#include "device/device.hpp"
#include "vgpu/access/access.hpp"
#include "vgpu/checks/local_values.hpp"
#include "vgpu/checks/watch.hpp"
#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

// Collects the addresses of the lanes in `mask` from registers, of 32 bits if `narrow`.
inline void collect_lanes(Warp& w, Access& x, Ref registers, std::int64_t offset, bool narrow, std::uint32_t mask,
                          unsigned bytes) {
    if (narrow)
        x.collect(operand<std::uint32_t>(w, registers), offset, mask, bytes);
    else
        x.collect(operand<std::uint64_t>(w, registers), offset, mask, bytes);
}

[[noreturn]] void raise_access(const Warp& w, const Insn& in, const Access& x, ptx::Space space, Op op, unsigned bytes);

// The load/store pipe's work for one request with `units` sectors or wavefronts, and of global memory with `cycles` of
// L1 or lines.
constexpr std::uint64_t l1_tenths_of(StatKind kind, std::uint64_t units, std::uint64_t cycles) {
    switch (kind) {
        case StatKind::GlobalLoad:
            return l1_tenths::of_cycles(l1_tenths::load_request, cycles);
        case StatKind::GlobalStore:
            return l1_tenths::of_cycles(l1_tenths::store_request, cycles);
        case StatKind::LocalLoad:
        case StatKind::TextureLoad:
        case StatKind::SurfaceLoad:
            return l1_tenths::of_sectors(l1_tenths::load_request, units);
        case StatKind::LocalStore:
        case StatKind::SurfaceStore:
            return l1_tenths::of_sectors(l1_tenths::store_request, units);
        case StatKind::GlobalAtomic:
            return l1_tenths::atomic_request + units * l1_tenths::atomic_sector;
        case StatKind::SharedLoad:
        case StatKind::SharedStore:
        case StatKind::SharedAtomic:
            return units * l1_tenths::wavefront;
        case StatKind::ConstantLoad:
            return cycles * l1_tenths::wavefront;
        case StatKind::None:
            break;
    }
    return 0;
}

// Lanes that store more than four bytes each are served by halves or quarters of the warp, which seldom share lines if
// there are more lines than parts.
constexpr std::uint64_t stored_lines(std::size_t lines, unsigned bytes) {
    return std::max<std::uint64_t>(lines, bytes / bank_bytes);
}

// `conflicts`: see MemoryStats.
inline void count(Warp& w, std::uint32_t slot, std::uint64_t units, std::uint64_t conflicts = 0) {
    w.executor->memory[slot].add(units, conflicts);
    w.work.l1_tenths += l1_tenths_of(w.executor->code->stat_kinds[slot], units, conflicts);
}

inline bool fits(std::uint64_t low, std::uint64_t high, std::uint64_t base, std::uint64_t size, unsigned bytes) {
    return low >= base && bytes <= size && high - base <= size - bytes;
}

constexpr device::MemoryUse use_of(Op op) {
    return op == Op::Load    ? device::MemoryUse::read
           : op == Op::Store ? device::MemoryUse::write
                             : device::MemoryUse::atomic;
}

// Notes for the timing model that the launch has read or written this allocation.
template <Op O>
inline void note_touched(Allocation& a) {
    constexpr std::uint8_t wanted = O == Op::Load ? Allocation::Read : Allocation::Written;
    const std::uint8_t seen = a.touched.load(std::memory_order_relaxed);
    if (!(seen & wanted)) a.touched.store(seen | wanted, std::memory_order_relaxed);
}

// Notes for the origin of outputs (device/origin.hpp) which launch writes, and which of the host's bytes are read.
template <Op O>
[[gnu::noinline]] void note_origin(const Executor& e, Allocation& a, const Access& x, unsigned bytes) {
    const auto note = [&](std::uint64_t offset, std::uint64_t size) {
        if (O != Op::Store && a.host_copy) a.host_copy->note_load(offset, size);
        if (O != Op::Load) a.writers->note(offset, size, e.launch->limits.writer);
    };
    if (O == Op::Atomic) a.touched.fetch_or(Allocation::Updated, std::memory_order_relaxed);
    if (x.kind != Access::Kind::Other && x.mask == full_mask) return note(x.low - a.base, x.high - x.low + bytes);
    for_active(x.mask, [&](unsigned l) { note(x.address[l] - a.base, bytes); });
}

// Notes an access of global memory for the order of streams, and records it if its warp is traced.
void note_access(Warp& w, const Insn& in, const Allocation& a, const Access& x, unsigned bytes, Op op,
                 device::MemoryUse use);
// Records an access of shared memory if its warp is traced.
void trace_shared(Warp& w, const Insn& in, const Access& x, unsigned bytes, Op op);

// Tells observers of the launch which memory is accessed. `access` makes the Access if an observer needs it; `granules`
// gives the granules of 2^shift bytes that it touches.
template <Op O, class F, class G>
inline void note_observed(Warp& w, const Insn& in, Allocation& a, unsigned bytes, const AccessTraits& how, F&& access,
                          G&& granules) {
    constexpr std::uint8_t wanted = O == Op::Load ? Allocation::Read : Allocation::Written;
    Executor& e = *w.executor;
    if (e.watch.accesses) [[unlikely]]
        note_access(w, in, a, access(), bytes, O, mark::is_atomic(how.kind) ? device::MemoryUse::atomic : use_of(O));
    const auto note_bytes = [&] {  // after its pages are saved, if the launch may be undone
        if (O == Op::Load ? a.host_copy != nullptr : a.writers != nullptr) note_origin<O>(e, a, access(), bytes);
        if (a.defined && !a.defined->complete()) [[unlikely]]
            watch_defined<O>(w, in, a, access(), bytes, how);
    };
    if (!e.tracking) {
        note_touched<O>(a);
        return note_bytes();
    }
    if (!(a.touched.load(std::memory_order_relaxed) & wanted)) e.launch->tracks.first_touch(e, a, O != Op::Load);
    if (O == Op::Load && !(a.touched.load(std::memory_order_relaxed) & Allocation::Tracked)) return note_bytes();
    if (e.optimistic) {
        if (O != Op::Load)
            e.launch->tracks.note_store(e, a, access(), bytes);
        else
            e.launch->tracks.note_load(e, a, access(), bytes);
    }
    LaunchTrack* track = a.track.load(std::memory_order_relaxed);
    if (track && track->marked()) watch_global<O>(w, in, a, *track, granules(track->shift), bytes, how, access);
    note_bytes();
}

template <Op O>
inline void note_global(Warp& w, const Insn& in, Allocation& a, const Access& x, unsigned bytes,
                        const AccessTraits& how = {}) {
    if (!w.executor->observed) return note_touched<O>(a);
    note_observed<O>(
        w, in, a, bytes, how, [&]() -> const Access& { return x; },
        [&](unsigned shift) { return granules_of(*w.executor, x, a.base, bytes, shift); });
}

// Counts sectors that cross the link between host and device.
template <Op O, class F>
inline void note_link(Warp& w, const Allocation& a, F&& sectors) {
    if (a.home != Allocation::Home::Mapped) [[likely]]
        return;
    Executor& e = *w.executor;
    if (O != Op::Store) e.mapped_read_sectors += sectors();
    if (O != Op::Load) e.mapped_write_sectors += sectors();
}

// The allocation that contains every lane's bytes, or nullptr.
template <Op O>
inline Allocation* global_allocation(Warp& w, MemorySite& site, std::uint64_t low, std::uint64_t high, unsigned bytes) {
    Allocation* a = site.allocation;
    if (a && fits(low, high, a->base, a->bytes, bytes)) [[likely]]
        return a;
    a = w.executor->global->find(low);
    if (!a || !fits(low, high, a->base, a->bytes, bytes) || (O != Op::Load && a->read_only)) return nullptr;
    return site.allocation = a;
}

// Calls body(origin, access): origin + address is the host address for each lane in access.mask. Calls it more than
// once if lanes access different allocations.
template <Op O, class F>
inline void resolve_global(Warp& w, const Insn& in, std::uint32_t slot, const Access& x, unsigned bytes, F&& body,
                           const AccessTraits& how = {}) {
    if (x.misaligned) [[unlikely]]
        raise_access(w, in, x, ptx::Space::Global, O, bytes);
    const auto use = [&](Allocation& a, const Access& part) {
        note_global<O>(w, in, a, part, bytes, how);
        note_link<O>(w, a, [&] { return part.sectors(bytes); });
        body(host_place(a.host, 0 - a.base), part);
    };
    if (Allocation* a = global_allocation<O>(w, w.executor->memory[slot], x.low, x.high, bytes)) [[likely]]
        return use(*a, x);
    std::uint32_t rest = x.mask;
    while (rest) {
        const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
        Allocation* a = w.executor->global->find(x.address[lane]);
        if (!a || !a->holds(x.address[lane], bytes) || (O != Op::Load && a->read_only))
            raise_access(w, in, x, ptx::Space::Global, O, bytes);
        std::uint32_t part = 0;
        for_active(rest, [&](unsigned l) { part |= std::uint32_t{a->holds(x.address[l], bytes)} << l; });
        Access some;
        some.collect(x.address, 0, part, bytes);
        use(*a, some);
        rest &= ~part;
    }
}

template <Op O>
[[gnu::noinline]] void watch_shared(Warp& w, const Insn& in, const Access& x, unsigned bytes, const AccessTraits& how) {
    if (w.block->watch.shared != BlockWatch::Marks) [[unlikely]] {
        trace_shared(w, in, x, bytes, O);
        if (!(w.block->watch.shared & BlockWatch::Marks)) return;
    }
    const auto g = granules_of(*w.executor, x, 0, bytes, w.block->watch.marks.shift);
    watch_shared<O>(
        w, in, g, bytes, how.kind, [&]() -> const AccessTraits& { return how; }, [&]() -> const Access& { return x; });
}

bool find_shared(const Warp& w, MemorySite& site, std::uint64_t low, std::uint64_t high, unsigned bytes);

// True if one variable of shared memory, or its dynamic part, contains the bytes of all lanes from `low` to `high`.
inline bool fits_shared(const Warp& w, MemorySite& site, std::uint64_t low, std::uint64_t high, unsigned bytes) {
    if (fits(low, high, site.shared_begin, site.shared_bytes, bytes)) [[likely]]
        return true;
    return find_shared(w, site, low, high, bytes);
}

// True if each lane's bytes are in one variable, possibly different ones.
bool fits_shared(const Warp& w, const Access& x, unsigned bytes);

template <Op O, class F>
inline void resolve_shared(Warp& w, const Insn& in, const Access& x, unsigned bytes, F&& body,
                           const AccessTraits& how = {}) {
    const bool fit = w.executor->launch->shared.find(x.low, x.high, bytes) || fits_shared(w, x, bytes);
    if (x.misaligned || !fit) [[unlikely]]
        raise_access(w, in, x, ptx::Space::Shared, O, bytes);
    if (w.block->watch.shared) watch_shared<O>(w, in, x, bytes, how);
    body(w.block->shared, x);
}

// Local memory is lane-major on the host; `x` holds offsets in each lane's local memory.
template <Op O, class F>
inline void resolve_local(Warp& w, const Insn& in, const Access& x, unsigned bytes, F&& body,
                          const AccessTraits& how = {}) {
    if (x.misaligned || !fits(x.low, x.high, 0, w.local_end, bytes)) [[unlikely]]
        raise_access(w, in, x, ptx::Space::Local, O, bytes);
    if (w.watch.local_written) watch_local<O>(w, in, x, bytes, how);
    Access lanes = x;
    for (unsigned l = 0; l < warp_size; ++l) lanes.address[l] += std::uint64_t{l} * w.local_stride;
    for (auto& g : lanes.group) g = Access::Kind::Other;
    lanes.kind = Access::Kind::Other;
    body(w.local, lanes);
}

// One access of a warp in one state space: checks it, shows it to observers, moves it with body(origin, access) and
// counts it in `slot`. `request` is what the caches of global memory see of it, if anything.
template <Op O, ptx::Space S, class F>
inline void perform_access(Warp& w, const Insn& in, std::uint32_t slot, const Access& x, unsigned bytes, F&& body,
                           const AccessTraits& how = {}, std::optional<LineRequest::Kind> request = {}) {
    if constexpr (S == ptx::Space::Global) {
        resolve_global<O>(w, in, slot, x, bytes, body, how);
        if constexpr (O == Op::Atomic) {
            const auto cost = w.executor->atomics.add(x, bytes, how.lanes.combined, how.lanes.adds_floats);
            count(w, slot, cost.sectors, cost.cycles);
        }
        if (request) {
            const LineParts lines(x, 0, bytes);
            if (O != Op::Atomic)
                count(w, slot, lines.sectors(),
                      O == Op::Load ? x.l1_cycles(bytes, lines.size()) : stored_lines(lines.size(), bytes));
            w.block->l1.access(w.index, lines, slot, *request);
        } else if (O != Op::Atomic) {
            count(w, slot, x.sectors(bytes));
        }
    } else if constexpr (S == ptx::Space::Shared) {
        resolve_shared<O>(w, in, x, bytes, body, how);
        if constexpr (O == Op::Atomic) {
            count(w, slot, shared_atomic_wavefronts(x, bytes, how.lanes));
        } else {
            const auto waves = x.wavefronts(bytes);
            count(w, slot, waves.total, waves.total - waves.ideal);
        }
    } else {
        resolve_local<O>(w, in, x, bytes, body, how);
        count(w, slot, local_sectors(x, bytes));
    }
}

// Splits a generic access by the windows of its addresses. Calls body(space, access with addresses of that space).
// Addresses outside every window go to Global, which explains the fault.
template <class F>
inline void split_generic(const Access& x, unsigned bytes, F&& body) {
    namespace windows = device::address_space;
    if (x.low >= windows::global_base) return body(ptx::Space::Global, x);
    std::uint32_t rest = x.mask;
    const auto part_in = [&](std::uint64_t base) {
        std::uint32_t part = 0;
        for_active(rest, [&](unsigned l) {
            part |= std::uint32_t{x.address[l] >= base && x.address[l] < base + windows::window} << l;
        });
        rest &= ~part;
        return part;
    };
    const auto run = [&](ptx::Space space, std::uint32_t part, std::uint64_t base) {
        if (!part) return;
        Access some;
        some.collect(x.address, -static_cast<std::int64_t>(base), part, bytes);
        body(space, some);
    };
    run(ptx::Space::Shared, part_in(windows::shared_base), windows::shared_base);
    run(ptx::Space::Local, part_in(windows::local_base), windows::local_base);
    run(ptx::Space::Param, part_in(windows::param_base), windows::param_base);
    run(ptx::Space::Global, rest, 0);
}

}  // namespace warpgrade::vgpu
