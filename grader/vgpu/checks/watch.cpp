#include "vgpu/checks/watch.hpp"

#include <algorithm>

#include "vgpu/state/lanes.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

using ptx::Space;
namespace rules = device::rules;

namespace {

std::uint32_t index_of(const Warp& w, const Insn& in) {
    const auto& insns = w.executor->code->insns;
    const auto index = static_cast<std::size_t>(&in - insns.data());
    return index < insns.size() ? static_cast<std::uint32_t>(index) : Findings::no_insn;
}

const Insn* insn_of(const Code& code, std::uint32_t site) {
    if (site == mark::unknown_site) return nullptr;
    return &code.insns[code.stat_insns[site]];
}

// The variable at an address of shared memory, or its dynamic part.
device::MemoryPlace shared_place(const Launch& launch, std::uint64_t address) {
    const SharedRange* range = launch.shared.find(address, address, 1);
    if (!range || !range->variable) return {"dynamic shared memory", false, launch.limits.dynamic_shared_bytes, {}};
    return {variable_name(range->variable->name), true, range->bytes, {}};
}

device::MemoryPlace memory_place(const Warp& w, Space space, std::uint64_t address) {
    if (space == Space::Shared) return shared_place(*w.executor->launch, address);
    return w.executor->global->place_of(address).value_or(device::MemoryPlace{});
}

bool is_own_block(Mark m, const Observer& o) { return m >= o.turn || (o.turns && o.turns->is_own(m)); }
bool is_own_warp(Mark m, const Observer& o) {
    return (m & mark::warp_bits) == (o.me & mark::warp_bits) && !(m & (mark::several_warps | mark::several_blocks)) &&
           is_own_block(m, o);
}

device::ThreadPlace place_of(const Warp& w, unsigned lane) {
    return w.executor->launch->thread_place(w.block->linear, w.index * warp_size + lane);
}

// Adds a diagnostic about a lane's access, for the caller to fill in; nullptr if there is one already. `other` is the
// other party's instruction.
device::Diagnostic* start_diagnostic(const Warp& w, const device::Rule& rule, const Insn& in, unsigned lane,
                                     const Insn* other) {
    Executor& e = *w.executor;
    device::Diagnostic* d =
        e.watch.findings.add(rule, w.block->linear, index_of(w, in), other ? index_of(w, *other) : Findings::no_insn);
    if (!d) return nullptr;
    d->place = e.launch->source_place(in);
    d->thread = place_of(w, lane);
    return d;
}

struct Party {
    Mark mark;
    bool wrote;
};

// The other thread of a race, if the mark says which: of several readers it holds only the first, which may be this
// thread.
std::optional<device::ThreadPlace> other_thread(const Warp& w, const Observer& o, unsigned lane, const Party& other,
                                                Space space) {
    const Launch& launch = *w.executor->launch;
    const std::uint32_t thread = mark::thread_of(other.mark);
    if (space == Space::Global && !is_own_block(other.mark, o)) {
        const auto block = w.executor->watch.turns.block_at(other.mark);
        if (!block) return std::nullopt;
        return launch.thread_place(*block, thread);
    }
    if (thread == w.index * warp_size + lane) return std::nullopt;
    return launch.thread_place(w.block->linear, thread);
}

void report_race(Warp& w, const Insn& in, const WatchedAccess& a, const Observer& o, unsigned lane,
                 std::uint64_t address, const Party& other) {
    Executor& e = *w.executor;
    if (!e.launch->limits.checks.race) return;
    const bool same_warp = is_own_warp(other.mark, o);
    const bool too_narrow = mark::is_atomic(other.mark) && mark::is_atomic(o.me);
    const device::Rule& rule = too_narrow                 ? rules::race_scope
                               : same_warp                ? rules::race_warp
                               : a.space == Space::Shared ? rules::race_shared
                                                          : rules::race_global;
    const auto thread = other_thread(w, o, lane, other, a.space);
    // Of several readers the mark holds only the first; if that is this thread, the others are unknown.
    const Insn* theirs = thread ? insn_of(*e.code, mark::site_of(other.mark)) : nullptr;
    device::Diagnostic* d = start_diagnostic(w, rule, in, lane, theirs);
    if (!d) return;
    const char* mine = a.op == Op::Load ? "reads" : mark::is_atomic(o.me) ? "changes" : "writes";
    const char* between = same_warp ? "no barrier" : a.space == Space::Shared ? "no __syncthreads()" : "no order";
    d->memory = memory_place(w, a.space, address);
    if (too_narrow && mark::is_block_scope(o.me))
        d->message = "changes an element of {memory} by an atomic of block scope, and another block changes it too";
    else if (too_narrow)
        d->message =
            std::string(mine) + " an element of {memory} that another block changes by an atomic of block scope";
    else
        d->message = std::string(mine) + " an element of {memory} that another thread " +
                     (!other.wrote                  ? "reads"
                      : mark::is_atomic(other.mark) ? "changes"
                                                    : "writes") +
                     ", with " + between + " between the two";
    d->related.push_back({other.wrote ? "written by" : "read by",
                          theirs ? e.launch->source_place(*theirs) : device::SourcePlace{}, thread});
}

void report_overlap(Warp& w, const Insn& in, const WatchedAccess& a, unsigned lane, unsigned other,
                    std::uint64_t address) {
    if (!w.executor->launch->limits.checks.race) return;
    device::Diagnostic* d =
        start_diagnostic(w, a.space == Space::Shared ? rules::race_shared : rules::race_global, in, lane, &in);
    if (!d) return;
    d->memory = memory_place(w, a.space, address);
    d->message = "writes an element of {memory} that other threads write at the same time, with different values";
    d->related.push_back({"written by", d->place, place_of(w, other)});
}

// True if two unordered accesses race. In PTX, volatile accesses are as good as atomic ones. Inside a warp, programs
// use volatile to rely on lockstep, which no longer exists. Atomics of block scope are plain accesses to other blocks.
bool conflict(Mark m, const Observer& o) {
    const Mark theirs = m & mark::kind, mine = o.me & mark::kind;
    if (theirs == mark::plain || mine == mark::plain) return true;
    if ((mark::is_block_scope(m) || mark::is_block_scope(o.me)) && !is_own_block(m, o)) return true;
    return is_own_warp(m, o) && theirs == mark::is_volatile && mine == mark::is_volatile;
}

// True for a load whose value a later compare-and-swap of the same place confirms, as in the loop of CUDA's programming
// guide: if another thread was faster, the swap fails and the loop retries with the new value.
bool is_read_for_swap(const Code& code, const Insn* load) {
    return load && std::ranges::any_of(code.compare_and_swaps, [&](std::uint32_t slot) {
               const Insn& swap = code.insns[code.stat_insns[slot]];
               const bool same_place = swap.a == load->a && swap.offset == load->offset, compared = swap.b == load->d;
               return load < &swap && (same_place || compared);
           });
}

// True if a compare-and-swap confirms the load, so that it does not race with the atomic operation.
bool is_confirmed(const Code& code, const Insn& in, const WatchedAccess& a, Mark other, bool wrote) {
    if (a.op == Op::Load) return wrote && mark::is_atomic(other) && is_read_for_swap(code, &in);
    return a.op == Op::Atomic && !wrote && is_read_for_swap(code, insn_of(code, mark::site_of(other)));
}

// Notes a store that is no race because it changes nothing, unless neither it nor `other` would with other data.
void note_harmless(Warp& w, const Insn& in, const Insn* other) {
    const Code& code = *w.executor->code;
    const auto is_fixed = [&](const Insn* store) {
        return store && std::ranges::binary_search(code.data_dependence.fixed_stores,
                                                   static_cast<std::uint32_t>(store - code.insns.data()));
    };
    w.executor->watch.order_may_matter = true;
    const Insn*& first = w.executor->watch.harmless_store;
    if ((!first || &in < first) && !(is_fixed(&in) && is_fixed(other))) first = &in;
}

}  // namespace

void report_conflicts(Warp& w, const Insn& in, const WatchedAccess& a, const Granules& g, const Observer& o,
                      const AccessTraits& how) {
    const Access& x = a.access;
    alignas(64) std::byte values[warp_size * 16];
    const bool know_values = a.op == Op::Store && how.spread && a.bytes <= 16;
    if (know_values) {
        Access apart;
        for (unsigned l = 0; l < warp_size; ++l) apart.address[l] = std::uint64_t{l} * a.bytes;
        apart.mask = x.mask;
        how.spread(w, in, values, apart);
    }
    const std::uint64_t size = std::uint64_t{1} << a.shift;
    for_active(x.mask, [&](unsigned l) {
        const std::uint64_t begin = x.address[l] - a.base;
        for (std::uint64_t at = begin >> a.shift; at <= (begin + a.bytes - 1) >> a.shift; ++at) {
            const Mark write = a.memory.writes[at];
            if (a.op != Op::Store && !how.overwrites && write < a.written_since) {
                report_undefined_load(w, in, a.space, l, x.address[l], std::max(x.address[l], a.base + (at << a.shift)),
                                      a.bytes, how);
                continue;
            }
            // A store that changes nothing harms nobody: many threads may set the same flag.
            const std::uint64_t from = std::max(begin, at << a.shift),
                                to = std::min(begin + a.bytes, (at << a.shift) + size);
            const auto value_of = [&](unsigned lane) { return values + std::size_t{lane} * a.bytes + (from - begin); };
            const bool changes = !know_values || std::memcmp(value_of(l), a.host + from, to - from) != 0;
            const auto ask = [&](Mark m, bool wrote) {
                if (m < a.written_since || is_ordered(m, wrote ? o : o.for_reads(), l) || !conflict(m, o)) return false;
                if (is_confirmed(*w.executor->code, in, a, m, wrote)) return false;
                if (changes)
                    report_race(w, in, a, o, l, x.address[l], {m, wrote});
                else
                    note_harmless(w, in, wrote ? insn_of(*w.executor->code, mark::site_of(m)) : nullptr);
                return true;
            };
            if (ask(write, true)) continue;
            if (a.op != Op::Load && a.memory.reads) ask(a.memory.reads[at], false);
        }
    });
    if (a.op == Op::Load) return;
    if (a.op == Op::Store && g.shape.overlap && know_values) {
        const std::size_t bytes = a.bytes;
        for_active(x.mask, [&](unsigned l) {
            for (unsigned k = 0; k < l; ++k) {
                if (!lane_on(x.mask, k) || x.address[k] != x.address[l]) continue;
                if (std::memcmp(values + k * bytes, values + l * bytes, bytes) != 0)
                    return report_overlap(w, in, a, l, k, x.address[l]);
                note_harmless(w, in, &in);
            }
        });
    }
    force_store(a.memory, g.shape, g.first, o, a.op == Op::Atomic && a.space == Space::Global);
    if (!how.undefined) return;
    for_active(x.mask & how.undefined->any(), [&](unsigned l) {
        const std::uint64_t begin = x.address[l] - a.base;
        for (std::uint64_t at = begin >> a.shift; at <= (begin + a.bytes - 1) >> a.shift; ++at) {
            if (!lane_on(how.undefined->at_byte((at << a.shift) - begin, a.bytes), l)) continue;
            a.memory.writes[at] = 0;
            w.block->watch.came_from.insert_or_assign(at, w.watch.stored_origin);
        }
    });
}

// An access that is also unordered is reported as a race instead.
void report_stale_reads(Warp& w, const Insn& in, const Access& x, unsigned bytes, const Allocation& allocation,
                        const LaunchTrack& track, const Observer& o) {
    if (!w.executor->launch->limits.checks.race) return;
    const Mark* writes = track.marks().writes;
    for_active(x.mask, [&](unsigned lane) {
        const std::uint64_t begin = x.address[lane] - allocation.base;
        const Mark* const end = writes + ((begin + bytes - 1) >> track.shift) + 1;
        const Mark* const written = std::find_if(writes + (begin >> track.shift), end, [](Mark m) { return m != 0; });
        if (written == end) return;
        const Insn* theirs = insn_of(*w.executor->code, mark::site_of(*written));
        device::Diagnostic* d = start_diagnostic(w, rules::stale_read, in, lane, theirs);
        if (!d) return;
        d->memory = memory_place(w, Space::Global, x.address[lane]);
        d->message = "reads an element of {memory} through the read-only cache, though this kernel has written it";
        const std::uint64_t block = is_own_block(*written, o)
                                        ? w.block->linear
                                        : w.executor->watch.turns.block_at(*written).value_or(w.block->linear);
        d->related.push_back({"written by", theirs ? w.executor->launch->source_place(*theirs) : device::SourcePlace{},
                              w.executor->launch->thread_place(block, mark::thread_of(*written))});
    });
}

void note_synchronisation(Warp& w, const Access& x, Space space, Op op, bool releases) {
    Executor& e = *w.executor;
    for_active(x.mask, [&](unsigned l) {
        // Each block has its own shared memory, so its addresses need the block. Those of global memory are others.
        const ExecutorWatch::SyncKey key{x.address[l], space == Space::Shared ? w.block->linear : 0};
        const auto known = e.watch.releases.find(key);
        const std::uint32_t thread = w.index * warp_size + l;
        if (op != Op::Store && known != e.watch.releases.end()) {
            const auto& from = known->second;
            if (from.block != w.block->linear) {
                // The other block's earlier reads are settled even without a fence: no store of ours overtakes the load
                // that showed us its value.
                w.block->watch.settled_reads = mark::at_time(++e.watch.now);
                if (from.fenced) w.block->watch.settled = w.block->watch.settled_reads;
            } else if (from.fenced && from.thread != thread) {
                w.watch.warp_bound = mark::at_time(++e.watch.now);
                if (from.thread / warp_size != w.index) w.watch.bound = w.watch.warp_bound;
            }
        }
        if (op == Op::Load) return;
        // A later change without a fence keeps what was made visible before.
        if (releases || w.watch.fenced || op == Op::Store || known == e.watch.releases.end())
            e.watch.releases[key] = {w.block->linear, thread, releases || w.watch.fenced};
    });
}

template <Op O>
void watch_defined(Warp& w, const Insn& in, Allocation& a, const Access& x, unsigned bytes, const AccessTraits& how) {
    DefinedBytes& defined = *a.defined;
    if (x.kind == Access::Kind::Contiguous || x.kind == Access::Kind::Uniform) {  // all lanes at once
        const std::uint64_t offset = x.low - a.base, whole = x.high - x.low + bytes;
        if (O != Op::Store && defined.all(offset, whole)) return;
        if (O == Op::Store && !how.undefined) return defined.define(offset, whole);
    }
    for_active(x.mask, [&](unsigned l) {
        const std::uint64_t offset = x.address[l] - a.base;
        if (O == Op::Store) {
            if (!how.undefined) return defined.define(offset, bytes);
            const unsigned size = bytes / how.undefined->elements;
            for (unsigned i = 0; i < how.undefined->elements; ++i) {
                const std::uint64_t at = offset + std::uint64_t{i} * size;
                lane_on(how.undefined->lanes[i], l) ? defined.undefine(at, size) : defined.define(at, size);
            }
            return;
        }
        if (defined.all(offset, bytes)) return;
        for (unsigned i = 0; i < bytes; ++i)
            if (!defined.all(offset + i, 1))
                report_undefined_load(w, in, Space::Global, l, x.address[l], x.address[l] + i, bytes, how);
        if (O == Op::Atomic) defined.define(offset, bytes);
    });
}
template void watch_defined<Op::Load>(Warp&, const Insn&, Allocation&, const Access&, unsigned, const AccessTraits&);
template void watch_defined<Op::Store>(Warp&, const Insn&, Allocation&, const Access&, unsigned, const AccessTraits&);
template void watch_defined<Op::Atomic>(Warp&, const Insn&, Allocation&, const Access&, unsigned, const AccessTraits&);

void report_undefined_load(Warp& w, const Insn& in, Space space, unsigned lane, std::uint64_t begin,
                           std::uint64_t address, unsigned bytes, const AccessTraits& how) {
    UndefinedOrigin origin{&in, space, address};
    if (const BlockWatch& block = w.block->watch; space == Space::Shared && !block.came_from.empty())
        if (const auto stored = block.came_from.find(address >> block.marks.shift); stored != block.came_from.end())
            origin = stored->second;
    if (space == Space::Local) {
        const std::uint64_t granule = address >> w.executor->code->local_granule_shift;
        if (const auto stored = w.watch.local_origins.find(granule * warp_size + lane);
            stored != w.watch.local_origins.end())
            origin = stored->second;
    }
    if (origin.space == Space::Global && !origin.copied)
        if (const Allocation* a = w.executor->global->find(origin.address))
            if (const auto* copy = a->copied_to(origin.address)) {
                origin.address = copy->second.from + (origin.address - a->base - copy->first);
                origin.copied = copy->second.code;
            }
    if (!how.copies) return report_use(w, in, lane, origin);
    if (!w.watch.loaded.any()) w.watch.loaded.origin = origin;
    w.watch.loaded.lanes[(address - begin) / (bytes / how.copies)] |= 1u << lane;
}

void mark_loaded_undefined(Warp& w, const Insn& in) {
    const Ref places[4] = {in.d, in.b, in.c, in.e};
    for (unsigned i = 0; i < 4; ++i)
        if (w.watch.loaded.lanes[i])
            w.watch.undefined.push_back(
                {operand<std::byte>(w, places[i]), w.watch.loaded.lanes[i], w.watch.loaded.origin});
    w.watch.loaded = {};
    if (!w.watch.one_by_one) throw UndefinedValueFound{};
}

void report_use(Warp& w, const Insn& in, unsigned lane, const UndefinedOrigin& origin) {
    Executor& e = *w.executor;
    if (!e.launch->limits.checks.init) return;
    const device::Rule& rule = origin.space == Space::None     ? rules::absent_lane
                               : origin.space == Space::Shared ? rules::uninitialized_shared
                               : origin.space == Space::Local  ? rules::uninitialized_local
                                                               : rules::uninitialized_global;
    // If a shuffle made the value up, the shuffle is the mistake.
    const bool made_up = origin.space == Space::None;
    const Insn &here = made_up           ? *origin.insn
                       : origin.computed ? *origin.computed
                                         : in,
               &there = made_up ? in : *origin.insn;
    device::Diagnostic* d = start_diagnostic(w, rule, here, lane, &there);
    if (!d) return;
    if (made_up) {
        d->message = "reads from a lane that takes no part in the shuffle, and the result is used";
    } else if (origin.space == Space::Local) {
        d->message = "uses an uninitialized element of one of its local arrays";
    } else {
        d->memory = memory_place(w, origin.space, origin.address);
        d->memory->address = origin.address;
        d->message = "uses an uninitialized element of {memory}";
    }
    d->related.push_back({made_up ? "used" : "read", e.launch->source_place(there), std::nullopt});
    if (origin.copied) d->related.push_back({"copied", {"", 0, origin.copied}, std::nullopt});
}

void note_wholly_unwritten(std::vector<device::Diagnostic>& diagnostics, const GlobalMemory& memory) {
    for (device::Diagnostic& d : diagnostics) {
        if (d.rule != &rules::uninitialized_global || !d.memory) continue;
        const Allocation* a = memory.find(d.memory->address);
        if (a && a->defined && a->defined->none(0, a->bytes))
            d.message = "uses {memory}, which was never written: no cudaMemcpy into it before the launch";
    }
}

}  // namespace warpgrade::vgpu
