// Loads and stores in every state space, and fences.
#include "vgpu/access/site_match.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/elements.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ops/parameters.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {
namespace {

using ptx::Space;
// Moves the elements of an access to local memory, which is lane-major on the host.
void move_local(Warp& w, const Insn& in, const Pattern& p, std::uint64_t first, Mover move) {
    Access lanes = static_cast<const Access&>(p);
    for (unsigned l = 0; l < warp_size; ++l) lanes.address[l] += std::uint64_t{l} * w.local_stride;
    for (auto& g : lanes.group) g = Access::Kind::Other;
    lanes.kind = Access::Kind::Other;
    move(w, in, host_place(w.local, first), lanes);
}

// How the caches see a load of global memory, or a store that fills its sectors or does not.
template <Op O>
LineRequest::Kind request_kind(const Insn& in, bool fills) {
    return O == Op::Store            ? write_kind(fills)
           : in.form & form::past_l1 ? LineRequest::Kind::ReadPastL1
                                     : LineRequest::Kind::Read;
}

// Constant memory gives what is at one address in two cycles, up to eight bytes (tests/model/h100.md, "banks"); an
// address that the compiler knows is an operand.
std::uint64_t constant_cycles(const Insn& in, std::uint32_t addresses, unsigned bytes) {
    return in.form & form::indexed ? 2ull * addresses * std::max(bytes / 8, 1u) : 0;
}

// Counts a load of constant memory; `first`: the address of a lane.
void count_constant(Warp& w, const Insn& in, std::uint32_t slot, std::uint64_t first, std::uint32_t words,
                    std::uint32_t addresses, unsigned bytes) {
    std::bitset<1024>& lines = w.executor->constant_lines;
    if (in.form & form::indexed) lines.set(first / constant_line_bytes % lines.size());
    count(w, slot, words, constant_cycles(in, addresses, bytes));
}

Mark mark_kind(const Warp& w, const Insn& in, bool load) {
    if (!(in.form & (form::atomic | form::is_volatile))) return mark::plain;
    const bool flag = in.form & form::atomic || (!load && w.watch.fenced);  // atomic, or set after a fence
    return flag ? mark::atomic : mark::is_volatile;
}

AccessTraits traits_of(const Warp& w, const Insn& in, Mover move, bool load) {
    AccessTraits how;
    how.kind = mark_kind(w, in, load);
    if (load)
        how.copies = in.form & form::elements, how.read_only = in.form & form::read_only;
    else
        how.spread = move, how.undefined = w.watch.stored_undefined;
    return how;
}

// Threads may wait for each other through volatile and stronger accesses.
template <Op O>
void synchronise(Warp& w, const Insn& in, const Access& x, Space space) {
    if (in.form & (form::is_volatile | form::atomic) && w.executor->watch.values && w.executor->code->orders_memory)
        note_synchronisation(w, x, space, O, in.form & form::releases);
}

template <Op O, Space S>
void perform(Warp& w, const Insn& in, std::uint32_t slot, const Access& x, unsigned bytes, Mover move) {
    const auto body = [&](std::byte* origin, const Access& part) { move(w, in, origin, part); };
    if constexpr (S == Space::Local) {
        perform_access<O, S>(w, in, slot, x, bytes, body, traits_of(w, in, move, O == Op::Load));
    } else {
        const AccessTraits how = traits_of(w, in, move, O == Op::Load);
        if (S == Space::Global && in.form & form::constant) {
            resolve_global<O>(w, in, slot, x, bytes, body, how);
            return count_constant(w, in, slot, x.address[0], x.distinct_words(bytes), x.distinct_addresses(bytes),
                                  bytes);
        }
        perform_access<O, S>(w, in, slot, x, bytes, body, how,
                             request_kind<O>(in, O == Op::Store && x.fills_sectors(bytes)));
        synchronise<O>(w, in, x, S);
    }
}

// Shows observers an access of known shape. A function of its own, so that an access without observers costs one test.
template <Op O>
[[gnu::noinline]] void observe_shared(Warp& w, const Insn& in, Pattern& p, std::uint64_t first, Mover move) {
    if (w.block->watch.shared != BlockWatch::Marks) [[unlikely]] {
        trace_shared(w, in, p.at(first), p.bytes, O);
        if (!(w.block->watch.shared & BlockWatch::Marks)) return;
    }
    watch_shared<O>(
        w, in, granules_of(p, first, w.block->watch.marks.shift), p.bytes, mark_kind(w, in, O == Op::Load),
        [&] { return traits_of(w, in, move, O == Op::Load); }, [&] { return p.at(first); });
    if (in.form & (form::is_volatile | form::atomic)) synchronise<O>(w, in, p.at(first), Space::Shared);
}
template <Op O>
[[gnu::noinline]] void observe_global(Warp& w, const Insn& in, Allocation& a, Pattern& p, std::uint64_t first,
                                      Mover move) {
    note_observed<O>(
        w, in, a, p.bytes, traits_of(w, in, move, O == Op::Load), [&] { return p.at(first); },
        [&](unsigned shift) { return granules_of(p, first - a.base, shift); });
    if (in.form & (form::is_volatile | form::atomic)) synchronise<O>(w, in, p.at(first), Space::Global);
}

// count() for an instruction whose kind is known at compile time.
template <StatKind K>
[[gnu::always_inline]] inline void count_known(Warp& w, MemorySite& site, std::uint64_t units,
                                               std::uint64_t conflicts = 0) {
    site.add(units, conflicts);
    w.work.l1_tenths += l1_tenths_of(K, units, conflicts);
}

template <Op O>
[[gnu::noinline]] void observe_local(Warp& w, const Insn& in, const Pattern& p, std::uint64_t first, Mover move) {
    watch_local<O>(w, in, p.at(first), p.bytes, traits_of(w, in, move, O == Op::Load));
}

// The allocation that contains the bytes of a known shape, or nullptr.
template <Op O>
inline Allocation* global_allocation(Warp& w, MemorySite& site, const Pattern& p, std::uint64_t first) {
    const std::uint64_t low = first + p.low;
    Allocation* a = site.allocation;
    if (a && p.extent <= a->bytes && low - a->base <= a->bytes - p.extent) [[likely]]
        return a;
    return global_allocation<O>(w, site, low, first + p.high, p.bytes);
}

// Moves the lanes' elements of a known shape whose first lane's bytes are at `first`. `room`: its windows are inside of
// the memory too.
template <Op O, bool Word>
[[gnu::always_inline]] inline void move_shape(Warp& w, const Insn& in, const Pattern& p, std::byte* first, bool room,
                                              Mover move) {
    if (Word && O == Op::Load && room)
        load_words(operand<std::uint32_t>(w, in.d), first, p);
    else if (Word && O == Op::Store && p.words == Pattern::Words::Adjacent)
        std::memcpy(first, operand<std::uint32_t>(w, in.d), warp_size * sizeof(std::uint32_t));
    else
        move(w, in, first, p);
}

// The next warp often loads the words behind those of this one, which the host cannot foresee between irregular loads.
inline void fetch_next_row(const std::byte* row) {
    constexpr std::size_t row_bytes = warp_size * sizeof(std::uint32_t), host_line = 64;
    for (std::size_t i = 0; i < row_bytes; i += host_line) __builtin_prefetch(row + row_bytes + i);
}

// Performs an access of the same shape as the instruction's last one, of which only the bounds are unknown. False if
// the shape differs or something is wrong; then the slow path takes over.
template <Op O, Space S, bool Word>
[[gnu::always_inline]] inline bool access_as_before(Warp& w, const Insn& in, MemorySite& site, Pattern& p,
                                                    std::uint64_t first, Mover move) {
    if (first & (p.bytes - 1)) return false;
    if constexpr (S == Space::Shared) {
        if (!fits_shared(w, site, first + p.low, first + p.high, p.bytes) || first % bank_bytes != 0) return false;
        if (w.block->watch.shared) observe_shared<O>(w, in, p, first, move);
        move_shape<O, Word>(w, in, p, host_place(w.block->shared, first), true, move);
        const auto waves = p.wavefronts_anywhere();
        count_known<O == Op::Load ? StatKind::SharedLoad : StatKind::SharedStore>(w, site, waves.total,
                                                                                  waves.total - waves.ideal);
    } else if constexpr (S == Space::Local) {
        if (!fits(first + p.low, first + p.high, 0, w.local_end, p.bytes) || first % bank_bytes != 0) return false;
        if (w.watch.local_written) observe_local<O>(w, in, p, first, move);
        move_local(w, in, p, first, move);
        count_known<O == Op::Load ? StatKind::LocalLoad : StatKind::LocalStore>(w, site, p.local_sectors_anywhere());
    } else {
        if (S == Space::Generic && first + p.low < device::address_space::global_base) return false;
        Allocation* a = global_allocation<O>(w, site, p, first);
        if (!a) return false;
        if (w.executor->observed)
            observe_global<O>(w, in, *a, p, first, move);
        else
            note_touched<O>(*a);
        note_link<O>(w, *a, [&] { return p.sectors_at(first); });
        const std::uint64_t at = first - a->base;
        if (O == Op::Load && Word && p.words == Pattern::Words::Adjacent) fetch_next_row(host_place(a->host, at));
        move_shape<O, Word>(w, in, p, host_place(a->host, at), at + p.reach <= a->bytes, move);
        if (in.form & form::constant) {
            const std::uint32_t words = p.words_at(first);
            const std::uint32_t addresses = p.bytes < bank_bytes && words > 1 ? warp_size : words;
            count_constant(w, in, in.memory_slot, first, words, addresses, p.bytes);
        } else {
            ShapeLines& lines = p.lines_at(first);
            count_known<O == Op::Load ? StatKind::GlobalLoad : StatKind::GlobalStore>(
                w, site, lines.sectors, O == Op::Load ? lines.l1_cycles : stored_lines(lines.parts.size(), p.bytes));
            w.block->l1.access(w.index, lines, first, in.memory_slot, request_kind<O>(in, lines.filled));
        }
    }
    return true;
}

// `loaded` is far from the data of an access, so it is read only if values are watched.
template <Op O>
inline void end_access(Warp& w, const Insn& in) {
    if (O == Op::Load && w.executor->watch.values && w.watch.loaded.any()) [[unlikely]]
        mark_loaded_undefined(w, in);
}

// An access whose shape is new to its instruction.
template <Op O, Space S>
[[gnu::noinline]] void access_anew(Warp& w, const Insn& in, std::uint32_t mask, unsigned bytes, Mover move) {
    Access x;
    collect_lanes(w, x, in.a, in.offset, in.form & form::address32, mask, bytes);
    if constexpr (S != Space::Generic) {
        perform<O, S>(w, in, in.memory_slot, x, bytes, move);
    } else {
        split_generic(x, bytes, [&](Space space, const Access& part) {
            switch (space) {
                case Space::Shared:
                    return perform<O, Space::Shared>(w, in, in.memory_slot + 1, part, bytes, move);
                case Space::Local:
                    return perform<O, Space::Local>(w, in, in.memory_slot + 2, part, bytes, move);
                case Space::Param: {
                    const Executor& e = *w.executor;
                    if (O != Op::Load || part.misaligned || !fits(part.low, part.high, 0, e.param_bytes, bytes))
                        raise_access(w, in, part, Space::Param, O, bytes);
                    return move(w, in, const_cast<std::byte*>(e.params), part);
                }
                default:
                    return perform<O, Space::Global>(w, in, in.memory_slot, part, bytes, move);
            }
        });
    }
    w.executor->memory[in.memory_slot].missed(x, bytes, w.executor->patterns);
    end_access<O>(w, in);
}

// Word: one element of four bytes, to or from a register of as many.
template <Op O, Space S, bool Word>
[[gnu::always_inline]] inline void access_memory(Warp& w, const Insn& in, std::uint32_t mask, unsigned bytes,
                                                 Mover move) {
    if (in.form & form::synchronises) ++w.sync_operations;
    MemorySite& site = w.executor->memory[in.memory_slot];
    const PatternPool& pool = w.executor->patterns;
    const auto recall = [&]<class Register>(const Register* registers, std::uint64_t& first) {
        Pattern* p = in.same_addresses ? (&site - in.same_addresses)->last(pool) : nullptr;
        if (!p) p = site.recall(registers, mask, bytes);
        if (p) first = static_cast<Register>(registers[p->leader] + static_cast<Register>(in.offset));
        return p;
    };
    std::uint64_t first = 0;
    Pattern* const p = in.form & form::address32 ? recall(operand<const std::uint32_t>(w, in.a), first)
                                                 : recall(operand<const std::uint64_t>(w, in.a), first);
    if (!p || !access_as_before<O, S, Word>(w, in, site, *p, first, move))
        return access_anew<O, S>(w, in, mask, bytes, move);
    site.recalled(p, pool);
    end_access<O>(w, in);
}

template <Op O, Space S>
[[gnu::noinline]] void access_elements(Warp& w, const Insn& in, std::uint32_t mask, unsigned element_bytes,
                                       Mover move) {
    access_memory<O, S, false>(w, in, mask, (in.form & form::elements) * element_bytes, move);
}

template <Op O, Space S, class Mem, class Reg>
void run_access(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr Mover move = O == Op::Load ? load_elements<Mem, Reg> : store_elements<Mem, Reg>;
    access_elements<O, S>(w, in, mask, sizeof(Mem), move);
}

template <Op O, Space S>
void run_word_access(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr Mover move =
        O == Op::Load ? load_elements<std::uint32_t, std::uint32_t> : store_elements<std::uint32_t, std::uint32_t>;
    access_memory<O, S, true>(w, in, mask, bank_bytes, move);
}

Space space_of(const InsnBuilder& b) {
    if (b.has("global")) return Space::Global;
    if (b.has("shared") || b.has("shared::cta")) return Space::Shared;
    if (b.has("local")) return Space::Local;
    if (b.has("const")) return Space::Const;
    if (b.has("param") || b.has("param::entry") || b.has("param::func")) return Space::Param;
    return Space::Generic;
}

// Decodes the element places, a vector {…} or one register. Returns the width that all registers share.
unsigned data_operands(InsnBuilder& b, const ptx::Operand& data, ptx::Type t, bool load) {
    using Kind = ptx::Operand::Kind;
    const bool vector = b.has("v2") || b.has("v4");
    const std::size_t n = b.has("v4") ? 4 : b.has("v2") ? 2 : 1;
    if (vector != (data.kind == Kind::Vector) || (vector && data.elements.size() != n))
        b.refuse("number of elements does not fit");
    const ptx::Operand* parts = vector ? data.elements.data() : &data;
    unsigned width = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const unsigned w = b.register_bytes(parts[i]);
        if (w && width && w != width) b.refuse("registers of different widths");
        if (w) width = w;
    }
    if (width == 0) width = std::max(2u, ptx::size_of(t));
    Ref* places[4] = {&b.out.d, &b.out.b, &b.out.c, &b.out.e};
    const ptx::Type container = width == 2 ? ptx::Type::B16 : width == 4 ? ptx::Type::B32 : ptx::Type::B64;
    for (std::size_t i = 0; i < n; ++i) {
        if (load)
            *places[i] = parts[i].kind == Kind::None ? b.sink(width) : b.destination(parts[i], width);
        else
            *places[i] = b.source(parts[i], container);
    }
    b.out.form = static_cast<std::uint16_t>(n);
    return width;
}

template <Op O, Space S, class Mem, class Reg>
Handlers access_handlers(bool one_element) {
    if constexpr (sizeof(Mem) == 4 && sizeof(Reg) == 4)
        if (one_element) return {run_word_access<O, S>, run_word_access<O, S>};
    return {run_access<O, S, Mem, Reg>, run_access<O, S, Mem, Reg>};
}

template <Op O>
void decode_access(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const ptx::Type t = b.type();
    const ptx::Operand& address = b.operand(O == Op::Load ? 1 : 0);
    const ptx::Operand& data = b.operand(O == Op::Load ? 0 : 1);
    if (address.kind != ptx::Operand::Kind::Address) b.refuse("needs an address in brackets");
    const unsigned width = data_operands(b, data, t, O == Op::Load);
    const Space space = space_of(b);
    if (space == Space::Param) return decode_parameter(b, O, address, t, width);
    const bool ordered =
        b.has("volatile") || b.has("acquire") || b.has("release") || b.has("relaxed") || b.has("mmio") || b.has("cv");
    // Flags are polled with __ldcg too: a loop of such loads lets others run.
    if (ordered || b.has("cg")) b.out.form |= form::synchronises;
    if (ordered || b.has("cg")) b.out.form |= form::past_l1;
    if (space == Space::Const) b.out.form |= form::constant;
    if (space == Space::Const && address.reg != ptx::Operand::no_register) b.out.form |= form::indexed;
    if (b.has("volatile") || b.has("mmio") || b.has("cv")) b.out.form |= form::is_volatile;
    if (b.has("acquire") || b.has("release") || b.has("relaxed")) b.out.form |= form::atomic;
    if (b.has("release")) b.out.form |= form::releases;
    if (b.has("nc")) b.out.form |= form::read_only;
    // Old warp-synchronous code uses volatile accesses of shared memory; they order nothing across blocks.
    if (ordered && space != Space::Shared && space != Space::Local) b.function.synchronises_globally();
    b.address(address, space, form::address32);
    b.out.memory_slot = b.function.statistics(space, O == Op::Load ? AccessClass::Load : AccessClass::Store);
    by_memory_type(b, t, width, [&]<class Mem, class Reg>() {
        const bool one = (b.out.form & form::elements) == 1;
        switch (space) {
            case Space::Global:
                return b.handlers(access_handlers<O, Space::Global, Mem, Reg>(one));
            case Space::Const:
                return b.handlers(access_handlers<O, Space::Global, Mem, Reg>(one));
            case Space::Shared:
                return b.handlers(access_handlers<O, Space::Shared, Mem, Reg>(one));
            case Space::Local:
                return b.handlers(access_handlers<O, Space::Local, Mem, Reg>(one));
            default:
                return b.handlers(access_handlers<O, Space::Generic, Mem, Reg>(one));
        }
    });
}

// Blocks run one by one or in turns, and lanes see memory in order, so a fence has nothing to do. But it shows that the
// kernel wants other blocks to see its writes.
void run_fence(Warp& w, const Insn&, std::uint32_t) {
    ++w.sync_operations;
    w.watch.fenced = true;
}
void decode_fence(InsnBuilder& b) {
    if (!b.has("cta")) b.function.synchronises_globally();
    b.handlers({run_fence, run_fence});
}

constexpr std::string_view
    types = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64",
    load_how =
        "global shared shared::cta local const param param::entry param::func v2 v4 nc volatile relaxed acquire "
        "cta cluster gpu sys mmio ca cg cs lu cv L1::no_allocate L1::evict_normal L1::evict_first L1::evict_last "
        "L1::evict_unchanged L2::64B L2::128B L2::256B weak unified",
    store_how =
        "global shared shared::cta local param param::func v2 v4 volatile relaxed release "
        "cta cluster gpu sys mmio wb cg cs wt L1::no_allocate L1::evict_normal L1::evict_first L1::evict_last "
        "L1::evict_unchanged weak";
constexpr OpcodeFacts loads{.flow = Flow::Loads, .granule = granule::of_type},
    stores{.flow = Flow::Stores, .granule = granule::of_type}, fences{.fence = true};
constexpr OpcodeRow rows[] = {
    {"ld", "", types, load_how, "loads", decode_access<Op::Load>, loads},
    {"ldu", "", types, load_how, "loads", decode_access<Op::Load>, loads},
    {"st", "", types, store_how, "stores", decode_access<Op::Store>, stores},
    {"membar", "", "", "cta gl sys", "memory fence", decode_fence, fences},
    {"fence", "", "",
     "cta cluster gpu sys sc acq_rel acquire release proxy alias async mbarrier_init proxy::async async.global "
     "shared::cta shared::cluster async.shared::cta sync_restrict::shared::cta sync_restrict::shared::cluster",
     "memory fence", decode_fence, fences},
};

}  // namespace

std::span<const OpcodeRow> memory_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
