// Moves: mov with its packing forms, address-space conversions, clocks, and hints that have no effect here.
#include <algorithm>

#include "device/address_space.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

namespace space = device::address_space;

template <class T>
struct Move {
    static T apply(T a) { return a; }
};

Handlers move_handlers(InsnBuilder& b, unsigned bytes) {
    switch (bytes) {
        case 2:
            return Unary<Move<std::uint16_t>, std::uint16_t, std::uint16_t>::handlers;
        case 4:
            return Unary<Move<std::uint32_t>, std::uint32_t, std::uint32_t>::handlers;
        case 8:
            return Unary<Move<std::uint64_t>, std::uint64_t, std::uint64_t>::handlers;
        case 16:
            return Unary<Move<Wide>, Wide, Wide>::handlers;
        default:
            b.refuse("type not supported here");
    }
}

void run_pack_wide(Warp& w, const Insn& in, std::uint32_t mask) {
    const auto *low = operand<std::uint64_t>(w, in.a), *high = operand<std::uint64_t>(w, in.b);
    for_lanes<false>(operand<Wide>(w, in.d), mask, [=](unsigned l) { return Wide{low[l], high[l]}; });
}

void run_unpack_wide(Warp& w, const Insn& in, std::uint32_t mask) {
    const Wide* a = operand<Wide>(w, in.a);
    for_lanes<false>(operand<std::uint64_t>(w, in.d), mask, [=](unsigned l) { return a[l].low; });
    for_lanes<false>(operand<std::uint64_t>(w, in.b), mask, [=](unsigned l) { return a[l].high; });
}

// mov.b32 %r, {%rs1, %rs2} and similar; 2 or 4 parts.
template <class Whole, class Part>
void run_pack(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr unsigned parts = sizeof(Whole) / sizeof(Part);
    Whole* d = operand<Whole>(w, in.d);
    const Ref refs[4] = {in.a, in.b, in.c, in.e};
    for_active(mask, [&](unsigned l) {
        Whole v = 0;
        for (unsigned i = 0; i < parts; ++i)
            v |= static_cast<Whole>(static_cast<Whole>(operand<Part>(w, refs[i])[l]) << (8 * sizeof(Part) * i));
        d[l] = v;
    });
}

template <class Whole, class Part>
void run_unpack(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr unsigned parts = sizeof(Whole) / sizeof(Part);
    Whole source[warp_size];
    std::memcpy(source, operand<Whole>(w, in.a), sizeof source);
    const Ref refs[4] = {in.d, in.b, in.c, in.e};
    for (unsigned i = 0; i < parts; ++i) {
        Part* d = operand<Part>(w, refs[i]);
        for_lanes<false>(d, mask, [&](unsigned l) { return static_cast<Part>(source[l] >> (8 * sizeof(Part) * i)); });
    }
}

ptx::Type bits_type(unsigned bytes) {
    return bytes == 2 ? ptx::Type::B16 : bytes == 4 ? ptx::Type::B32 : bytes == 8 ? ptx::Type::B64 : ptx::Type::B128;
}

bool decode_packing(InsnBuilder& b, unsigned whole) {
    using Kind = ptx::Operand::Kind;
    const ptx::Operand &d = b.operand(0), &a = b.operand(1);
    if (d.kind != Kind::Vector && a.kind != Kind::Vector) return false;
    const bool pack = a.kind == Kind::Vector;
    if (pack && d.kind == Kind::Vector) b.refuse("packs and unpacks at once");
    const auto& parts = pack ? a.elements : d.elements;
    const unsigned n = static_cast<unsigned>(parts.size());
    if (n != 2 && n != 4) b.refuse("packs two or four parts");
    const unsigned bytes = whole / n;
    if (bytes < 2 || bytes > 8 || (whole == 16 && n != 2)) b.refuse("parts of this size are not supported");
    Ref refs[4] = {};
    for (unsigned i = 0; i < n; ++i) {
        const bool none = parts[i].kind == Kind::None;
        refs[i] = pack ? b.source(parts[i], bits_type(bytes)) : none ? b.sink(bytes) : b.destination(parts[i], bytes);
    }
    (pack ? b.out.a : b.out.d) = refs[0];
    b.out.b = refs[1];
    b.out.c = refs[2];
    b.out.e = refs[3];
    (pack ? b.out.d : b.out.a) = pack ? b.destination(0, whole) : b.source(1, bits_type(whole));
    using u16 = std::uint16_t;
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    Handler h = nullptr;
    if (whole == 16)
        h = pack ? run_pack_wide : run_unpack_wide;
    else if (whole == 4)
        h = pack ? run_pack<u32, u16> : run_unpack<u32, u16>;
    else if (n == 2)
        h = pack ? run_pack<u64, u32> : run_unpack<u64, u32>;
    else
        h = pack ? run_pack<u64, u16> : run_unpack<u64, u16>;
    b.handlers({h, h});
    return true;
}

void run_move_predicate(Warp& w, const Insn& in, std::uint32_t mask) {
    std::uint32_t& d = predicate(w, in.d);
    const std::uint32_t a = predicate(w, in.a) ^ (in.form ? ~0u : 0u);
    d = (d & ~mask) | (a & mask);
}

// The clock counts the instructions of the warp, so it is the same on every machine and in every run.
template <class T>
void run_clock(Warp& w, const Insn& in, std::uint32_t mask) {
    T* d = operand<T>(w, in.d);
    w.slept += 2;
    const auto now = static_cast<T>((w.clock += 2) >> in.form);
    for_lanes<false>(d, mask, [=](unsigned) { return now; });
}

// The address of a local variable in a called function, within the activation's part of the stack.
void run_local_address(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint64_t at = w.frames[w.frame].local_offset + in.value;
    for_lanes<false>(operand<std::uint64_t>(w, in.d), mask, [=](unsigned) { return at; });
}

void run_activemask(Warp& w, const Insn& in, std::uint32_t mask) {
    for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, [=](unsigned) { return mask; });
}

void decode_mov(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const ptx::Type t = b.type();
    const ptx::Operand& a = b.operand(1);
    if (t == ptx::Type::Pred) {
        bool negated = false;
        b.out.d = b.predicate_destination(b.operand(0));
        b.out.a = b.predicate_source(a, &negated);
        b.out.form = negated;
        return b.handlers({run_move_predicate, run_move_predicate});
    }
    const unsigned bytes = ptx::size_of(t);
    if (decode_packing(b, bytes)) return;
    if (a.kind == ptx::Operand::Kind::Special) {
        using Register = ptx::SpecialRegister::Kind;
        const auto known = ptx::find_special(a.symbol);
        if (known && (known->kind == Register::Clock || known->kind == Register::ClockHigh)) {
            b.out.d = b.destination(0, bytes);
            b.out.form = known->kind == Register::ClockHigh ? 32 : 0;
            const Handler h = bytes == 8 ? Handler{run_clock<std::uint64_t>} : Handler{run_clock<std::uint32_t>};
            return b.handlers({h, h});
        }
    }
    b.out.d = b.destination(0, bytes);
    if (a.kind == ptx::Operand::Kind::Symbol && bytes == 8 && !b.function.is_kernel()) {
        if (const auto place = b.function.symbol(a.symbol); place && place->space == ptx::Space::Local) {
            b.out.value = place->address + static_cast<std::uint64_t>(a.offset);
            return b.handlers({run_local_address, run_local_address});
        }
    }
    b.out.a = b.source(1, t);
    b.handlers(move_handlers(b, bytes));
}

void decode_activemask(InsnBuilder& b) {
    b.expect_operands(1, 1);
    b.out.d = b.destination(0, 4);
    b.handlers({run_activemask, run_activemask});
}

struct AddOffset {
    static std::uint64_t apply(std::uint64_t a, std::uint64_t b) { return a + b; }
};

std::uint64_t window_base(InsnBuilder& b) {
    // Constant variables are at addresses of their own among global ones: nothing to add.
    if (b.has("global") || b.has("const")) return 0;
    if (b.has("shared") || b.has("shared::cta")) return space::shared_base;
    if (b.has("local")) return space::local_base;
    if (b.has("param")) return space::param_base;
    b.refuse("names no state space");
}

void decode_cvta(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const std::uint64_t base = window_base(b);
    b.out.d = b.destination(0, 8);
    b.out.a = b.source(1, ptx::Type::U64);
    if (base == 0) return b.handlers(move_handlers(b, 8));
    b.out.b = b.constant(b.has("to") ? 0 - base : base, 8);
    b.handlers(Binary<AddOffset, std::uint64_t, std::uint64_t>::handlers);
}

void run_isspacep(Warp& w, const Insn& in, std::uint32_t mask) {
    const auto* a = operand<std::uint64_t>(w, in.a);
    const auto low = in.value;
    const std::uint32_t r = low == space::global_base
                                ? ballot([=](unsigned l) { return space::is_global(a[l]); })
                                : ballot([=](unsigned l) { return a[l] >= low && a[l] < low + space::window; });
    std::uint32_t& d = predicate(w, in.d);
    d = (d & ~mask) | (r & mask);
}

void decode_isspacep(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.predicate_destination(b.operand(0));
    b.out.a = b.source(1, ptx::Type::U64);
    b.out.value = b.has("global") ? space::global_base : window_base(b);
    b.handlers({run_isspacep, run_isspacep});
}

// Lets others run. The warp's clock advances by the longest time that it might have slept.
void run_nanosleep(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr std::uint32_t max_sleep_ns = 1'000'000;
    ++w.sync_operations;
    const std::uint32_t ns = std::min(operand<std::uint32_t>(w, in.a)[std::countr_zero(mask)], max_sleep_ns);
    w.clock += ns;
    w.slept += ns;
}
void decode_nanosleep(InsnBuilder& b) {
    b.expect_operands(1, 1);
    b.out.a = b.source(0, ptx::Type::U32);
    b.handlers({run_nanosleep, run_nanosleep});
}

void run_nothing(Warp&, const Insn&, std::uint32_t) {}
void decode_nothing(InsnBuilder& b) { b.handlers({run_nothing, run_nothing}); }

constexpr OpcodeRow rows[] = {
    {"mov", "", "pred b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64 b128", "", "copies; packs and unpacks {…}",
     decode_mov, carries},
    {"activemask", "", "b32", "", "lanes that execute this together", decode_activemask},
    {"cvta", "", "u64", "to global shared shared::cta local const param", "to and from generic addresses", decode_cvta,
     carries},
    {"isspacep", "", "", "global shared shared::cta local param", "does the generic address lie in the space",
     decode_isspacep},
    {"prefetch", "", "", "global local L1 L2 L2::evict_last L2::evict_normal", "a hint; does nothing", decode_nothing},
    {"applypriority", "", "", "global L2::evict_normal", "a hint; does nothing", decode_nothing},
    {"discard", "", "", "global L2", "says that data are not wanted any more; keeps them", decode_nothing},
    {"griddepcontrol", "", "", "wait launch_dependents", "launches do not overlap: does nothing", decode_nothing},
    {"prefetchu", "", "", "L1", "a hint; does nothing", decode_nothing},
    {"nanosleep", "", "u32", "", "lets others run", decode_nanosleep},
    {"pragma", "", "", "", "ignored", decode_nothing},
};

}  // namespace

std::span<const OpcodeRow> move_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
