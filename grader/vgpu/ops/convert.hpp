// What all forms of cvt share: rounding modes, conversion of one number, and registers wider than the named types
// (sources are truncated, results extended).
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "vgpu/code/opcodes.hpp"
#include "vgpu/ops/float_math.hpp"
#include "vgpu/ops/forms.hpp"

namespace warpgrade::vgpu::conversion {

// form: bits 0–2 rounding (see Mode), bit 3 ftz, bit 4 sat, bits 5–6 log2 of the source register's bytes, bits 7–8 the
// same for the destination register.
enum Mode : std::uint16_t { Default = 0, Zero = 1, Down = 2, Up = 3, Nearest = 4, ToIntegral = 7 };
namespace form {
constexpr std::uint16_t mode = 7, ftz = 8, sat = 16;
constexpr unsigned source_shift = 5, destination_shift = 7;
}  // namespace form

template <class F>
F to_integral(F v, unsigned how) {
    switch (how) {
        case Zero:
            return std::trunc(v);
        case Down:
            return std::floor(v);
        case Up:
            return std::ceil(v);
        default:
            return std::nearbyint(v);
    }
}

template <class D, class S>
D convert(S v, unsigned how, bool ftz, bool sat, bool integral) {
    if constexpr (std::is_floating_point_v<S>)
        if (ftz) v = static_cast<S>(flush(v));
    if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
        if (!sat) return static_cast<D>(v);
        using Limits = std::numeric_limits<D>;
        if (std::cmp_less(v, Limits::min())) return Limits::min();
        if (std::cmp_greater(v, Limits::max())) return Limits::max();
        return static_cast<D>(v);
    } else if constexpr (std::is_integral_v<D>) {  // float to integer: rounds and clamps
        // A NaN gives 0, or only the top bit if one side has 64 bits.
        constexpr bool wide = sizeof(S) == 8 || sizeof(D) == 8;
        if (v != v) return wide ? static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1)) : D{0};
        const S r = to_integral(v, how);
        // The limits as floats: max() may round up to a power of two, which is itself out of range.
        constexpr S low = static_cast<S>(std::numeric_limits<D>::min());
        constexpr S high = static_cast<S>(std::numeric_limits<D>::max());
        if (r <= low) return std::numeric_limits<D>::min();
        if (r >= high) return std::numeric_limits<D>::max();
        return static_cast<D>(r);
    } else if constexpr (std::is_integral_v<S>) {
        D r = static_cast<D>(v);
        return sat ? saturate(r) : r;
    } else {  // float to float
        D r = integral ? static_cast<D>(to_integral(v, how)) : static_cast<D>(opaque(v));
        // A value that is too small before rounding becomes zero.
        if constexpr (sizeof(D) == 4 && sizeof(S) == 8)
            if (ftz && std::fabs(v) < 0x1p-126) r = std::copysign(D{0}, r);
        if constexpr (sizeof(D) == 4)
            if (ftz) r = flush(r);
        if (sat) return saturate(r);
        // A NaN from f32 to f32 is the canonical one; those of f64 keep the sign and the payload that fits.
        if constexpr (sizeof(S) == 4 && sizeof(D) == 4) return canonical(r);
        if (v == v) return r;
        if constexpr (sizeof(S) == 8 && sizeof(D) == 8) {
            return quiet(v);
        } else if constexpr (sizeof(S) == 8) {
            const auto bits = std::bit_cast<std::uint64_t>(v);
            return std::bit_cast<float>(static_cast<std::uint32_t>((bits >> 32) & 0x80000000u) | 0x7fc00000u |
                                        static_cast<std::uint32_t>((bits >> 29) & 0x3fffffu));
        } else {
            const auto bits = std::bit_cast<std::uint32_t>(ftz ? canonical(v) : v);
            return std::bit_cast<double>((std::uint64_t{bits & 0x80000000u} << 32) | 0x7ff8000000000000u |
                                         (std::uint64_t{bits & 0x3fffffu} << 29));
        }
    }
}

template <class T>
const T* narrow(const Warp& w, Ref ref, unsigned log2_bytes, T* storage) {
    if ((1u << log2_bytes) == sizeof(T)) return operand<T>(w, ref);
    if constexpr (std::is_integral_v<T>) {
        const auto copy = [&](auto* source) {
            for (unsigned l = 0; l < warp_size; ++l) storage[l] = static_cast<T>(source[l]);
        };
        if (log2_bytes == 1)
            copy(operand<std::uint16_t>(w, ref));
        else if (log2_bytes == 2)
            copy(operand<std::uint32_t>(w, ref));
        else
            copy(operand<std::uint64_t>(w, ref));
    }
    return storage;
}

template <class T>
void widen(Warp& w, Ref ref, unsigned log2_bytes, const T* values, std::uint32_t mask) {
    const auto copy = [&](auto* d) {
        using R = std::remove_pointer_t<decltype(d)>;
        for_lanes<false>(d, mask, [=](unsigned l) { return static_cast<R>(values[l]); });
    };
    if constexpr (std::is_floating_point_v<T>) {
        for_lanes<false>(operand<T>(w, ref), mask, [=](unsigned l) { return values[l]; });
    } else if constexpr (std::is_signed_v<T>) {
        if (log2_bytes == 1)
            copy(operand<std::int16_t>(w, ref));
        else if (log2_bytes == 2)
            copy(operand<std::int32_t>(w, ref));
        else
            copy(operand<std::int64_t>(w, ref));
    } else {
        if (log2_bytes == 1)
            copy(operand<std::uint16_t>(w, ref));
        else if (log2_bytes == 2)
            copy(operand<std::uint32_t>(w, ref));
        else
            copy(operand<std::uint64_t>(w, ref));
    }
}

// log2 of the bytes of the register (or immediate) that holds an operand of type t.
inline unsigned register_log2(InsnBuilder& b, const ptx::Operand& o, ptx::Type t) {
    const unsigned type_bytes = ptx::size_of(t);
    unsigned bytes = b.register_bytes(o);
    if (bytes == 0) bytes = type_bytes < 2 ? 2 : type_bytes;  // an immediate
    const bool is_float = t == ptx::Type::F32 || t == ptx::Type::F64;
    if (bytes < type_bytes || (is_float && bytes != type_bytes)) b.refuse("register does not fit the type");
    return static_cast<unsigned>(std::countr_zero(bytes));
}

// The rounding mode of a cvt, and whether it rounds to an integral number.
inline unsigned rounding_mode(const InsnBuilder& b, bool* integral) {
    unsigned mode = Default;
    *integral = false;
    for (const auto& m : b.in.modifiers) {
        if (m == "rz" || m == "rzi") mode = Zero;
        if (m == "rm" || m == "rmi") mode = Down;
        if (m == "rp" || m == "rpi") mode = Up;
        if (m.size() == 3 && m[0] == 'r' && m[2] == 'i') *integral = true;
    }
    return mode;
}

// Calls f<T>() for an integer or float type.
template <class F>
Handler by_any(InsnBuilder& b, ptx::Type t, F&& f) {
    using ptx::Type;
    switch (t) {
        case Type::U8:
        case Type::B8:
            return f.template operator()<std::uint8_t>();
        case Type::S8:
            return f.template operator()<std::int8_t>();
        case Type::U16:
        case Type::B16:
            return f.template operator()<std::uint16_t>();
        case Type::S16:
            return f.template operator()<std::int16_t>();
        case Type::U32:
        case Type::B32:
            return f.template operator()<std::uint32_t>();
        case Type::S32:
            return f.template operator()<std::int32_t>();
        case Type::U64:
        case Type::B64:
            return f.template operator()<std::uint64_t>();
        case Type::S64:
            return f.template operator()<std::int64_t>();
        case Type::F32:
            return f.template operator()<float>();
        case Type::F64:
            return f.template operator()<double>();
        default:
            b.refuse("conversion with this type is not supported");
    }
}

void decode_cvt(InsnBuilder& b);  // between integers, f32 and f64

}  // namespace warpgrade::vgpu::conversion
