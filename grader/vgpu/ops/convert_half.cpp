// cvt with half types on either side, packed pairs, tf32 and the 8-bit formats. Everything goes through float, rounded
// to odd on the way in, so that only the second rounding has an effect.
#include "vgpu/ops/convert.hpp"
#include "vgpu/ops/half.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

using namespace conversion;

// Bits of form besides those of conversion::form:
constexpr std::uint16_t relu = 1 << 9, satfinite = 1 << 10, integral_result = 1 << 11;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;

// The source lanes as floats: exact, or rounded to odd.
template <class S>
void load_floats(const Warp& w, const Insn& in, float* v) {
    const unsigned log2_bytes = (in.form >> form::source_shift) & 3;
    if constexpr (is_half<S>) {
        const auto* a = operand<std::uint16_t>(w, in.a);
        for (unsigned l = 0; l < warp_size; ++l) v[l] = S::to_float(a[l]);
    } else if constexpr (std::is_same_v<S, float>) {
        std::memcpy(v, operand<float>(w, in.a), sizeof(float) * warp_size);
    } else if constexpr (std::is_same_v<S, double>) {
        const auto* a = operand<double>(w, in.a);
        for (unsigned l = 0; l < warp_size; ++l) v[l] = round_to_odd(a[l]);
    } else {
        S cut[warp_size] = {};
        const S* a = narrow<S>(w, in.a, log2_bytes, cut);
        for (unsigned l = 0; l < warp_size; ++l) v[l] = integer_to_odd(a[l]);
    }
    if (in.form & form::ftz)
        for (unsigned l = 0; l < warp_size; ++l) v[l] = flush(v[l]);
}

// The NaN of the narrow format for a float NaN: only one that comes from f64 keeps sign and payload.
template <class Format, class S>
std::uint16_t narrow_nan(const Warp& w, const Insn& in, unsigned lane) {
    if constexpr (!std::is_same_v<S, double>) return half_nan;
    const auto bits = operand<std::uint64_t>(w, in.a)[lane];
    constexpr unsigned shift = 52 - Format::mantissa_bits;
    constexpr std::uint32_t quiet_bit = 1u << (Format::mantissa_bits - 1);
    return static_cast<std::uint16_t>((bits >> 63 ? Format::sign : 0) | Format::infinity | quiet_bit |
                                      ((bits >> shift) & (quiet_bit - 1)));
}

// Converts a float to the narrow format's bits, with all modifiers of the instruction.
template <class Format>
std::uint16_t to_half(float v, std::uint16_t how) {
    const unsigned mode = how & 3;
    if (how & integral_result) v = to_integral(v, mode);
    if (how & form::sat) v = saturate(v);
    if (how & relu) v = v <= 0 ? 0.0f : v;
    std::uint32_t r = mode == 0 ? Format::from_float(v) : Format::round(v, static_cast<Rounding>(mode));
    if ((how & satfinite) && (r & (Format::sign - 1)) == Format::infinity) r -= 1;
    return static_cast<std::uint16_t>(r);
}

template <class Format, class S>
void run_to_half(Warp& w, const Insn& in, std::uint32_t mask) {
    float v[warp_size];
    load_floats<S>(w, in, v);
    for_lanes<false>(operand<std::uint16_t>(w, in.d), mask, [&](unsigned l) {
        const bool nan = v[l] != v[l] && !(in.form & form::sat);
        return nan ? narrow_nan<Format, S>(w, in, l) : to_half<Format>(v[l], in.form);
    });
}

template <class Format, class D>
D widened_nan(std::uint16_t h) {
    if constexpr (std::is_same_v<D, float>) {
        return std::bit_cast<float>(std::uint32_t{h} << 16);
    } else {
        const std::uint64_t payload = h & ((1u << Format::mantissa_bits) - 1);
        return std::bit_cast<double>((static_cast<std::uint64_t>(h >> 15) << 63) | 0x7ff8000000000000u |
                                     (payload << (52 - Format::mantissa_bits)));
    }
}

template <class Format, class D>
void run_from_half(Warp& w, const Insn& in, std::uint32_t mask) {
    float v[warp_size];
    load_floats<Format>(w, in, v);
    D result[warp_size];
    const bool sat = in.form & form::sat, integral = in.form & integral_result;
    for (unsigned l = 0; l < warp_size; ++l)
        result[l] = convert<D, float>(v[l], in.form & 3, in.form & form::ftz, sat, integral);
    // Widening keeps the payload of a NaN, except from f16 to f32.
    if constexpr (std::is_same_v<D, double> || (std::is_same_v<D, float> && std::is_same_v<Format, BF16>)) {
        const auto* a = operand<std::uint16_t>(w, in.a);
        for (unsigned l = 0; l < warp_size; ++l)
            if (v[l] != v[l] && !sat) result[l] = widened_nan<Format, D>(a[l]);
    }
    widen(w, in.d, (in.form >> form::destination_shift) & 3, result, mask);
}

// Two floats to a packed pair: the first operand is the upper half.
template <class Format>
void run_pack_halves(Warp& w, const Insn& in, std::uint32_t mask) {
    const float *a = operand<float>(w, in.a), *b = operand<float>(w, in.b);
    for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, [&](unsigned l) {
        return (static_cast<std::uint32_t>(to_half<Format>(a[l], in.form)) << 16) | to_half<Format>(b[l], in.form);
    });
}

template <class Format>
std::uint32_t to_eighth(float v, std::uint16_t how) {
    return Format::round_clamped((how & relu) && v <= 0 ? 0.0f : v);
}

template <class Format, bool FromHalves>
void run_pack_bytes(Warp& w, const Insn& in, std::uint32_t mask) {
    for_lanes<false>(operand<std::uint16_t>(w, in.d), mask, [&](unsigned l) {
        float high = 0, low = 0;
        if constexpr (FromHalves) {
            const std::uint32_t pair = operand<std::uint32_t>(w, in.a)[l];
            high = F16::to_float(static_cast<std::uint16_t>(pair >> 16));
            low = F16::to_float(static_cast<std::uint16_t>(pair));
        } else {
            high = operand<float>(w, in.a)[l];
            low = operand<float>(w, in.b)[l];
        }
        return static_cast<std::uint16_t>((to_eighth<Format>(high, in.form) << 8) | to_eighth<Format>(low, in.form));
    });
}

template <class Format>
void run_unpack_bytes(Warp& w, const Insn& in, std::uint32_t mask) {
    const auto* a = operand<std::uint16_t>(w, in.a);
    for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, [&](unsigned l) {
        const std::uint32_t high = to_half<F16>(Format::widen(a[l] >> 8), in.form);
        return (high << 16) | to_half<F16>(Format::widen(a[l] & 0xffu), in.form);
    });
}

// tf32 is a float with 10 fraction bits. rna: to nearest, ties away from zero.
void run_tf32(Warp& w, const Insn& in, std::uint32_t mask) {
    constexpr std::uint32_t dropped = 0x1fff;
    const auto* a = operand<std::uint32_t>(w, in.a);
    for_lanes<false>(operand<std::uint32_t>(w, in.d), mask, [&](unsigned l) {
        std::uint32_t bits = a[l];
        const std::uint32_t magnitude = bits & 0x7fffffffu;
        if ((in.form & relu) && (bits >> 31) && magnitude <= 0x7f800000u) bits = 0;
        if (magnitude > 0x7f800000u) return (in.form & 7) == Nearest ? bits & ~dropped : canonical_nan_bits & ~dropped;
        if (magnitude == 0x7f800000u) return in.form & satfinite ? (bits & 0x80000000u) | 0x7f7fe000u : bits;
        if ((in.form & 7) == Nearest) bits += 0x1000;                      // rna
        if ((in.form & 7) == Default) bits += 0xfff + ((bits >> 13) & 1);  // rn
        bits &= ~dropped;
        if ((in.form & satfinite) && (bits & 0x7fffffffu) == 0x7f800000u) bits -= dropped + 1;
        return bits;
    });
}

std::uint16_t common_form(InsnBuilder& b) {
    bool integral = false;
    const unsigned mode = rounding_mode(b, &integral);
    return static_cast<std::uint16_t>(mode | (b.has("ftz") ? form::ftz : 0) | (b.has("sat") ? form::sat : 0) |
                                      (b.has("relu") ? relu : 0) | (b.has("satfinite") ? satfinite : 0) |
                                      (integral ? integral_result : 0));
}

bool half_type(ptx::Type t) { return t == ptx::Type::F16 || t == ptx::Type::BF16; }

void decode_to_half(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const ptx::Type d = b.type(0), s = b.type(1);
    const unsigned from = register_log2(b, b.operand(1), s);
    b.out.d = b.destination(0, 2);
    b.out.a = b.source(1, s == ptx::Type::F32 || s == ptx::Type::F64 || half_type(s) ? s
                          : from == 1                                                ? ptx::Type::B16
                          : from == 2                                                ? ptx::Type::B32
                                                                                     : ptx::Type::B64);
    b.out.form = static_cast<std::uint16_t>(common_form(b) | (from << form::source_shift));
    const auto pick = [&]<class Format>() -> Handler {
        if (s == ptx::Type::F16) return run_to_half<Format, F16>;
        if (s == ptx::Type::BF16) return run_to_half<Format, BF16>;
        return by_any(b, s, []<class S>() { return Handler{run_to_half<Format, S>}; });
    };
    const Handler h = d == ptx::Type::F16 ? pick.operator()<F16>() : pick.operator()<BF16>();
    b.handlers({h, h});
}

void decode_from_half(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const ptx::Type d = b.type(0);
    const unsigned to = register_log2(b, b.operand(0), d);
    b.out.d = b.destination(0, 1u << to);
    b.out.a = b.source(1, b.type(1));
    b.out.form = static_cast<std::uint16_t>(common_form(b) | (to << form::destination_shift));
    const auto pick = [&]<class Format>() -> Handler {
        return by_any(b, d, []<class D>() { return Handler{run_from_half<Format, D>}; });
    };
    const Handler h = b.type(1) == ptx::Type::F16 ? pick.operator()<F16>() : pick.operator()<BF16>();
    b.handlers({h, h});
}

void decode_pack_halves(InsnBuilder& b) {
    b.expect_operands(3, 3);
    if (b.type(1) != ptx::Type::F32) b.refuse("packs two f32");
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::F32);
    b.out.b = b.source(2, ptx::Type::F32);
    b.out.form = common_form(b);
    const Handler h = b.type(0) == ptx::Type::F16x2 ? run_pack_halves<F16> : run_pack_halves<BF16>;
    b.handlers({h, h});
}

template <class Format>
void decode_eighths(InsnBuilder& b) {
    b.out.form = common_form(b);
    const bool first = b.in.modifiers.back() == "f32" || b.in.modifiers.back() == "f16x2";  // the source's type is last
    if (!first) {
        b.expect_operands(2, 2);
        b.out.d = b.destination(0, 4);
        b.out.a = b.source(1, ptx::Type::B16);
        return b.handlers({run_unpack_bytes<Format>, run_unpack_bytes<Format>});
    }
    const bool halves = b.type() == ptx::Type::F16x2;
    b.expect_operands(halves ? 2 : 3, halves ? 2 : 3);
    b.out.d = b.destination(0, 2);
    b.out.a = b.source(1, b.type());
    if (!halves) b.out.b = b.source(2, ptx::Type::F32);
    const Handler h = halves ? run_pack_bytes<Format, true> : run_pack_bytes<Format, false>;
    b.handlers({h, h});
}

void decode_tf32(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::F32);
    b.out.form = common_form(b);
    if (b.has("rna")) b.out.form |= Nearest;
    b.handlers({run_tf32, run_tf32});
}

// A cvt whose first type is not a half may still have a half source.
void decode_numeric(InsnBuilder& b) {
    if (b.type_count() != 2) b.refuse("needs two types");
    if (half_type(b.type(0))) return decode_to_half(b);
    if (half_type(b.type(1))) return decode_from_half(b);
    decode_cvt(b);
}

constexpr OpcodeRow rows[] = {
    {"cvt", "", "u8 s8 u16 s16 u32 s32 u64 s64 f32 f64 f16 bf16", "rn rz rm rp rni rzi rmi rpi ftz sat relu satfinite",
     "converts between types", decode_numeric, carries},
    {"cvt", "", "f16x2 bf16x2", "rn rz relu satfinite", "two floats to a packed pair", decode_pack_halves, carries},
    {"cvt", "tf32", "f32", "rna rn rz relu satfinite", "rounds to the 10 digits of tf32", decode_tf32, carries},
    {"cvt", "e4m3x2", "f32 f16x2", "rn satfinite relu", "pairs to and from 8-bit floats", decode_eighths<E4M3>,
     carries},
    {"cvt", "e5m2x2", "f32 f16x2", "rn satfinite relu", "pairs to and from 8-bit floats", decode_eighths<E5M2>,
     carries},
};

}  // namespace

std::span<const OpcodeRow> convert_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
