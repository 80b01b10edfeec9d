// Floating-point arithmetic, f32 and f64; half types are in half_opcodes.cpp. Where PTX leaves bits open (the NaNs of
// f64, what counts as subnormal under .ftz), they are those of the H100 (tests/vgpu/exact).
//
// Each operation is a functor. Its `nan` gives the f64 result if that is a NaN: operations differ in which operand's
// NaN they pass on. Its `magnitude` is the exact absolute result of an f32 operation that can round up to the smallest
// normal number.
#include "vgpu/ops/float_math.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr double smallest_normal = 0x1p-126;

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return a + b;
    }
    static double nan(double a, double b) { return first_nan(b, a); }
};
struct Sub {
    template <class T>
    static T apply(T a, T b) {
        return a - b;
    }
    static double nan(double a, double b) { return first_nan(b, a); }
};
struct Mul {
    template <class T>
    static T apply(T a, T b) {
        return a * b;
    }
    static double nan(double a, double b) { return first_nan(b, a); }
    static double magnitude(float a, float b) { return std::fabs(static_cast<double>(a) * b); }
};
struct Div {
    template <class T>
    static T apply(T a, T b) {
        return a / b;
    }
    static double nan(double a, double b) { return first_nan(a, b); }
    static double magnitude(float a, float b) { return std::fabs(static_cast<double>(a) / b); }  // exact enough
};
struct Fma {
    static float apply(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    static double apply(double a, double b, double c) { return __builtin_fma(a, b, c); }
    static double nan(double a, double b, double c) { return first_nan(b, c, a); }
    static double magnitude(float a, float b, float c) { return std::fabs(add_to_odd(static_cast<double>(a) * b, c)); }
};
struct Sqrt {
    static float apply(float a) { return __builtin_sqrtf(a); }
    static double apply(double a) { return __builtin_sqrt(a); }
    static double nan(double a) { return first_nan(a); }
};
struct Rcp {
    template <class T>
    static T apply(T a) {
        return T(1) / a;
    }
    static double nan(double a) { return first_nan(a); }
    static double magnitude(float a) { return Div::magnitude(1.0f, a); }
};
struct RcpApprox {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(1.0 / static_cast<double>(a));
    }
};
struct RcpApproxF64 {  // rcp.approx.ftz.f64 ignores the low 32 bits of operand and result
    static double apply(double a) {
        constexpr std::uint64_t high = 0xffffffff00000000;
        const double x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & high);
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0 / x) & high);
    }
};
struct Rsqrt {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(a)));
    }
};
struct Ex2 {
    static float apply(float a) { return static_cast<float>(approx_exp2(a)); }
};
struct Lg2 {
    static float apply(float a) { return static_cast<float>(approx_log2(a)); }
};
struct Sin {
    static float apply(float a) { return static_cast<float>(approx_sin(a)); }
};
struct Cos {
    static float apply(float a) { return static_cast<float>(approx_cos(a)); }
};
struct Tanh {
    static float apply(float a) { return static_cast<float>(approx_tanh(a)); }
};

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr Bits<T> sign_bit = Bits<T>{1} << (8 * sizeof(T) - 1);

// The hardware's neg and abs are additions of zero: a NaN passes as it does there.
inline float passed_nan(float) { return std::bit_cast<float>(canonical_nan_bits); }
inline double passed_nan(double a) { return quiet(a); }
struct Neg {
    template <class T>
    static T apply(T a) {
        return a == a ? std::bit_cast<T>(std::bit_cast<Bits<T>>(a) ^ sign_bit<T>) : passed_nan(a);
    }
};
struct Abs {
    template <class T>
    static T apply(T a) {
        return a == a ? std::bit_cast<T>(std::bit_cast<Bits<T>>(a) & ~sign_bit<T>) : passed_nan(a);
    }
};
struct CopySign {  // copysign d, a, b: the sign of a, the rest of b
    template <class T>
    static T apply(T a, T b) {
        return std::bit_cast<T>((std::bit_cast<Bits<T>>(a) & sign_bit<T>) | (std::bit_cast<Bits<T>>(b) & ~sign_bit<T>));
    }
};
// A NaN loses against a number; -0 is less than +0.
struct Min {
    static double nan(double a, double b) { return first_nan(b, a); }
    template <class T>
    static T apply(T a, T b) {
        if (a == b) return std::bit_cast<T>(std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b));
        const T r = a < b ? a : b;
        return b != b ? a : r;
    }
};
struct Max {
    static double nan(double a, double b) { return first_nan(b, a); }
    template <class T>
    static T apply(T a, T b) {
        if (a == b) return std::bit_cast<T>(std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b));
        const T r = a > b ? a : b;
        return b != b ? a : r;
    }
};
struct MinNan {
    template <class T>
    static T apply(T a, T b) {
        return a != a || b != b ? a + b : Min::apply(a, b);
    }
};
struct MaxNan {
    template <class T>
    static T apply(T a, T b) {
        return a != a || b != b ? a + b : Max::apply(a, b);
    }
};

// min and max of magnitudes, with the sign of the product.
template <class Op>
struct XorSign {
    static float apply(float a, float b) {
        const std::uint32_t sign = (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) & 0x80000000u;
        const float r = Op::apply(std::fabs(a), std::fabs(b));
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(r) | sign);
    }
};

template <class Op, class... T>
concept GivesNan = requires(T... v) {
    Op::nan(v...);
};
template <class Op, class... T>
concept CanBeTiny = requires(T... v) {
    Op::magnitude(v...);
};

// Replaces a NaN result by the one that the operation gives.
template <class Op, class R, class... T>
R without_nan(R result, T... operands) {
    if constexpr (std::is_same_v<R, double> && GivesNan<Op, T...>)
        return result == result ? result : Op::nan(operands...);
    else if constexpr (std::is_same_v<R, double>)
        return first_nan_if(result, operands...);
    else
        return canonical(result);
}

// Applies .ftz to a result. It is zero if it would be below the normal numbers with an unbounded exponent, even if it
// rounds to the smallest normal one. `Away`: a directed mode rounded it away from zero; else it was rounded to nearest.
template <class Op, bool Away, class... T>
float flush_result(float r, T... operands) {
    if constexpr (CanBeTiny<Op, T...>) {
        if ((std::bit_cast<std::uint32_t>(r) & 0x7fffffffu) == 0x00800000u) {
            const double exact = Op::magnitude(operands...);
            const bool tiny = Away ? exact <= smallest_normal * (1 - 0x1p-24) : exact < smallest_normal * (1 - 0x1p-25);
            if (tiny) return std::copysign(0.0f, r);
        }
    }
    return flush(r);
}

// The end of every operation: flushes operands and result (.ftz), clamps (.sat), chooses the NaN.
template <class Op, bool Ftz, bool Sat>
struct Finished {
    template <class... T>
    static auto apply(T... v) {
        auto r = Ftz ? Op::apply(flush(v)...) : Op::apply(v...);
        if constexpr (Ftz) r = flush_result<Op, false>(r, flush(v)...);
        if constexpr (Sat) return saturate(r);
        return without_nan<Op>(r, v...);
    }
};

template <class Op, class T, unsigned Arity, bool Ftz, bool Sat>
constexpr Handlers finished() {
    using F = Finished<Op, Ftz, Sat>;
    if constexpr (Arity == 1)
        return Unary<F, T, T>::handlers;
    else if constexpr (Arity == 2)
        return Binary<F, T, T>::handlers;
    else
        return Ternary<F, T, T>::handlers;
}

// Directed rounding: lane by lane under the host's rounding mode.
template <class Op, class T, unsigned Arity>
void run_rounded(Warp& w, const Insn& in, std::uint32_t mask) {
    T* d = operand<T>(w, in.d);
    const T *a = operand<T>(w, in.a), *b = operand<T>(w, in.b), *c = operand<T>(w, in.c);
    const bool ftz = in.form & 4, sat = in.form & 8;
    const RoundingScope scope(static_cast<Rounding>(in.form & 3));
    const auto load = [ftz](T v) { return opaque(ftz ? flush(v) : v); };
    for_active(mask, [&](unsigned l) {
        const auto compute = [&](auto... v) {
            T r = opaque(Op::apply(v...));
            if constexpr (sizeof(T) == 4)
                if (ftz && (std::bit_cast<std::uint32_t>(r) & 0x7fffffffu) <= 0x00800000u) {
                    const RoundingScope nearest(Rounding::Nearest);
                    r = flush_result<Op, true>(r, opaque(v)...);
                }
            return sat ? saturate(r) : without_nan<Op>(r, v...);
        };
        if constexpr (Arity == 1)
            d[l] = compute(load(a[l]));
        else if constexpr (Arity == 2)
            d[l] = compute(load(a[l]), load(b[l]));
        else
            d[l] = compute(load(a[l]), load(b[l]), load(c[l]));
    });
}

template <class Op, unsigned Arity>
void decode(InsnBuilder& b) {
    b.expect_operands(Arity + 1, Arity + 1);
    const ptx::Type t = b.type();
    by_float_type(b, t, [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, t);
        if constexpr (Arity > 1) b.out.b = b.source(2, t);
        if constexpr (Arity > 2) b.out.c = b.source(3, t);
        const bool ftz = b.has("ftz") && sizeof(T) == 4, sat = b.has("sat");
        if (b.has("rz") || b.has("rm") || b.has("rp")) {
            const Rounding mode = b.has("rz") ? Rounding::Zero : b.has("rm") ? Rounding::Down : Rounding::Up;
            b.out.form = static_cast<std::uint16_t>(static_cast<int>(mode) | (ftz ? 4 : 0) | (sat ? 8 : 0));
            b.handlers({run_rounded<Op, T, Arity>, run_rounded<Op, T, Arity>});
        } else if (ftz) {
            b.handlers(sat ? finished<Op, T, Arity, true, true>() : finished<Op, T, Arity, true, false>());
        } else {
            b.handlers(sat ? finished<Op, T, Arity, false, true>() : finished<Op, T, Arity, false, false>());
        }
    });
}

// Approximate functions of f32.
template <class Op>
void decode_approx(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::F32);
    b.handlers(b.has("ftz") ? finished<Op, float, 1, true, false>() : finished<Op, float, 1, false, false>());
}

template <class Op>
void decode_f64_unary(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.destination(0, 8);
    b.out.a = b.source(1, ptx::Type::F64);
    b.handlers(Unary<Op, double, double>::handlers);
}

// Sign operations work on bits and keep a NaN.
template <class Op, unsigned Arity>
void decode_sign(InsnBuilder& b) {
    b.expect_operands(Arity + 1, Arity + 1);
    by_float_type(b, b.type(), [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, b.type());
        if constexpr (Arity == 2) {
            b.out.b = b.source(2, b.type());
            b.handlers(Binary<Op, T, T>::handlers);
        } else if (b.has("ftz")) {
            b.handlers(finished<Op, T, 1, true, false>());
        } else {
            b.handlers(Unary<Op, T, T>::handlers);
        }
    });
}

void run_testp_bits(Warp& w, const Insn& in, std::uint32_t mask) {
    const auto test = [&](auto v) -> bool {
        switch (in.form & 7) {
            case 0:
                return std::isfinite(v);
            case 1:
                return std::isinf(v);
            case 2:
                return !std::isnan(v);
            case 3:
                return std::isnan(v);
            case 4:
                return std::isnormal(v) || v == 0;
            default:
                return std::fpclassify(v) == FP_SUBNORMAL;
        }
    };
    std::uint32_t r = 0;
    if (in.form & 8) {
        const double* a = operand<double>(w, in.a);
        r = ballot([&](unsigned l) { return test(a[l]); });
    } else {
        const float* a = operand<float>(w, in.a);
        r = ballot([&](unsigned l) { return test(a[l]); });
    }
    std::uint32_t& d = predicate(w, in.d);
    d = (d & ~mask) | (r & mask);
}

template <unsigned Kind>
void decode_testp(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.predicate_destination(b.operand(0));
    b.out.a = b.source(1, b.type());
    b.out.form = static_cast<std::uint16_t>(Kind | (b.type() == ptx::Type::F64 ? 8 : 0));
    b.handlers({run_testp_bits, run_testp_bits});
}

constexpr std::string_view both = "f32 f64", rounding = "rn rz rm rp ftz sat";
constexpr OpcodeRow rows[] = {
    {"add", "", both, rounding, "d = a + b", decode<Add, 2>},
    {"sub", "", both, rounding, "d = a - b", decode<Sub, 2>},
    {"mul", "", both, rounding, "d = a * b", decode<Mul, 2>},
    {"fma", "", both, rounding, "d = a * b + c, rounded once", decode<Fma, 3>},
    {"mad", "", both, rounding, "as fma", decode<Fma, 3>},
    {"div", "", both, "rn rz rm rp ftz", "d = a / b", decode<Div, 2>},
    {"div", "approx", "f32", "ftz", "a / b within 2 ulp (here: rounded to nearest)", decode<Div, 2>},
    {"div", "full", "f32", "ftz", "a / b within 2 ulp (here: rounded to nearest)", decode<Div, 2>},
    {"rcp", "", both, "rn rz rm rp ftz", "d = 1 / a", decode<Rcp, 1>},
    {"rcp", "approx", "f32", "ftz", "1 / a within 1 ulp", decode_approx<RcpApprox>},
    {"rcp", "approx ftz", "f64", "", "1 / a, upper half only", decode_f64_unary<RcpApproxF64>},
    {"sqrt", "", both, "rn rz rm rp ftz", "square root", decode<Sqrt, 1>},
    {"sqrt", "approx", "f32", "ftz", "square root (here: rounded to nearest)", decode_approx<Sqrt>},
    {"rsqrt", "approx", "f32", "ftz", "1 / square root", decode_approx<Rsqrt>},
    {"rsqrt", "approx", "f64", "ftz", "1 / square root", decode_f64_unary<Rsqrt>},
    {"ex2", "approx", "f32", "ftz", "2 to the power of a", decode_approx<Ex2>},
    {"lg2", "approx", "f32", "ftz", "logarithm to base 2", decode_approx<Lg2>},
    {"sin", "approx", "f32", "ftz", "sine", decode_approx<Sin>},
    {"cos", "approx", "f32", "ftz", "cosine", decode_approx<Cos>},
    {"tanh", "approx", "f32", "", "hyperbolic tangent", decode_approx<Tanh>},
    {"min", "", both, "ftz", "the smaller; a number before NaN", decode<Min, 2>},
    {"max", "", both, "ftz", "the larger; a number before NaN", decode<Max, 2>},
    {"min", "NaN", "f32", "ftz", "the smaller, or NaN", decode<MinNan, 2>},
    {"max", "NaN", "f32", "ftz", "the larger, or NaN", decode<MaxNan, 2>},
    {"min", "xorsign abs", "f32", "ftz", "the smaller magnitude, sign of a product", decode<XorSign<Min>, 2>},
    {"max", "xorsign abs", "f32", "ftz", "the larger magnitude, sign of a product", decode<XorSign<Max>, 2>},
    {"min", "NaN xorsign abs", "f32", "ftz", "the same, or NaN", decode<XorSign<MinNan>, 2>},
    {"max", "NaN xorsign abs", "f32", "ftz", "the same, or NaN", decode<XorSign<MaxNan>, 2>},
    {"neg", "", both, "ftz", "d = -a", decode_sign<Neg, 1>},
    {"abs", "", both, "ftz", "absolute value", decode_sign<Abs, 1>},
    {"copysign", "", both, "", "sign of a on b", decode_sign<CopySign, 2>},
    {"testp", "finite", both, "", "is finite", decode_testp<0>},
    {"testp", "infinite", both, "", "is an infinity", decode_testp<1>},
    {"testp", "number", both, "", "is not NaN", decode_testp<2>},
    {"testp", "notanumber", both, "", "is NaN", decode_testp<3>},
    {"testp", "normal", both, "", "is normal or zero", decode_testp<4>},
    {"testp", "subnormal", both, "", "is subnormal", decode_testp<5>},
};

}  // namespace

std::span<const OpcodeRow> float_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
