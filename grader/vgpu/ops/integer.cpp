// Integer arithmetic. Overflow wraps; division and remainder by zero give all ones, as on the hardware.
#include <algorithm>
#include <limits>

#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/functors.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
// Wide enough that 16-bit operands are not promoted to a signed int that overflows.
template <class T>
using Arith = std::conditional_t<sizeof(T) < 4, std::uint32_t, Unsigned<T>>;
template <class T>
using Wider = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(Arith<T>(a) + Arith<T>(b));
    }
};
struct Sub {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(Arith<T>(a) - Arith<T>(b));
    }
};
struct MulLo {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(Arith<T>(a) * Arith<T>(b));
    }
};
struct MulHi {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
    }
};
struct MulWide {
    template <class T>
    static Wider<T> apply(T a, T b) {
        return Wider<T>(a) * Wider<T>(b);
    }
};
struct MadLo {
    template <class T>
    static T apply(T a, T b, T c) {
        return Add::apply(MulLo::apply(a, b), c);
    }
};
struct MadHi {
    template <class T>
    static T apply(T a, T b, T c) {
        return Add::apply(MulHi::apply(a, b), c);
    }
};
struct MadWide {
    template <class T>
    static Wider<T> apply(T a, T b, Wider<T> c) {
        return Add::apply(MulWide::apply(a, b), c);
    }
};
template <class T>
T saturated(std::int64_t v) {
    return static_cast<T>(std::clamp<std::int64_t>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
struct AddSat {
    static std::int32_t apply(std::int32_t a, std::int32_t b) { return saturated<std::int32_t>(std::int64_t{a} + b); }
};
struct SubSat {
    static std::int32_t apply(std::int32_t a, std::int32_t b) { return saturated<std::int32_t>(std::int64_t{a} - b); }
};
struct Div {
    template <class T>
    static T apply(T a, T b) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return Sub::apply(T{0}, a);
        return static_cast<T>(a / b);
    }
};
struct Rem {
    template <class T>
    static T apply(T a, T b) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return 0;
        return static_cast<T>(a % b);
    }
};
struct Neg {
    template <class T>
    static T apply(T a) {
        return Sub::apply(T{0}, a);
    }
};
struct Abs {
    template <class T>
    static T apply(T a) {
        return a < 0 ? Sub::apply(T{0}, a) : a;
    }
};
struct Sad {
    template <class T>
    static T apply(T a, T b, Unsigned<T> c) {
        return static_cast<T>(c + (a > b ? Unsigned<T>(Sub::apply(a, b)) : Unsigned<T>(Sub::apply(b, a))));
    }
};

template <class Op>
void decode_saturating(InsnBuilder& b) {
    b.expect_operands(3, 3);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, b.type());
    b.out.b = b.source(2, b.type());
    b.handlers(Binary<Op, std::int32_t, std::int32_t>::handlers);
}

ptx::Type wider(ptx::Type t) {
    using ptx::Type;
    return t == Type::S16 ? Type::S32 : t == Type::U16 ? Type::U32 : t == Type::S32 ? Type::S64 : Type::U64;
}

template <class F>
void by_narrow_type(InsnBuilder& b, F&& f) {
    switch (b.type()) {
        case ptx::Type::S16:
            return f.template operator()<std::int16_t>();
        case ptx::Type::U16:
            return f.template operator()<std::uint16_t>();
        case ptx::Type::S32:
            return f.template operator()<std::int32_t>();
        case ptx::Type::U32:
            return f.template operator()<std::uint32_t>();
        default:
            b.refuse("type not supported here");
    }
}

void decode_mul_wide(InsnBuilder& b) {
    b.expect_operands(3, 3);
    by_narrow_type(b, [&]<class T>() {
        b.out.d = b.destination(0, 2 * sizeof(T));
        b.out.a = b.source(1, b.type());
        b.out.b = b.source(2, b.type());
        b.handlers(Binary<MulWide, Wider<T>, T>::handlers);
    });
}

void decode_mad_wide(InsnBuilder& b) {
    b.expect_operands(4, 4);
    by_narrow_type(b, [&]<class T>() {
        b.out.d = b.destination(0, 2 * sizeof(T));
        b.out.a = b.source(1, b.type());
        b.out.b = b.source(2, b.type());
        b.out.c = b.source(3, wider(b.type()));
        b.handlers(Ternary<MadWide, Wider<T>, T, T, Wider<T>>::handlers);
    });
}

void decode_sad(InsnBuilder& b) { decode_ternary<Sad>(b); }

// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi …: with a carry bit for each lane.
struct CarryForm {
    enum Kind : std::uint16_t { Plus = 0, Minus = 1, MadLow = 2, MadHigh = 3, kind_mask = 3, In = 4, Out = 8 };
};

template <class T>
void run_carry(Warp& w, const Insn& in, std::uint32_t mask) {
    T* d = operand<T>(w, in.d);
    const T* a = operand<T>(w, in.a);
    const T* b = operand<T>(w, in.b);
    const T* c = operand<T>(w, in.c);
    std::uint32_t& carry = predicate(w, in.carry);
    std::uint32_t carry_out = carry;
    const unsigned kind = in.form & CarryForm::kind_mask;
    for_active(mask, [&](unsigned l) {
        const unsigned __int128 carried = in.form & CarryForm::In ? (carry >> l) & 1u : 0u;
        unsigned __int128 sum;
        if (kind == CarryForm::Plus)
            sum = (unsigned __int128){a[l]} + b[l] + carried;
        else if (kind == CarryForm::Minus)
            sum = (unsigned __int128){a[l]} - b[l] - carried;
        else {
            const T product = kind == CarryForm::MadLow ? MulLo::apply(a[l], b[l]) : MulHi::apply(a[l], b[l]);
            sum = (unsigned __int128){product} + c[l] + carried;
        }
        d[l] = static_cast<T>(sum);
        const bool out = (sum >> (8 * sizeof(T))) & 1;
        carry_out = (carry_out & ~(1u << l)) | (std::uint32_t{out} << l);
    });
    if (in.form & CarryForm::Out) carry = carry_out;
}

template <unsigned Kind, bool In = false>
void decode_carry(InsnBuilder& b) {
    const bool mad = Kind >= CarryForm::MadLow;
    b.expect_operands(mad ? 4 : 3, mad ? 4 : 3);
    const unsigned bytes = ptx::size_of(b.type());
    b.out.d = b.destination(0, bytes);
    b.out.a = b.source(1, b.type());
    b.out.b = b.source(2, b.type());
    if (mad) b.out.c = b.source(3, b.type());
    b.out.carry = b.carry();
    b.out.form = static_cast<std::uint16_t>(Kind | (In ? CarryForm::In : 0) | (b.has("cc") ? CarryForm::Out : 0));
    // Signed and unsigned agree in the low half; compilers do not emit a signed high half with a carry.
    if (bytes == 4)
        b.handlers({run_carry<std::uint32_t>, run_carry<std::uint32_t>});
    else
        b.handlers({run_carry<std::uint64_t>, run_carry<std::uint64_t>});
}

// dp4a/dp2a: sums of products of packed bytes. form bit 0: a is signed, bit 1: b is signed, bit 2: dp2a's high half.
template <bool Two>
void run_dot(Warp& w, const Insn& in, std::uint32_t mask) {
    auto* d = operand<std::uint32_t>(w, in.d);
    const auto *a = operand<std::uint32_t>(w, in.a), *b = operand<std::uint32_t>(w, in.b),
               *c = operand<std::uint32_t>(w, in.c);
    const auto byte = [](std::uint32_t v, unsigned i, bool is_signed) -> std::int32_t {
        const auto u = static_cast<std::uint8_t>(v >> (8 * i));
        return is_signed ? static_cast<std::int8_t>(u) : u;
    };
    const auto half = [](std::uint32_t v, unsigned i, bool is_signed) -> std::int32_t {
        const auto u = static_cast<std::uint16_t>(v >> (16 * i));
        return is_signed ? static_cast<std::int16_t>(u) : u;
    };
    for_active(mask, [&](unsigned l) {
        std::uint32_t sum = c[l];
        for (unsigned i = 0; i < (Two ? 2u : 4u); ++i) {
            const std::int32_t x = Two ? half(a[l], i, in.form & 1) : byte(a[l], i, in.form & 1);
            const std::int32_t y = byte(b[l], Two && (in.form & 4) ? i + 2 : i, in.form & 2);
            sum += static_cast<std::uint32_t>(x * y);
        }
        d[l] = sum;
    });
}

template <bool Two>
void decode_dot(InsnBuilder& b) {
    b.expect_operands(4, 4);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    b.out.c = b.source(3, ptx::Type::B32);
    b.out.form = static_cast<std::uint16_t>((b.type(0) == ptx::Type::S32 ? 1 : 0) |
                                            (b.type(1) == ptx::Type::S32 ? 2 : 0) | (Two && b.has("hi") ? 4 : 0));
    b.handlers({run_dot<Two>, run_dot<Two>});
}

constexpr std::string_view all = "u16 s16 u32 s32 u64 s64", words = "u32 s32 u64 s64";
constexpr OpcodeRow rows[] = {
    {"add", "", all, "", "d = a + b", decode_binary<Add>},
    {"add", "sat", "s32", "", "d = a + b, clamped", decode_saturating<AddSat>},
    {"sub", "", all, "", "d = a - b", decode_binary<Sub>},
    {"sub", "sat", "s32", "", "d = a - b, clamped", decode_saturating<SubSat>},
    {"add", "cc", words, "", "d = a + b, sets the carry", decode_carry<CarryForm::Plus>},
    {"addc", "", words, "cc", "d = a + b + carry", decode_carry<CarryForm::Plus, true>},
    {"sub", "cc", words, "", "d = a - b, sets the borrow", decode_carry<CarryForm::Minus>},
    {"subc", "", words, "cc", "d = a - b - borrow", decode_carry<CarryForm::Minus, true>},
    {"mul", "lo", all, "", "low half of a * b", decode_binary<MulLo>},
    {"mul", "hi", all, "", "high half of a * b", decode_binary<MulHi>},
    {"mul", "wide", "u16 s16 u32 s32", "", "whole product, twice as wide", decode_mul_wide},
    {"mad", "lo", all, "", "low half of a * b, plus c", decode_ternary<MadLo>},
    {"mad", "hi", all, "", "high half of a * b, plus c", decode_ternary<MadHi>},
    {"mad", "wide", "u16 s16 u32 s32", "", "whole product plus c", decode_mad_wide},
    {"mad", "lo cc", words, "", "mad.lo that sets the carry", decode_carry<CarryForm::MadLow>},
    {"mad", "hi cc", "u32 u64", "", "mad.hi that sets the carry", decode_carry<CarryForm::MadHigh>},
    {"madc", "lo", words, "cc", "mad.lo with carry in", decode_carry<CarryForm::MadLow, true>},
    {"madc", "hi", "u32 u64", "cc", "mad.hi with carry in", decode_carry<CarryForm::MadHigh, true>},
    {"div", "", all, "", "d = a / b; all ones when b is 0", decode_binary<Div>},
    {"rem", "", all, "", "d = a % b; all ones when b is 0", decode_binary<Rem>},
    {"min", "", all, "", "the smaller", decode_binary<Min>},
    {"max", "", all, "", "the larger", decode_binary<Max>},
    {"neg", "", "s16 s32 s64", "", "d = -a", decode_unary<Neg>},
    {"abs", "", "s16 s32 s64", "", "absolute value", decode_unary<Abs>},
    {"sad", "", all, "", "c plus the absolute difference", decode_sad},
    {"dp4a", "", "u32 s32", "", "four byte products summed", decode_dot<false>},
    {"dp2a", "lo", "u32 s32", "", "two half-word by byte products summed", decode_dot<true>},
    {"dp2a", "hi", "u32 s32", "", "two half-word by byte products summed", decode_dot<true>},
};

}  // namespace

std::span<const OpcodeRow> integer_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
