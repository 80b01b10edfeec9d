// Comparison and selection: setp, set, selp, slct.
#include "vgpu/ops/float_math.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/half.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

enum class Cmp : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Cmp C, class T>
bool compare(T a, T b) {
    const bool unordered = std::is_floating_point_v<T> && (a != a || b != b);
    switch (C) {
        case Cmp::Eq:
            return a == b;
        case Cmp::Ne:
            return a != b && !unordered;
        case Cmp::Lt:
            return a < b;
        case Cmp::Le:
            return a <= b;
        case Cmp::Gt:
            return a > b;
        case Cmp::Ge:
            return a >= b;
        case Cmp::Equ:
            return a == b || unordered;
        case Cmp::Neu:
            return a != b;
        case Cmp::Ltu:
            return a < b || unordered;
        case Cmp::Leu:
            return a <= b || unordered;
        case Cmp::Gtu:
            return a > b || unordered;
        case Cmp::Geu:
            return a >= b || unordered;
        case Cmp::Num:
            return !unordered;
        case Cmp::Nan:
            return unordered;
    }
    return false;
}

// form of setp: bit 0 ftz, bits 1–2 how the third predicate is combined (0 none, 1 and, 2 or, 3 xor), bit 3 negated.
struct SetpForm {
    enum : std::uint16_t { Ftz = 1, And = 2, Or = 4, Xor = 6, combine = 6, Negated = 8, Second = 16 };
};

template <Cmp C, class T>
std::uint32_t compare_lanes(Warp& w, const Insn& in) {
    const T *a = operand<T>(w, in.a), *b = operand<T>(w, in.b);
    if constexpr (std::is_same_v<T, float>)
        if (in.form & SetpForm::Ftz) return ballot([=](unsigned l) { return compare<C>(flush(a[l]), flush(b[l])); });
    return ballot([=](unsigned l) { return compare<C>(a[l], b[l]); });
}

void write_predicate(Warp& w, Ref ref, std::uint32_t value, std::uint32_t mask) {
    std::uint32_t& d = predicate(w, ref);
    d = (d & ~mask) | (value & mask);
}

// A comparison's result combined with the third predicate.
std::uint32_t combined(const Warp& w, const Insn& in, std::uint32_t v) {
    if (!(in.form & SetpForm::combine)) return v;
    const std::uint32_t p = predicate(w, in.c) ^ (in.form & SetpForm::Negated ? ~0u : 0u);
    switch (in.form & SetpForm::combine) {
        case SetpForm::And:
            return v & p;
        case SetpForm::Or:
            return v | p;
        default:
            return v ^ p;
    }
}

template <Cmp C, class T>
void run_setp(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t r = compare_lanes<C, T>(w, in);
    if (in.form <= SetpForm::Ftz) [[likely]]
        return write_predicate(w, in.d, r, mask);
    const std::uint32_t first = combined(w, in, r), second = combined(w, in, ~r);  // before d, which may be c
    write_predicate(w, in.d, first, mask);
    if (in.form & SetpForm::Second) write_predicate(w, in.second, second, mask);
}

// set: true is all ones for an integer destination, 1.0f for a float.
template <Cmp C, class T>
void run_set(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t r = combined(w, in, compare_lanes<C, T>(w, in));
    const std::uint32_t yes = in.form & SetpForm::Second ? 0x3f800000u : ~0u;
    auto* d = operand<std::uint32_t>(w, in.d);
    for_active(mask, [&](unsigned l) { d[l] = lane_on(r, l) ? yes : 0u; });
}

struct NamedCmp {
    std::string_view name;
    Cmp cmp;
};
// lo, ls, hi and hs are unsigned comparisons.
constexpr NamedCmp names[] = {
    {"eq", Cmp::Eq},   {"ne", Cmp::Ne},   {"lt", Cmp::Lt},   {"le", Cmp::Le},   {"gt", Cmp::Gt},   {"ge", Cmp::Ge},
    {"lo", Cmp::Lt},   {"ls", Cmp::Le},   {"hi", Cmp::Gt},   {"hs", Cmp::Ge},   {"equ", Cmp::Equ}, {"neu", Cmp::Neu},
    {"ltu", Cmp::Ltu}, {"leu", Cmp::Leu}, {"gtu", Cmp::Gtu}, {"geu", Cmp::Geu}, {"num", Cmp::Num}, {"nan", Cmp::Nan}};

template <bool Set, class T>
Handler pick(InsnBuilder& b, Cmp c) {
#define WG_CMP(C) \
    case Cmp::C:  \
        return Set ? Handler{run_set<Cmp::C, T>} : Handler{run_setp<Cmp::C, T>};
    switch (c) { WG_CMP(Eq) WG_CMP(Ne) WG_CMP(Lt) WG_CMP(Le) WG_CMP(Gt) WG_CMP(Ge) default : break; }
    if constexpr (std::is_floating_point_v<T>) {
        switch (c) {
            WG_CMP(Equ)
            WG_CMP(Neu) WG_CMP(Ltu) WG_CMP(Leu) WG_CMP(Gtu) WG_CMP(Geu) WG_CMP(Num) WG_CMP(Nan) default : break;
        }
    }
#undef WG_CMP
    b.refuse("comparison not possible for this type");
}

const NamedCmp& comparison(const InsnBuilder& b) {
    for (const auto& m : b.in.modifiers)
        for (const auto& n : names)
            if (m == n.name) return n;
    b.refuse("names no comparison");
}

// The third predicate of a setp or set.
void decode_combination(InsnBuilder& b) {
    b.expect_operands(3, 4);
    b.out.form = b.has("ftz") ? SetpForm::Ftz : 0;
    if (b.operand_count() == 3) return;
    bool negated = false;
    b.out.c = b.predicate_source(b.operand(3), &negated);
    b.out.form |= b.has("and") ? SetpForm::And : b.has("or") ? SetpForm::Or : SetpForm::Xor;
    if (negated) b.out.form |= SetpForm::Negated;
}

// For halves: which of less (1), equal (2), greater (4) and unordered (8) make a comparison true, as bits of
// `relations`.
std::uint32_t wanted_relations(Cmp c) {
    constexpr std::uint32_t less = 1, equal = 2, greater = 4, unordered = 8;
    switch (c) {
        case Cmp::Eq:
            return equal;
        case Cmp::Ne:
            return less | greater;
        case Cmp::Lt:
            return less;
        case Cmp::Le:
            return less | equal;
        case Cmp::Gt:
            return greater;
        case Cmp::Ge:
            return greater | equal;
        case Cmp::Equ:
            return equal | unordered;
        case Cmp::Neu:
            return less | greater | unordered;
        case Cmp::Ltu:
            return less | unordered;
        case Cmp::Leu:
            return less | equal | unordered;
        case Cmp::Gtu:
            return greater | unordered;
        case Cmp::Geu:
            return greater | equal | unordered;
        case Cmp::Num:
            return less | equal | greater;
        case Cmp::Nan:
            return unordered;
    }
    return 0;
}

// Result bits of the low (`part` 0) or high halves of all lanes. A single half counts as low.
template <class Format, unsigned Width>
std::uint32_t compare_halves(const Warp& w, const Insn& in, unsigned part) {
    const auto *a = operand<std::uint16_t>(w, in.a), *b = operand<std::uint16_t>(w, in.b);
    const bool ftz = in.form & SetpForm::Ftz;
    return ballot([&](unsigned l) {
        std::uint16_t x = a[l * Width + part], y = b[l * Width + part];
        x = ftz ? flush_half<Format>(x) : x;
        y = ftz ? flush_half<Format>(y) : y;
        const float f = Format::to_float(x), g = Format::to_float(y);
        const std::uint32_t relation = f < g ? 1u : f == g ? 2u : f > g ? 4u : 8u;
        return (relation & in.relations) != 0;
    });
}

// setp.f16x2 has a predicate for each half; setp.f16 may write its complement to a second one.
template <class Format, unsigned Width>
void run_setp_half(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t low = compare_halves<Format, Width>(w, in, 0);
    const std::uint32_t first = combined(w, in, low);
    const std::uint32_t second = combined(w, in, Width == 2 ? compare_halves<Format, Width>(w, in, 1) : ~low);
    write_predicate(w, in.d, first, mask);
    if (in.form & SetpForm::Second) write_predicate(w, in.second, second, mask);
}

// set on halves; `value` is the value for true. D is the type of the result's register.
template <class Format, unsigned Width, class D>
void run_set_half(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t low = combined(w, in, compare_halves<Format, Width>(w, in, 0));
    const std::uint32_t high = Width == 2 ? combined(w, in, compare_halves<Format, Width>(w, in, 1)) : 0;
    const auto yes = static_cast<D>(in.value);
    for_lanes<false>(operand<D>(w, in.d), mask, [=](unsigned l) {
        const D first = lane_on(low, l) ? yes : D{0};
        return Width == 2 ? static_cast<D>(first | (lane_on(high, l) ? static_cast<std::uint32_t>(yes) << 16 : 0u))
                          : first;
    });
}

bool is_half_type(ptx::Type t) {
    return t == ptx::Type::F16 || t == ptx::Type::F16x2 || t == ptx::Type::BF16 || t == ptx::Type::BF16x2;
}

template <class F>
Handler by_half(ptx::Type t, F&& f) {
    const bool pair = t == ptx::Type::F16x2 || t == ptx::Type::BF16x2;
    if (t == ptx::Type::F16 || t == ptx::Type::F16x2)
        return pair ? f.template operator()<F16, 2>() : f.template operator()<F16, 1>();
    return pair ? f.template operator()<BF16, 2>() : f.template operator()<BF16, 1>();
}

void decode_half_operands(InsnBuilder& b, ptx::Type t) {
    decode_combination(b);
    b.out.relations = wanted_relations(comparison(b).cmp);
    b.out.a = b.source(1, t);
    b.out.b = b.source(2, t);
}

void decode_setp_half(InsnBuilder& b) {
    decode_half_operands(b, b.type());
    const Handler h =
        by_half(b.type(), []<class Format, unsigned Width>() { return Handler{run_setp_half<Format, Width>}; });
    b.handlers({h, h});
}

void decode_set_half(InsnBuilder& b) {
    const ptx::Type d = b.type(0), t = b.type(1);
    decode_half_operands(b, t);
    const unsigned bytes = ptx::size_of(d), width = ptx::size_of(t) / 2;
    if ((bytes != 2 && bytes != 4) || (width == 2 && bytes != 4)) b.refuse("result type not supported here");
    switch (d) {
        case ptx::Type::F16:
        case ptx::Type::F16x2:
            b.out.value = 0x3c00;
            break;
        case ptx::Type::BF16:
        case ptx::Type::BF16x2:
            b.out.value = 0x3f80;
            break;
        case ptx::Type::F32:
            b.out.value = 0x3f800000;
            break;
        default:
            b.out.value = bytes == 4 && width == 1 ? 0xffffffff : 0xffff;
    }
    b.out.d = b.destination(0, bytes);
    const Handler h = by_half(t, [&]<class Format, unsigned Width>() {
        return bytes == 2 ? Handler{run_set_half<Format, Width, std::uint16_t>}
                          : Handler{run_set_half<Format, Width, std::uint32_t>};
    });
    b.handlers({h, h});
}

template <bool Set>
void decode_compare(InsnBuilder& b, ptx::Type t) {
    decode_combination(b);
    const NamedCmp* named = &comparison(b);
    b.out.a = b.source(1, t);
    b.out.b = b.source(2, t);
    Handler h = nullptr;
    if (t == ptx::Type::F32)
        h = pick<Set, float>(b, named->cmp);
    else if (t == ptx::Type::F64)
        h = pick<Set, double>(b, named->cmp);
    else
        h = by_type(b, t, [&]<class T>() { return pick<Set, T>(b, named->cmp); });
    b.handlers({h, h});
}

void decode_setp(InsnBuilder& b) {
    is_half_type(b.type()) ? decode_setp_half(b) : decode_compare<false>(b, b.type());
    const ptx::Operand& d = b.operand(0);
    if (d.kind == ptx::Operand::Kind::Pair && d.elements.size() == 2) {
        b.out.d = b.predicate_destination(d.elements[0]);
        b.out.second = b.predicate_destination(d.elements[1]);
        b.out.form |= SetpForm::Second;
    } else {
        b.out.d = b.predicate_destination(d);
    }
}

void decode_set(InsnBuilder& b) {
    if (b.type_count() != 2) b.refuse("needs two types");
    if (is_half_type(b.type(1))) return decode_set_half(b);
    decode_compare<true>(b, b.type(1));
    b.out.d = b.destination(0, 4);
    if (b.type(0) == ptx::Type::F32) b.out.form |= SetpForm::Second;
}

template <class T>
struct Selp {
    template <bool Full>
    static void run(Warp& w, const Insn& in, std::uint32_t mask) {
        T* d = operand<T>(w, in.d);
        const T *a = operand<T>(w, in.a), *b = operand<T>(w, in.b);
        const std::uint32_t p = predicate(w, in.c) ^ (in.form ? ~0u : 0u);
        for_lanes<Full>(d, mask, [=](unsigned l) { return lane_on(p, l) ? a[l] : b[l]; });
    }
    static constexpr Handlers handlers{run<true>, run<false>};
};

void decode_selp(InsnBuilder& b) {
    b.expect_operands(4, 4);
    const unsigned bytes = ptx::size_of(b.type());
    b.out.d = b.destination(0, bytes);
    b.out.a = b.source(1, b.type());
    b.out.b = b.source(2, b.type());
    bool negated = false;
    b.out.c = b.predicate_source(b.operand(3), &negated);
    b.out.form = negated ? select_form::negated : 0;
    b.handlers(bytes == 2   ? Selp<std::uint16_t>::handlers
               : bytes == 4 ? Selp<std::uint32_t>::handlers
                            : Selp<std::uint64_t>::handlers);
}

template <class T, class C>
struct Slct {  // d = c >= 0 ? a : b; a NaN selects b
    static T apply(T a, T b, C c) { return c >= 0 ? a : b; }
};

template <class T>
struct SlctFtz {  // a subnormal c is zero; a and b stay as they are
    static T apply(T a, T b, float c) { return flush(c) >= 0 ? a : b; }
};

void decode_slct(InsnBuilder& b) {
    b.expect_operands(4, 4);
    const unsigned bytes = ptx::size_of(b.type(0));
    b.out.d = b.destination(0, bytes);
    b.out.a = b.source(1, b.type(0));
    b.out.b = b.source(2, b.type(0));
    b.out.c = b.source(3, b.type(1));
    const bool f = b.type(1) == ptx::Type::F32;
    if (b.type(1) != ptx::Type::F32 && b.type(1) != ptx::Type::S32) b.refuse("selects by s32 or f32");
    const auto pick_for = [&]<class T>() {
        if (f && b.has("ftz")) return Ternary<SlctFtz<T>, T, T, T, float>::handlers;
        return f ? Ternary<Slct<T, float>, T, T, T, float>::handlers
                 : Ternary<Slct<T, std::int32_t>, T, T, T, std::int32_t>::handlers;
    };
    if (bytes == 4)
        b.handlers(pick_for.operator()<std::uint32_t>());
    else if (bytes == 8)
        b.handlers(pick_for.operator()<std::uint64_t>());
    else
        b.refuse("type not supported here");
}

constexpr std::string_view all_and_half = "b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64 f16 f16x2 bf16 bf16x2",
                           all = "b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64",
                           how = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
constexpr OpcodeFacts selects{.flow = Flow::Selects};
constexpr OpcodeRow rows[] = {
    {"setp", "", all_and_half, how, "compares into a predicate", decode_setp},
    {"set", "", "u16 s16 u32 s32 f32 f16 f16x2 bf16 bf16x2", how, "compares into a register", decode_set},
    {"selp", "", all, "", "a or b by a predicate", decode_selp, selects},
    {"slct", "", all, "ftz", "a or b by the sign of c", decode_slct},
};

}  // namespace

std::span<const OpcodeRow> compare_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
