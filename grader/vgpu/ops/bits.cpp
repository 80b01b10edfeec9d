// Logic, shifts and bit fields.
#include <algorithm>
#include <bit>

#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/functors.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

struct Not {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(~a);
    }
};
struct Cnot {
    template <class T>
    static T apply(T a) {
        return a == 0 ? 1 : 0;
    }
};
// Shift counts are unsigned 32-bit numbers and clamp at the register's width.
struct Shl {
    template <class T>
    static T apply(T a, std::uint32_t n) {
        return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << (n & (8 * sizeof(T) - 1)));
    }
};
struct Shr {
    template <class T>
    static T apply(T a, std::uint32_t n) {
        constexpr std::uint32_t bits = 8 * sizeof(T);
        if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n >= bits ? bits - 1 : n));
        return n >= bits ? T{0} : static_cast<T>(a >> (n & (bits - 1)));
    }
};
struct ShfLeft {  // high word of (b:a) << n; wrap or clamp has been applied to n
    static std::uint32_t apply(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
        return static_cast<std::uint32_t>((((std::uint64_t{hi} << 32) | lo) << n) >> 32);
    }
};
struct ShfRight {
    static std::uint32_t apply(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
        return static_cast<std::uint32_t>(((std::uint64_t{hi} << 32) | lo) >> n);
    }
};
template <class Op>
struct Wrapped {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t n) { return Op::apply(a, b, n & 31); }
};
template <class Op>
struct Clamped {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
        return Op::apply(a, b, n > 32 ? 32 : n);
    }
};
struct Popc {
    template <class T>
    static std::uint32_t apply(T a) {
        return static_cast<std::uint32_t>(std::popcount(a));
    }
};
struct Clz {
    template <class T>
    static std::uint32_t apply(T a) {
        return static_cast<std::uint32_t>(std::countl_zero(a));
    }
};
struct Brev {
    template <class T>
    static T apply(T a) {
        T r = 0;
        for (unsigned i = 0; i < 8 * sizeof(T); ++i) r |= static_cast<T>(((a >> i) & 1) << (8 * sizeof(T) - 1 - i));
        return r;
    }
};
template <bool ShiftAmount>
struct Bfind {
    template <class T>
    static std::uint32_t apply(T a) {
        using U = std::make_unsigned_t<T>;
        U u = static_cast<U>(a);
        if (std::is_signed_v<T> && a < 0) u = static_cast<U>(~u);
        if (u == 0) return ~0u;
        const auto zeros = static_cast<std::uint32_t>(std::countl_zero(u));
        return ShiftAmount ? zeros : 8 * sizeof(T) - 1 - zeros;
    }
};
struct Bfe {
    template <class T>
    static T apply(T a, std::uint32_t pos, std::uint32_t len) {
        using U = std::make_unsigned_t<T>;
        constexpr std::uint32_t bits = 8 * sizeof(T);
        // For 32-bit fields the hardware uses the low eight bits of position and length, for 64-bit fields all of them.
        pos = bits == 64 ? std::min(pos, bits) : pos & 255;
        len = bits == 64 ? std::min(len, bits) : len & 255;
        if (len == 0) return 0;
        const std::uint32_t sign_at = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
        const bool sign = std::is_signed_v<T> && ((static_cast<U>(a) >> sign_at) & 1);
        U r = pos < bits ? static_cast<U>(static_cast<U>(a) >> pos) : U{0};
        const std::uint32_t kept = pos >= bits ? 0 : (len < bits - pos ? len : bits - pos);
        if (kept < bits) {
            const U low = kept == 0 ? U{0} : static_cast<U>(~U{0}) >> (bits - kept);
            r = sign ? static_cast<U>((r & low) | static_cast<U>(~low)) : static_cast<U>(r & low);
        }
        return static_cast<T>(r);
    }
};
struct Bfi {  // inserts a's low bits into b
    template <class T>
    static T apply(T a, T b, std::uint32_t pos, std::uint32_t len) {
        constexpr std::uint32_t bits = 8 * sizeof(T);
        if (bits == 32) {
            pos &= 255;
            len &= 255;
        }
        if (len == 0 || pos >= bits) return b;
        const T low = len >= bits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
        const T field = static_cast<T>(low << pos);
        return static_cast<T>((b & ~field) | ((a << pos) & field));
    }
};
struct Prmt {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
        const std::uint64_t bytes = (std::uint64_t{b} << 32) | a;
        std::uint32_t r = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const std::uint32_t s = (selector >> (4 * i)) & 15;
            std::uint32_t v = static_cast<std::uint8_t>(bytes >> (8 * (s & 7)));
            if (s & 8) v = v & 0x80 ? 0xff : 0;
            r |= v << (8 * i);
        }
        return r;
    }
};
// The modes of prmt: the selector's low two bits say where a group of four bytes begins.
enum class Pick : std::uint8_t { Forward, Backward, Replicate8, ClampLeft, ClampRight, Replicate16 };
template <Pick P>
struct PrmtMode {
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
        const std::uint32_t s = selector & 3;
        std::uint32_t picked = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            std::uint32_t byte = 0;
            switch (P) {
                case Pick::Forward:
                    byte = s + i;
                    break;
                case Pick::Backward:
                    byte = (s + 8 - i) & 7;
                    break;
                case Pick::Replicate8:
                    byte = s;
                    break;
                case Pick::ClampLeft:
                    byte = std::max(s, i);
                    break;
                case Pick::ClampRight:
                    byte = std::min(s, i);
                    break;
                case Pick::Replicate16:
                    byte = (s & 1) * 2 + (i & 1);
                    break;
            }
            picked |= byte << (4 * i);
        }
        return Prmt::apply(a, b, picked);
    }
};
template <bool Wrap>
struct Bmsk {
    static std::uint32_t apply(std::uint32_t pos, std::uint32_t len) {
        if (Wrap) {
            pos &= 31;
            len &= 31;
        }
        if (pos >= 32 || len == 0) return 0;
        const std::uint32_t low = len >= 32 ? ~0u : (1u << len) - 1;
        return low << pos;
    }
};

template <class Op>
void decode_predicate_logic(InsnBuilder& b) {
    b.out.d = b.predicate_destination(b.operand(0));
    bool negate_a = false, negate_b = false;
    b.out.a = b.predicate_source(b.operand(1), &negate_a);
    if (b.operand_count() > 2) b.out.b = b.predicate_source(b.operand(2), &negate_b);
    b.out.form = static_cast<std::uint16_t>((negate_a ? 1 : 0) | (negate_b ? 2 : 0));
    constexpr Handler run = [](Warp& w, const Insn& in, std::uint32_t mask) {
        const std::uint32_t x = predicate(w, in.a) ^ (in.form & 1 ? ~0u : 0u);
        std::uint32_t& d = predicate(w, in.d);
        if constexpr (std::is_same_v<Op, Not>) {
            d = (d & ~mask) | (~x & mask);
        } else {
            const std::uint32_t y = predicate(w, in.b) ^ (in.form & 2 ? ~0u : 0u);
            d = (d & ~mask) | (Op::apply(x, y) & mask);
        }
    };
    b.handlers({run, run});
}

template <class Op>
void decode_logic(InsnBuilder& b) {
    b.expect_operands(3, 3);
    if (b.type() == ptx::Type::Pred) return decode_predicate_logic<Op>(b);
    decode_binary<Op>(b);
}

void decode_not(InsnBuilder& b) {
    b.expect_operands(2, 2);
    if (b.type() == ptx::Type::Pred) return decode_predicate_logic<Not>(b);
    decode_unary<Not>(b);
}

template <class Op>
void decode_shift(InsnBuilder& b) {
    b.expect_operands(3, 3);
    by_type(b, b.type(), [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, b.type());
        b.out.b = b.source(2, ptx::Type::U32);
        b.handlers(Binary<Op, T, T, std::uint32_t>::handlers);
    });
}

template <class Op>
void decode_funnel(InsnBuilder& b) {
    b.expect_operands(4, 4);
    b.out.d = b.destination(0, 4);
    for (unsigned i = 0; i < 3; ++i) (i == 0 ? b.out.a : i == 1 ? b.out.b : b.out.c) = b.source(i + 1, ptx::Type::U32);
    b.handlers(Ternary<Op, std::uint32_t, std::uint32_t>::handlers);
}

template <class Op>
void decode_count(InsnBuilder& b) {  // result is always 32 bits wide
    b.expect_operands(2, 2);
    by_type(b, b.type(), [&]<class T>() {
        if constexpr (sizeof(T) >= 4) {
            b.out.d = b.destination(0, 4);
            b.out.a = b.source(1, b.type());
            using A =
                std::conditional_t<std::is_same_v<Op, Popc> || std::is_same_v<Op, Clz>, std::make_unsigned_t<T>, T>;
            b.handlers(Unary<Op, std::uint32_t, A>::handlers);
        } else {
            b.refuse("type not supported here");
        }
    });
}

void decode_bfe(InsnBuilder& b) {
    b.expect_operands(4, 4);
    by_type(b, b.type(), [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, b.type());
        b.out.b = b.source(2, ptx::Type::U32);
        b.out.c = b.source(3, ptx::Type::U32);
        b.handlers(Ternary<Bfe, T, T, std::uint32_t, std::uint32_t>::handlers);
    });
}

template <class T>
void run_bfi(Warp& w, const Insn& in, std::uint32_t mask) {
    T* d = operand<T>(w, in.d);
    const T *a = operand<T>(w, in.a), *b = operand<T>(w, in.b);
    const auto *pos = operand<std::uint32_t>(w, in.c), *len = operand<std::uint32_t>(w, in.e);
    for_active(mask, [&](unsigned l) { d[l] = Bfi::apply(a[l], b[l], pos[l], len[l]); });
}

void decode_bfi(InsnBuilder& b) {
    b.expect_operands(5, 5);
    const unsigned bytes = ptx::size_of(b.type());
    b.out.d = b.destination(0, bytes);
    b.out.a = b.source(1, b.type());
    b.out.b = b.source(2, b.type());
    b.out.c = b.source(3, ptx::Type::U32);
    b.out.e = b.source(4, ptx::Type::U32);
    if (bytes == 4)
        b.handlers({run_bfi<std::uint32_t>, run_bfi<std::uint32_t>});
    else
        b.handlers({run_bfi<std::uint64_t>, run_bfi<std::uint64_t>});
}

template <bool Wrap>
void decode_bmsk(InsnBuilder& b) {
    b.expect_operands(3, 3);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::U32);
    b.out.b = b.source(2, ptx::Type::U32);
    b.handlers(Binary<Bmsk<Wrap>, std::uint32_t, std::uint32_t>::handlers);
}

// lop3: any function of three bits, given by its truth table.
void run_lop3(Warp& w, const Insn& in, std::uint32_t mask) {
    auto* d = operand<std::uint32_t>(w, in.d);
    const auto *a = operand<std::uint32_t>(w, in.a), *b = operand<std::uint32_t>(w, in.b),
               *c = operand<std::uint32_t>(w, in.c);
    for_active(mask, [&](unsigned l) {
        std::uint32_t r = 0;
        for (unsigned i = 0; i < 8; ++i)
            if ((in.form >> i) & 1) r |= (i & 4 ? a[l] : ~a[l]) & (i & 2 ? b[l] : ~b[l]) & (i & 1 ? c[l] : ~c[l]);
        d[l] = r;
    });
}

void decode_lop3(InsnBuilder& b) {
    b.expect_operands(5, 5);
    const ptx::Operand& table = b.operand(4);
    if (table.kind != ptx::Operand::Kind::Immediate || table.imm > 255) b.refuse("the truth table must be 0 to 255");
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.out.b = b.source(2, ptx::Type::B32);
    b.out.c = b.source(3, ptx::Type::B32);
    b.out.form = static_cast<std::uint16_t>(table.imm);
    b.handlers({run_lop3, run_lop3});
}

constexpr std::string_view untyped = "pred b16 b32 b64", bits = "b16 b32 b64";
constexpr OpcodeRow rows[] = {
    {"and", "", untyped, "", "bitwise and", decode_logic<And>},
    {"or", "", untyped, "", "bitwise or", decode_logic<Or>},
    {"xor", "", untyped, "", "bitwise exclusive or", decode_logic<Xor>},
    {"not", "", untyped, "", "bitwise complement", decode_not},
    {"cnot", "", bits, "", "1 if a is 0, else 0", decode_unary<Cnot>},
    {"shl", "", bits, "", "shift left; 0 from the width on", decode_shift<Shl>},
    {"shr", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "", "shift right; signed types keep the sign",
     decode_shift<Shr>},
    {"shf", "l wrap", "b32", "", "funnel shift left", decode_funnel<Wrapped<ShfLeft>>},
    {"shf", "l clamp", "b32", "", "funnel shift left", decode_funnel<Clamped<ShfLeft>>},
    {"shf", "r wrap", "b32", "", "funnel shift right", decode_funnel<Wrapped<ShfRight>>},
    {"shf", "r clamp", "b32", "", "funnel shift right", decode_funnel<Clamped<ShfRight>>},
    {"popc", "", "b32 b64", "", "number of ones", decode_count<Popc>},
    {"clz", "", "b32 b64", "", "number of leading zeros", decode_count<Clz>},
    {"bfind", "", "u32 s32 u64 s64", "", "position of the highest significant bit", decode_count<Bfind<false>>},
    {"bfind", "shiftamt", "u32 s32 u64 s64", "", "shift that brings it to the top", decode_count<Bfind<true>>},
    {"brev", "", "b32 b64", "", "bits in reverse order", decode_unary<Brev>},
    {"bfe", "", "u32 s32 u64 s64", "", "extracts a bit field", decode_bfe, carries},
    {"bfi", "", "b32 b64", "", "inserts a bit field", decode_bfi, carries},
    {"bmsk", "wrap", "b32", "", "the same, of both operands modulo 32", decode_bmsk<true>},
    {"bmsk", "clamp", "b32", "", "mask of `len` bits from `pos`", decode_bmsk<false>},
    {"prmt", "", "b32", "", "picks four of eight bytes", decode_funnel<Prmt>, carries},
    {"prmt", "f4e", "b32", "", "four bytes forward from c", decode_funnel<PrmtMode<Pick::Forward>>, carries},
    {"prmt", "b4e", "b32", "", "four bytes backward from c", decode_funnel<PrmtMode<Pick::Backward>>, carries},
    {"prmt", "rc8", "b32", "", "byte c four times", decode_funnel<PrmtMode<Pick::Replicate8>>, carries},
    {"prmt", "ecl", "b32", "", "a's bytes, those below c clamped", decode_funnel<PrmtMode<Pick::ClampLeft>>, carries},
    {"prmt", "ecr", "b32", "", "a's bytes, those above c clamped", decode_funnel<PrmtMode<Pick::ClampRight>>, carries},
    {"prmt", "rc16", "b32", "", "half c twice", decode_funnel<PrmtMode<Pick::Replicate16>>, carries},
    {"lop3", "", "b32", "", "any logic function of three inputs", decode_lop3},
};

}  // namespace

std::span<const OpcodeRow> bit_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
