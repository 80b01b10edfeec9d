// The plain forms of opcodes, made from functors: handlers for each type, and the decoding of their operands.
#pragma once

#include <cstdint>

#include "vgpu/code/opcodes.hpp"
#include "vgpu/state/lanes.hpp"

namespace warpgrade::vgpu {

// Calls a template for an integer or float type.
#define WG_CASE(T, ctype) \
    case ptx::Type::T:    \
        return f.template operator()<ctype>();

template <class F>
auto by_type(InsnBuilder& b, ptx::Type t, F&& f) {
    switch (t) {
        // clang-format off
        WG_CASE(U16, std::uint16_t) WG_CASE(B16, std::uint16_t) WG_CASE(S16, std::int16_t)
        WG_CASE(U32, std::uint32_t) WG_CASE(B32, std::uint32_t) WG_CASE(S32, std::int32_t)
        WG_CASE(U64, std::uint64_t) WG_CASE(B64, std::uint64_t) WG_CASE(S64, std::int64_t)
        default: b.refuse("type not supported here");
        // clang-format on
    }
}

template <class F>
auto by_float_type(InsnBuilder& b, ptx::Type t, F&& f) {
    switch (t) { WG_CASE(F32, float) WG_CASE(F64, double) default : b.refuse("type not supported here"); }
}
#undef WG_CASE

// The plain forms: destination and sources all have the operation's integer or bit type.
template <class Op>
void decode_unary(InsnBuilder& b) {
    b.expect_operands(2, 2);
    by_type(b, b.type(), [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, b.type());
        b.handlers(Unary<Op, T, T>::handlers);
    });
}

template <class Op>
void decode_binary(InsnBuilder& b) {
    b.expect_operands(3, 3);
    by_type(b, b.type(), [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, b.type());
        b.out.b = b.source(2, b.type());
        b.handlers(Binary<Op, T, T>::handlers);
    });
}

template <class Op>
void decode_ternary(InsnBuilder& b) {
    b.expect_operands(4, 4);
    by_type(b, b.type(), [&]<class T>() {
        b.out.d = b.destination(0, sizeof(T));
        b.out.a = b.source(1, b.type());
        b.out.b = b.source(2, b.type());
        b.out.c = b.source(3, b.type());
        b.handlers(Ternary<Op, T, T>::handlers);
    });
}

}  // namespace warpgrade::vgpu
