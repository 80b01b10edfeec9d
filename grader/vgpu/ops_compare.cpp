// Comparison and selection: setp, set, selp, slct.
#include "vgpu/float_math.hpp"
#include "vgpu/opcodes.hpp"

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

// aux of setp: bit 0 ftz, bits 1–2 the boolean with the third predicate (0 none, 1 and, 2 or, 3 xor), bit 3 negated.
struct SetpForm {
    enum : std::uint16_t { Ftz = 1, And = 2, Or = 4, Xor = 6, combine = 6, Negated = 8, Second = 16 };
};

template <Cmp C, class T>
std::uint32_t compare_lanes(Warp& w, const Insn& in) {
    const T *a = operand<T>(w, in.a), *b = operand<T>(w, in.b);
    if constexpr (std::is_same_v<T, float>)
        if (in.aux & SetpForm::Ftz) return ballot([=](unsigned l) { return compare<C>(flush(a[l]), flush(b[l])); });
    return ballot([=](unsigned l) { return compare<C>(a[l], b[l]); });
}

void write_predicate(Warp& w, Ref ref, std::uint32_t value, std::uint32_t mask) {
    std::uint32_t& d = predicate(w, ref);
    d = (d & ~mask) | (value & mask);
}

template <Cmp C, class T>
void run_setp(Warp& w, const Insn& in, std::uint32_t mask) {
    const std::uint32_t r = compare_lanes<C, T>(w, in);
    if (in.aux <= SetpForm::Ftz) [[likely]]
        return write_predicate(w, in.d, r, mask);
    const std::uint32_t p =
        in.aux & SetpForm::combine ? predicate(w, in.c) ^ (in.aux & SetpForm::Negated ? ~0u : 0u) : 0;
    const auto combined = [&](std::uint32_t v) {
        switch (in.aux & SetpForm::combine) {
            case SetpForm::And:
                return v & p;
            case SetpForm::Or:
                return v | p;
            case SetpForm::Xor:
                return v ^ p;
            default:
                return v;
        }
    };
    write_predicate(w, in.d, combined(r), mask);
    if (in.aux & SetpForm::Second) write_predicate(w, in.e, combined(~r), mask);
}

// set: the result as all ones (integer destination) or 1.0f.
template <Cmp C, class T>
void run_set(Warp& w, const Insn& in, std::uint32_t mask) {
    std::uint32_t r = compare_lanes<C, T>(w, in);
    const std::uint32_t p =
        in.aux & SetpForm::combine ? predicate(w, in.c) ^ (in.aux & SetpForm::Negated ? ~0u : 0u) : 0;
    switch (in.aux & SetpForm::combine) {
        case SetpForm::And:
            r &= p;
            break;
        case SetpForm::Or:
            r |= p;
            break;
        case SetpForm::Xor:
            r ^= p;
            break;
        default:
            break;
    }
    const std::uint32_t yes = in.aux & SetpForm::Second ? 0x3f800000u : ~0u;
    auto* d = operand<std::uint32_t>(w, in.d);
    for_active(mask, [&](unsigned l) { d[l] = lane_on(r, l) ? yes : 0u; });
}

struct NamedCmp {
    std::string_view name;
    Cmp cmp;
};
// lo, ls, hi, hs are the unsigned comparisons' own names.
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

template <bool Set>
void decode_compare(InsnBuilder& b, ptx::Type t) {
    b.expect_operands(3, 4);
    const NamedCmp* named = nullptr;
    for (const auto& m : b.in.modifiers)
        for (const auto& n : names)
            if (m == n.name) named = &n;
    if (!named) b.refuse("names no comparison");
    b.out.aux = b.has("ftz") ? SetpForm::Ftz : 0;
    b.out.a = b.source(1, t);
    b.out.b = b.source(2, t);
    if (b.operand_count() == 4) {
        bool negated = false;
        b.out.c = b.predicate_source(b.operand(3), &negated);
        b.out.aux |= b.has("and") ? SetpForm::And : b.has("or") ? SetpForm::Or : SetpForm::Xor;
        if (negated) b.out.aux |= SetpForm::Negated;
    }
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
    decode_compare<false>(b, b.type());
    const ptx::Operand& d = b.operand(0);
    if (d.kind == ptx::Operand::Kind::Pair && d.elements.size() == 2) {
        b.out.d = b.predicate_destination(d.elements[0]);
        b.out.e = b.predicate_destination(d.elements[1]);
        b.out.aux |= SetpForm::Second;
    } else {
        b.out.d = b.predicate_destination(d);
    }
}

void decode_set(InsnBuilder& b) {
    if (b.type_count() != 2) b.refuse("needs two types");
    decode_compare<true>(b, b.type(1));
    b.out.d = b.destination(0, 4);
    if (b.type(0) == ptx::Type::F32) b.out.aux |= SetpForm::Second;
}

template <class T>
struct Selp {
    template <bool Full>
    static void run(Warp& w, const Insn& in, std::uint32_t mask) {
        T* d = operand<T>(w, in.d);
        const T *a = operand<T>(w, in.a), *b = operand<T>(w, in.b);
        const std::uint32_t p = predicate(w, in.c) ^ (in.aux ? ~0u : 0u);
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
    b.out.aux = negated;
    b.handlers(bytes == 2   ? Selp<std::uint16_t>::handlers
               : bytes == 4 ? Selp<std::uint32_t>::handlers
                            : Selp<std::uint64_t>::handlers);
}

template <class T, class C>
struct Slct {  // d = c >= 0 ? a : b
    static T apply(T a, T b, C c) { return c >= 0 ? a : b; }
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

constexpr std::string_view all = "b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64",
                           how = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
constexpr OpcodeRow rows[] = {
    {"setp", "", all, how, "compares into a predicate", decode_setp},
    {"set", "", "u32 s32 f32", how, "compares into a register", decode_set},
    {"selp", "", all, "", "a or b by a predicate", decode_selp},
    {"slct", "", all, "ftz", "a or b by the sign of c", decode_slct},
};

}  // namespace

std::span<const OpcodeRow> compare_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
