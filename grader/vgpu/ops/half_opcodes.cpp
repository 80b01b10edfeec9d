// Arithmetic on f16, bf16 and their packed pairs. A register of pairs is 64 adjacent halves, so both use the same
// loops.
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/half.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

using half = std::uint16_t;

// Functors on floats that hold halves. Results are correct after one more rounding to `Format`.
struct Add {
    template <class Format>
    static float apply(float a, float b) {
        return a + b;
    }
};
struct Sub {
    template <class Format>
    static float apply(float a, float b) {
        return a - b;
    }
};
struct Mul {
    template <class Format>
    static float apply(float a, float b) {
        return Format::product_fits_float ? a * b : round_to_odd(static_cast<double>(a) * b);
    }
};
struct Fma {
    template <class Format>
    static float apply(float a, float b, float c) {
        return fma_to_odd(a, b, c);
    }
};
struct Ex2 {
    template <class Format>
    static float apply(float a) {
        return static_cast<float>(approx_exp2(a));
    }
};
struct Tanh {
    template <class Format>
    static float apply(float a) {
        return static_cast<float>(approx_tanh(a));
    }
};

namespace form {
constexpr std::uint16_t ftz = 1, saturate = 2, relu = 4;
}

// The number of halves in a register of all lanes, with one or two per lane.
template <unsigned Width>
constexpr unsigned halves = warp_size* Width;

template <unsigned Width>
void store(Warp& w, Ref d, const half* result, std::uint32_t mask) {
    using R = std::conditional_t<Width == 1, std::uint16_t, std::uint32_t>;
    R values[warp_size];
    std::memcpy(values, result, sizeof values);
    for_lanes<false>(operand<R>(w, d), mask, [&](unsigned l) { return values[l]; });
}

template <class Format, unsigned Width>
void load(const Warp& w, Ref ref, bool ftz, float* values) {
    half bits[halves<Width>];
    std::memcpy(bits, operand<half>(w, ref), sizeof bits);
    if (ftz)
        for (half& h : bits) h = flush_half<Format>(h);
    for (unsigned i = 0; i < halves<Width>; ++i) values[i] = Format::to_float(bits[i]);
}

template <class Format, class Op, unsigned Arity, unsigned Width>
void run_half(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr unsigned n = halves<Width>;
    float a[n], b[n], c[n];
    const bool ftz = in.form & form::ftz;
    load<Format, Width>(w, in.a, ftz, a);
    if constexpr (Arity > 1) load<Format, Width>(w, in.b, ftz, b);
    if constexpr (Arity > 2) load<Format, Width>(w, in.c, ftz, c);
    for (unsigned i = 0; i < n; ++i) {
        if constexpr (Arity == 1)
            a[i] = Op::template apply<Format>(a[i]);
        else if constexpr (Arity == 2)
            a[i] = Op::template apply<Format>(a[i], b[i]);
        else
            a[i] = Op::template apply<Format>(a[i], b[i], c[i]);
    }
    if (in.form & form::saturate)
        for (float& v : a) v = saturate(v);
    if (in.form & form::relu)
        for (float& v : a) v = v <= 0 ? 0.0f : v;
    half r[n];
    if (ftz)  // including results that round to the smallest normal number but would not with an unbounded exponent
        for (float& v : a) v = std::fabs(v) < Format::flushed_below ? std::copysign(0.0f, v) : v;
    for (unsigned i = 0; i < n; ++i) r[i] = Format::from_float(a[i]);
    store<Width>(w, in.d, r, mask);
}

// Calls f<Format, Width>() for f16, f16x2, bf16, bf16x2.
template <class F>
void by_half_type(InsnBuilder& b, ptx::Type t, F&& f) {
    switch (t) {
        case ptx::Type::F16:
            return f.template operator()<F16, 1>();
        case ptx::Type::F16x2:
            return f.template operator()<F16, 2>();
        case ptx::Type::BF16:
            return f.template operator()<BF16, 1>();
        case ptx::Type::BF16x2:
            return f.template operator()<BF16, 2>();
        default:
            b.refuse("type not supported here");
    }
}

template <unsigned Arity>
void half_operands(InsnBuilder& b) {
    b.expect_operands(Arity + 1, Arity + 1);
    const ptx::Type t = b.type();
    b.out.d = b.destination(0, ptx::size_of(t));
    b.out.a = b.source(1, t);
    if constexpr (Arity > 1) b.out.b = b.source(2, t);
    if constexpr (Arity > 2) b.out.c = b.source(3, t);
}

template <class Op, unsigned Arity>
void decode_half(InsnBuilder& b) {
    half_operands<Arity>(b);
    b.out.form = static_cast<std::uint16_t>((b.has("ftz") ? form::ftz : 0) | (b.has("sat") ? form::saturate : 0) |
                                            (b.has("relu") ? form::relu : 0));
    by_half_type(b, b.type(), [&]<class Format, unsigned Width>() {
        b.handlers({run_half<Format, Op, Arity, Width>, run_half<Format, Op, Arity, Width>});
    });
}

template <class Format>
bool is_nan(half h) {
    return (h & (Format::sign - 1)) > Format::infinity;
}
// The hardware's neg and abs are additions of zero: a NaN becomes the canonical one. Sign operations, minimum and
// maximum work on the bits.
struct Neg {
    template <class Format>
    static half apply(half a) {
        return is_nan<Format>(a) ? half_nan : static_cast<half>(a ^ Format::sign);
    }
};
struct Abs {
    template <class Format>
    static half apply(half a) {
        return is_nan<Format>(a) ? half_nan : static_cast<half>(a & ~Format::sign);
    }
};

template <class Format>
std::int32_t ordered(half h) {  // integers in the order of the numbers; -0 comes before +0
    return h & Format::sign ? -1 - static_cast<std::int32_t>(h & (Format::sign - 1)) : static_cast<std::int32_t>(h);
}

// A NaN loses against a number unless .NaN is given.
template <bool Largest, bool Nan, bool XorSign>
struct Extremum {
    template <class Format>
    static half apply(half a, half b) {
        const bool a_nan = is_nan<Format>(a), b_nan = is_nan<Format>(b);
        const std::uint32_t sign = XorSign ? (a ^ b) & Format::sign : 0;
        if (XorSign) {
            a = static_cast<half>(a & ~Format::sign);
            b = static_cast<half>(b & ~Format::sign);
        }
        const bool first = Largest ? ordered<Format>(a) > ordered<Format>(b) : ordered<Format>(a) < ordered<Format>(b);
        half r = first ? a : b;
        r = b_nan ? a : r;
        r = a_nan ? b : r;
        const bool nan = Nan ? a_nan || b_nan : a_nan && b_nan;
        return nan ? half_nan : static_cast<half>(r | sign);
    }
};

template <class Format, class Op, unsigned Arity, unsigned Width>
void run_bits(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr unsigned n = halves<Width>;
    half a[n], b[n];
    std::memcpy(a, operand<half>(w, in.a), sizeof a);
    if constexpr (Arity > 1) std::memcpy(b, operand<half>(w, in.b), sizeof b);
    if (in.form & form::ftz) {
        for (half& h : a) h = flush_half<Format>(h);
        if constexpr (Arity > 1)
            for (half& h : b) h = flush_half<Format>(h);
    }
    for (unsigned i = 0; i < n; ++i) {
        if constexpr (Arity == 1)
            a[i] = Op::template apply<Format>(a[i]);
        else
            a[i] = Op::template apply<Format>(a[i], b[i]);
    }
    store<Width>(w, in.d, a, mask);
}

template <class Op, unsigned Arity>
void decode_bits(InsnBuilder& b) {
    half_operands<Arity>(b);
    b.out.form = b.has("ftz") ? form::ftz : 0;
    by_half_type(b, b.type(), [&]<class Format, unsigned Width>() {
        b.handlers({run_bits<Format, Op, Arity, Width>, run_bits<Format, Op, Arity, Width>});
    });
}

template <bool Largest>
void decode_extremum(InsnBuilder& b) {
    if (b.has("xorsign") != b.has("abs")) b.refuse("xorsign and abs stand together");
    const bool nan = b.has("NaN"), sign = b.has("xorsign");
    if (nan && sign) return decode_bits<Extremum<Largest, true, true>, 2>(b);
    if (nan) return decode_bits<Extremum<Largest, true, false>, 2>(b);
    if (sign) return decode_bits<Extremum<Largest, false, true>, 2>(b);
    return decode_bits<Extremum<Largest, false, false>, 2>(b);
}

constexpr std::string_view both = "f16 f16x2 bf16 bf16x2";
constexpr OpcodeRow rows[] = {
    {"add", "", both, "rn ftz sat", "d = a + b", decode_half<Add, 2>},
    {"sub", "", both, "rn ftz sat", "d = a - b", decode_half<Sub, 2>},
    {"mul", "", both, "rn ftz sat", "d = a * b", decode_half<Mul, 2>},
    {"fma", "", both, "rn ftz sat relu", "d = a * b + c, rounded once", decode_half<Fma, 3>},
    {"neg", "", both, "ftz", "d = -a", decode_bits<Neg, 1>},
    {"abs", "", both, "ftz", "absolute value", decode_bits<Abs, 1>},
    {"min", "", both, "ftz NaN xorsign abs", "the smaller; a number before NaN, or NaN", decode_extremum<false>},
    {"max", "", both, "ftz NaN xorsign abs", "the larger; a number before NaN, or NaN", decode_extremum<true>},
    {"ex2", "approx", both, "ftz", "2 to the power of a", decode_half<Ex2, 1>},
    {"tanh", "approx", both, "", "hyperbolic tangent", decode_half<Tanh, 1>},
};

}  // namespace

std::span<const OpcodeRow> half_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
