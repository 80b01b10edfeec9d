// Atomics and reductions on memory. The lanes of a warp perform them one by one in lane order.
#include <algorithm>

#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/half.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {
namespace {

using ptx::Space;

// Where all lanes are on one address that ptxas knows to be the same, it lets one lane act for the warp, in these
// operations. As nvdisasm shows for sm_90.
enum class Combining {
    never,
    without_old,  // on 32 bits, if nobody needs the old value
    sums,         // on 32 bits; on 64 if a constant is added
};

struct Add {
    static constexpr Combining combining = Combining::sums;
    template <class T>
    static T apply(T old, T v, T) {
        if constexpr (std::is_same_v<T, double>)
            return first_nan_if(old + v, old, v);
        else if constexpr (std::is_floating_point_v<T>)
            return canonical(old + v);
        else
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(v));
    }
};
struct AddGlobal {  // the units beside the L2 cache flush subnormal f32; those of shared memory do not
    static float apply(float old, float v, float) { return canonical(flush(flush(old) + flush(v))); }
    static double apply(double old, double v, double) {  // a NaN passes unchanged
        const double sum = first_nan_if(old + v);
        return v != v ? v : old != old ? old : sum;
    }
};
struct And {
    static constexpr Combining combining = Combining::without_old;
    template <class T>
    static T apply(T old, T v, T) {
        return old & v;
    }
};
struct Or {
    static constexpr Combining combining = Combining::without_old;
    template <class T>
    static T apply(T old, T v, T) {
        return old | v;
    }
};
struct Xor {
    static constexpr Combining combining = Combining::without_old;
    template <class T>
    static T apply(T old, T v, T) {
        return old ^ v;
    }
};
struct Min {
    static constexpr Combining combining = Combining::without_old;
    template <class T>
    static T apply(T old, T v, T) {
        return v < old ? v : old;
    }
};
struct Max {
    static constexpr Combining combining = Combining::without_old;
    template <class T>
    static T apply(T old, T v, T) {
        return v > old ? v : old;
    }
};
struct Inc {
    static constexpr Combining combining = Combining::never;
    template <class T>
    static T apply(T old, T v, T) {
        return old >= v ? T{0} : static_cast<T>(old + 1);
    }
};
struct Dec {
    static constexpr Combining combining = Combining::never;
    template <class T>
    static T apply(T old, T v, T) {
        return old == 0 || old > v ? v : static_cast<T>(old - 1);
    }
};
struct Exch {
    static constexpr Combining combining = Combining::never;
    template <class T>
    static T apply(T, T v, T) {
        return v;
    }
};
struct Cas {
    static constexpr Combining combining = Combining::never;
    template <class T>
    static T apply(T old, T compare, T v) {
        return old == compare ? v : old;
    }
};

template <class Format>
struct AddHalf {  // T is one half or a pair of them
    template <class T>
    static T apply(T old, T v, T) {
        std::uint32_t r = add_halves<Format>(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(v));
        if constexpr (sizeof(T) == 4)
            r |= std::uint32_t{add_halves<Format>(static_cast<std::uint16_t>(old >> 16),
                                                  static_cast<std::uint16_t>(v >> 16))}
                 << 16;
        return static_cast<T>(r);
    }
};

template <class O, class T>
void perform(Warp& w, const Insn& in, std::byte* origin, const Access& x) {
    const T *b = operand<T>(w, in.b), *c = operand<T>(w, in.c);
    T* d = operand<T>(w, in.d);
    if constexpr (std::is_same_v<O, Cas>) w.block->swapped = 0;
    for_active(x.mask, [&](unsigned l) {
        T old;
        std::memcpy(&old, host_place(origin, x.address[l]), sizeof old);
        const T now = O::apply(old, b[l], c[l]);
        if constexpr (std::is_same_v<O, Cas>) w.block->swapped |= std::uint32_t{old == b[l]} << l;
        std::memcpy(host_place(origin, x.address[l]), &now, sizeof now);
        d[l] = old;
    });
}

// Bits of form: earlier writes become visible to any thread that reads the new value; atomic only within one block; the
// old value is not needed; ptxas lets one lane act for the warp; an addition of floats; a compare-and-swap.
constexpr std::uint16_t releases = 32, of_block = 64, forgets = 1, combined = 2, adds_floats = 4, swaps = 8;

using Performer = void (*)(Warp&, const Insn&, std::byte* origin, const Access&);

bool is_chained(const Warp& w, const Insn& in) {
    const Code& code = *w.executor->code;
    return std::ranges::binary_search(code.chained_loads, static_cast<std::uint32_t>(&in - code.insns.data()));
}

void access_atomically(Warp& w, const Insn& in, std::uint32_t mask, unsigned bytes, Performer perform_global,
                       Performer perform_other) {
    ++w.sync_operations;
    Access x;
    collect_lanes(w, x, in.a, in.offset, in.form & 16, mask, bytes);
    const auto body = [&](std::byte* origin, const Access& part) { perform_other(w, in, origin, part); };
    AccessTraits how;
    how.kind = in.form & of_block ? mark::block_scope : mark::atomic;
    how.lanes = {.combined = (in.form & combined) != 0,
                 .needs_old = (in.form & forgets) == 0,
                 .adds_floats = (in.form & adds_floats) != 0,
                 .swaps = (in.form & swaps) != 0};
    const auto synchronise = [&](const Access& part, Space space) {
        if (w.executor->watch.values && w.executor->code->orders_memory)
            note_synchronisation(w, part, space, Op::Atomic, in.form & releases);
    };
    const auto global = [&](const Access& part) {
        perform_access<Op::Atomic, Space::Global>(
            w, in, in.memory_slot, part, bytes,
            [&](std::byte* origin, const Access& lanes) { perform_global(w, in, origin, lanes); }, how,
            LineRequest::Kind::Atomic);
        synchronise(part, Space::Global);
    };
    const auto shared = [&](const Access& part, std::uint32_t slot) {
        perform_access<Op::Atomic, Space::Shared>(w, in, slot, part, bytes, body, how);
        if (how.lanes.swaps && is_chained(w, in)) w.block->swaps.add(w.index, part, w.block->swapped);
        synchronise(part, Space::Shared);
    };
    switch (static_cast<Space>(in.form >> 8)) {
        case Space::Global:
            return global(x);
        case Space::Shared:
            return shared(x, in.memory_slot);
        default:
            split_generic(x, bytes, [&](Space space, const Access& part) {
                if (space == Space::Shared) return shared(part, in.memory_slot + 1);
                if (space == Space::Local) return resolve_local<Op::Atomic>(w, in, part, bytes, body);
                if (space == Space::Param) raise_access(w, in, part, space, Op::Atomic, bytes);
                return global(part);
            });
    }
}

template <class O, class T>
void run_atomic(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr bool differs = std::is_same_v<O, Add> && std::is_floating_point_v<T>;
    using Global = std::conditional_t<differs, AddGlobal, O>;
    access_atomically(w, in, mask, sizeof(T), perform<Global, T>, perform<O, T>);
}

template <bool Reduction>
void decode_atomic_address(InsnBuilder& b) {
    const Space space = b.has("global")                           ? Space::Global
                        : b.has("shared") || b.has("shared::cta") ? Space::Shared
                                                                  : Space::Generic;
    const ptx::Operand& address = b.operand(Reduction ? 0 : 1);
    if (address.kind != ptx::Operand::Kind::Address) b.refuse("needs an address in brackets");
    b.address(address, space, 16);
    b.out.form = static_cast<std::uint16_t>(b.out.form | (static_cast<unsigned>(space) << 8));
    if (b.has("release") || b.has("acq_rel")) b.out.form |= releases;
    if (b.has("cta")) b.out.form |= of_block;
    if (Reduction || !b.function.is_read(b.operand(0))) b.out.form |= forgets;
    if (ptx::is_floating(b.type())) b.out.form |= adds_floats;
    b.out.memory_slot = b.function.statistics(space, AccessClass::Atomic);
    if (space != Space::Shared) b.function.synchronises_globally();
}

bool is_combined(InsnBuilder& b, Combining combining, std::size_t address, const ptx::Operand& value) {
    if (combining == Combining::never || b.out.form & adds_floats) return false;
    if (!b.function.is_uniform(b.operand(address))) return false;
    const unsigned bytes = ptx::size_of(b.type());
    if (combining == Combining::without_old) return bytes == 4 && b.out.form & forgets;
    return bytes == 4 || (bytes == 8 && value.kind == ptx::Operand::Kind::Immediate);
}

template <class O, bool Reduction>
void decode_atomic(InsnBuilder& b) {
    constexpr bool cas = std::is_same_v<O, Cas>;
    const std::size_t first = Reduction ? 0 : 1;  // red has no destination
    b.expect_operands(first + 2 + cas, first + 2 + cas);
    const ptx::Type t = b.type();
    const unsigned bytes = ptx::size_of(t);
    b.out.d = Reduction ? b.sink(bytes) : b.destination(0, bytes);
    b.out.b = b.source(first + 1, t);
    b.out.c = cas ? b.source(first + 2, t) : b.out.b;
    decode_atomic_address<Reduction>(b);
    if (is_combined(b, O::combining, first, b.operand(first + 1))) b.out.form |= combined;
    if (cas) {
        b.out.form |= swaps;
        const bool generic = static_cast<Space>(b.out.form >> 8) == Space::Generic;  // the next slot is shared memory's
        b.function.builder.code.compare_and_swaps.push_back(b.out.memory_slot + generic);
    }
    constexpr bool bitwise = std::is_same_v<O, And> || std::is_same_v<O, Or> || std::is_same_v<O, Xor>;
    constexpr bool exchange = std::is_same_v<O, Exch> || cas;
    Handler h = nullptr;
    switch (t) {
        case ptx::Type::B32:
        case ptx::Type::U32:
            h = run_atomic<O, std::uint32_t>;
            break;
        case ptx::Type::B64:
        case ptx::Type::U64:
            h = run_atomic<O, std::uint64_t>;
            break;
        case ptx::Type::S32:
            h = run_atomic<O, std::int32_t>;
            break;
        case ptx::Type::S64:
            h = run_atomic<O, std::int64_t>;
            break;
        case ptx::Type::B16:
            if constexpr (exchange) h = run_atomic<O, std::uint16_t>;
            break;
        case ptx::Type::F32:
            if constexpr (!bitwise && !exchange) h = run_atomic<O, float>;
            break;
        case ptx::Type::F64:
            if constexpr (!bitwise && !exchange) h = run_atomic<O, double>;
            break;
        default:
            break;
    }
    b.handlers({h, h});
}

template <bool Reduction>
void decode_half_add(InsnBuilder& b) {
    const std::size_t first = Reduction ? 0 : 1;
    b.expect_operands(first + 2, first + 2);
    const unsigned bytes = ptx::size_of(b.type());
    b.out.d = Reduction ? b.sink(bytes) : b.destination(0, bytes);
    b.out.b = b.out.c = b.source(first + 1, b.type());
    decode_atomic_address<Reduction>(b);
    const bool f16 = b.type() == ptx::Type::F16 || b.type() == ptx::Type::F16x2;
    const Handler h = bytes == 2
                          ? (f16 ? run_atomic<AddHalf<F16>, std::uint16_t> : run_atomic<AddHalf<BF16>, std::uint16_t>)
                          : (f16 ? run_atomic<AddHalf<F16>, std::uint32_t> : run_atomic<AddHalf<BF16>, std::uint32_t>);
    b.handlers({h, h});
}

// atom.add.v2.f32 and similar: one lane's elements are adjacent. Old values go to d and e…, addends are in b, c.
template <unsigned N>
void perform_vector_add(Warp& w, const Insn& in, std::byte* origin, const Access& x) {
    const auto* places = operand<Ref>(w, in.b);  // N results, N addends
    for_active(x.mask, [&](unsigned l) {
        float addend[N];  // read all before the results are written, which may be at the same places
        for (unsigned i = 0; i < N; ++i) addend[i] = operand<float>(w, places[N + i])[l];
        for (unsigned i = 0; i < N; ++i) {
            std::byte* at = host_place(origin, x.address[l] + i * sizeof(float));
            float old;
            std::memcpy(&old, at, sizeof old);
            const float now = AddGlobal::apply(old, addend[i], 0.0f);
            std::memcpy(at, &now, sizeof now);
            operand<float>(w, places[i])[l] = old;
        }
    });
}

template <unsigned N>
void run_vector_add(Warp& w, const Insn& in, std::uint32_t mask) {
    access_atomically(w, in, mask, N * sizeof(float), perform_vector_add<N>, perform_vector_add<N>);
}

template <bool Reduction>
void decode_vector_add(InsnBuilder& b) {
    const std::size_t first = Reduction ? 0 : 1;
    b.expect_operands(first + 2, first + 2);
    const unsigned n = b.has("v4") ? 4 : 2;
    const ptx::Operand& addends = b.operand(first + 1);
    if (addends.elements.size() != n || (!Reduction && b.operand(0).elements.size() != n))
        b.refuse("number of elements does not fit");
    Ref places[8];
    for (unsigned i = 0; i < n; ++i) {
        places[i] = Reduction ? b.sink(4) : b.destination(b.operand(0).elements[i], 4);
        places[n + i] = b.source(addends.elements[i], ptx::Type::F32);
    }
    b.out.b = b.table(std::span(places, 2 * n));
    decode_atomic_address<Reduction>(b);
    const Handler h = n == 4 ? run_vector_add<4> : run_vector_add<2>;
    b.handlers({h, h});
}

// 128 bits: exchange and compare-and-swap.
template <bool Cas>
void perform_wide(Warp& w, const Insn& in, std::byte* origin, const Access& x) {
    const Wide *b = operand<Wide>(w, in.b), *c = operand<Wide>(w, in.c);
    Wide* d = operand<Wide>(w, in.d);
    for_active(x.mask, [&](unsigned l) {
        Wide old;
        std::memcpy(&old, host_place(origin, x.address[l]), sizeof old);
        const Wide now = !Cas ? b[l] : old == b[l] ? c[l] : old;
        std::memcpy(host_place(origin, x.address[l]), &now, sizeof now);
        d[l] = old;
    });
}

template <bool Cas>
void run_wide(Warp& w, const Insn& in, std::uint32_t mask) {
    access_atomically(w, in, mask, sizeof(Wide), perform_wide<Cas>, perform_wide<Cas>);
}

template <bool Cas>
void decode_wide(InsnBuilder& b) {
    b.expect_operands(3 + Cas, 3 + Cas);
    b.out.d = b.destination(0, sizeof(Wide));
    b.out.b = b.source(2, ptx::Type::B128);
    b.out.c = Cas ? b.source(3, ptx::Type::B128) : b.out.b;
    decode_atomic_address<false>(b);
    b.handlers({run_wide<Cas>, run_wide<Cas>});
}

constexpr std::string_view how = "global shared shared::cta relaxed acquire release acq_rel cta cluster gpu sys";
constexpr OpcodeFacts atomic{.granule = granule::of_type};
#define WG_ATOMIC(name, op, types, summary)                                                        \
    {"atom", name, types, how, summary, decode_atomic<op, false>, atomic}, {                       \
        "red", name, types, how, summary " without its old value", decode_atomic<op, true>, atomic \
    }
constexpr OpcodeRow rows[] = {
    WG_ATOMIC("add", Add, "u32 s32 u64 s64 f32 f64", "adds"),
    WG_ATOMIC("and", And, "b32 b64", "bitwise and"),
    WG_ATOMIC("or", Or, "b32 b64", "bitwise or"),
    WG_ATOMIC("xor", Xor, "b32 b64", "bitwise exclusive or"),
    WG_ATOMIC("min", Min, "u32 s32 u64 s64", "keeps the smaller"),
    WG_ATOMIC("max", Max, "u32 s32 u64 s64", "keeps the larger"),
    WG_ATOMIC("inc", Inc, "u32", "adds 1, wraps to 0 above b"),
    WG_ATOMIC("dec", Dec, "u32", "subtracts 1, wraps to b"),
    {"atom", "add noftz", "f16 f16x2 bf16 bf16x2", how, "adds halves", decode_half_add<false>, atomic},
    {"red", "add noftz", "f16 f16x2 bf16 bf16x2", how, "adds halves without the old value", decode_half_add<true>,
     atomic},
    {"atom", "add v2", "f32", how, "adds vectors, element by element", decode_vector_add<false>, atomic},
    {"atom", "add v4", "f32", how, "adds vectors, element by element", decode_vector_add<false>, atomic},
    {"red", "add v2", "f32", how, "adds vectors without their old values", decode_vector_add<true>, atomic},
    {"red", "add v4", "f32", how, "adds vectors without their old values", decode_vector_add<true>, atomic},
    {"atom", "exch", "b128", how, "exchanges 128 bits", decode_wide<false>, atomic},
    {"atom", "cas", "b128", how, "exchanges 128 bits if they compare equal", decode_wide<true>, atomic},
    {"atom", "exch", "b32 b64", how, "exchanges", decode_atomic<Exch, false>, atomic},
    {"atom", "cas", "b16 b32 b64", how, "exchanges if it compares equal", decode_atomic<Cas, false>, atomic},
};
#undef WG_ATOMIC

}  // namespace

std::span<const OpcodeRow> atomic_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
