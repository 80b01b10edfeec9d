// Pairs of 16-bit integers, the byte-wise differences of the video instructions, 24-bit products, and similar.
#include <algorithm>

#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;

// Op on both halves of a word, as type T.
template <class Op, class T>
struct Paired {
    static u32 apply(u32 a, u32 b) {
        const auto low = static_cast<std::uint16_t>(Op::apply(static_cast<T>(a), static_cast<T>(b)));
        const auto high = static_cast<std::uint16_t>(Op::apply(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
        return low | (u32{high} << 16);
    }
};
struct Add {
    static s32 apply(s32 a, s32 b) { return a + b; }
};
template <bool Relu>
struct Min {
    static s32 apply(s32 a, s32 b) { return Relu ? std::max(std::min(a, b), 0) : std::min(a, b); }
};
template <bool Relu>
struct Max {
    static s32 apply(s32 a, s32 b) { return Relu ? std::max({a, b, 0}) : std::max(a, b); }
};

template <class Op, class T = u32>
void decode_word(InsnBuilder& b) {
    b.expect_operands(3, 3);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    b.handlers(Binary<Op, T, T>::handlers);
}

// vabsdiff2, vabsdiff4: |a - b| of each part; with .add, the sum of these and c.
template <class Part, bool Sum>
struct AbsoluteDifferences {
    static u32 apply(u32 a, u32 b, u32 c) {
        constexpr unsigned bits = 8 * sizeof(Part);
        u32 r = Sum ? c : 0;
        for (unsigned at = 0; at < 32; at += bits) {
            const s32 x = static_cast<Part>(a >> at), y = static_cast<Part>(b >> at);
            const auto difference = static_cast<u32>(x > y ? x - y : y - x);
            r += Sum ? difference : (difference & ((1u << bits) - 1)) << at;
        }
        return r;
    }
};

template <class Unsigned, bool Sum>
void decode_absolute_differences(InsnBuilder& b) {
    b.expect_operands(4, 4);
    if (b.type_count() != 3 || b.type(1) != b.type(2)) b.refuse("sources must be of one type");
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    b.out.c = b.source(3, ptx::Type::B32);
    b.handlers(b.type(1) == ptx::Type::S32
                   ? Ternary<AbsoluteDifferences<std::make_signed_t<Unsigned>, Sum>, u32, u32>::handlers
                   : Ternary<AbsoluteDifferences<Unsigned, Sum>, u32, u32>::handlers);
}

// Products of the low 24 bits: their low 32 bits, or bits 16 to 47.
template <bool Signed, bool High>
struct Mul24 {
    static std::int64_t cut(u32 v) {
        return Signed ? std::int64_t{static_cast<s32>(v << 8) >> 8} : std::int64_t{v & 0xffffffu};
    }
    static u32 apply(u32 a, u32 b) { return static_cast<u32>((cut(a) * cut(b)) >> (High ? 16 : 0)); }
    static u32 apply(u32 a, u32 b, u32 c) { return apply(a, b) + c; }
};

template <bool High, bool Mad>
void decode_mul24(InsnBuilder& b) {
    b.expect_operands(Mad ? 4 : 3, Mad ? 4 : 3);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    const bool is_signed = b.type() == ptx::Type::S32;
    if constexpr (Mad) {
        b.out.c = b.source(3, ptx::Type::B32);
        b.handlers(is_signed ? Ternary<Mul24<true, High>, u32, u32>::handlers
                             : Ternary<Mul24<false, High>, u32, u32>::handlers);
    } else {
        b.handlers(is_signed ? Binary<Mul24<true, High>, u32, u32>::handlers
                             : Binary<Mul24<false, High>, u32, u32>::handlers);
    }
}

// The position of the n-th set bit of a, starting at position b; downwards if n < 0. If n == 0, b itself if it is set.
struct Fns {
    static u32 apply(u32 a, u32 b, u32 offset) {
        const auto n = static_cast<s32>(offset);
        if (offset == 0x80000000u) return 0;  // the hardware overflows negating it
        if (b > 31) return ~0u;
        if (n == 0) return (a >> b) & 1 ? b : ~0u;
        const std::int64_t wanted = n > 0 ? std::int64_t{n} : -std::int64_t{n};
        std::int64_t seen = 0;
        for (s32 at = static_cast<s32>(b); at >= 0 && at<32; at += n> 0 ? 1 : -1)
            if (((a >> at) & 1) && ++seen == wanted) return static_cast<u32>(at);
        return ~0u;
    }
};

void decode_fns(InsnBuilder& b) {
    b.expect_operands(4, 4);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    b.out.c = b.source(3, ptx::Type::B32);
    b.handlers(Ternary<Fns, u32, u32>::handlers);
}

// The low b bits of a, sign- or zero-extended.
template <bool Signed, bool Wrap>
struct Szext {
    static u32 apply(u32 a, u32 b) {
        const u32 n = Wrap ? b & 31 : std::min(b, 32u);
        if (n == 0) return 0;
        const u32 moved = a << (32 - n);
        return Signed ? static_cast<u32>(static_cast<s32>(moved) >> (32 - n)) : moved >> (32 - n);
    }
};

template <bool Wrap>
void decode_szext(InsnBuilder& b) {
    b.type() == ptx::Type::S32 ? decode_word<Szext<true, Wrap>>(b) : decode_word<Szext<false, Wrap>>(b);
}

using u16 = std::uint16_t;
using s16 = std::int16_t;
constexpr std::string_view words = "u32 s32";
constexpr OpcodeRow rows[] = {
    {"add", "u16x2", "", "", "both halves", decode_word<Paired<Add, u16>>},
    {"add", "s16x2", "", "", "both halves", decode_word<Paired<Add, s16>>},
    {"min", "u16x2", "", "", "the smaller of both halves", decode_word<Paired<Min<false>, u16>>},
    {"min", "s16x2", "", "", "the smaller of both halves", decode_word<Paired<Min<false>, s16>>},
    {"max", "u16x2", "", "", "the larger of both halves", decode_word<Paired<Max<false>, u16>>},
    {"max", "s16x2", "", "", "the larger of both halves", decode_word<Paired<Max<false>, s16>>},
    {"min", "s16x2 relu", "", "", "the smaller of both halves, at least 0", decode_word<Paired<Min<true>, s16>>},
    {"max", "s16x2 relu", "", "", "the larger of both halves, at least 0", decode_word<Paired<Max<true>, s16>>},
    {"min", "relu", "s32", "", "the smaller, at least 0", decode_word<Min<true>, s32>},
    {"max", "relu", "s32", "", "the larger, at least 0", decode_word<Max<true>, s32>},
    {"vabsdiff2", "", words, "", "differences of half-words", decode_absolute_differences<u16, false>},
    {"vabsdiff2", "add", words, "", "sum of differences of half-words", decode_absolute_differences<u16, true>},
    {"vabsdiff4", "", words, "", "differences of bytes", decode_absolute_differences<std::uint8_t, false>},
    {"vabsdiff4", "add", words, "", "sum of differences of bytes", decode_absolute_differences<std::uint8_t, true>},
    {"mul24", "lo", words, "", "low half of a 24-bit product", decode_mul24<false, false>},
    {"mul24", "hi", words, "", "bits 16 to 47 of a 24-bit product", decode_mul24<true, false>},
    {"mad24", "lo", words, "", "mul24.lo plus c", decode_mul24<false, true>},
    {"mad24", "hi", words, "", "mul24.hi plus c", decode_mul24<true, true>},
    {"fns", "", "b32", "", "position of the n-th set bit", decode_fns},
    {"szext", "clamp", words, "", "extends the low b bits", decode_szext<false>},
    {"szext", "wrap", words, "", "extends the low b bits", decode_szext<true>},
};

}  // namespace

std::span<const OpcodeRow> packed_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
