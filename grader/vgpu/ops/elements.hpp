// What loads and stores of all spaces share: the bits of their forms, and how elements get into registers and out of
// them.
#pragma once

#include <cstring>

#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {

// form: bits 0–2 the number of elements, bit 3: counts as synchronisation (volatile, acquire …), bit 4: 32-bit address,
// bit 6: past L1, bit 7: constants, which have their own cache, bit 8: volatile, bit 9: relaxed or stronger, bit 10:
// releases earlier writes, bit 11: through the read-only cache. For function parameters see param_form.
namespace form {
constexpr std::uint16_t elements = 7, synchronises = 8, address32 = 16, past_l1 = 64, constant = 128;
constexpr std::uint16_t is_volatile = 256, atomic = 512, releases = 1024, read_only = 2048;
constexpr std::uint16_t indexed = 4096;  // constant memory at an address that the compiler does not know
}  // namespace form

template <class Mem, class Reg>
void load_elements(Warp& w, const Insn& in, std::byte* origin, const Access& x) {
    const unsigned n = in.form & form::elements;
    const Ref refs[4] = {in.d, in.b, in.c, in.e};
    for (unsigned i = 0; i < n; ++i) {
        Reg* d = operand<Reg>(w, refs[i]);
        if (x.mask == full_mask)
            gather<Mem, Reg, true>(d, origin, x, i * sizeof(Mem), full_mask);
        else
            gather<Mem, Reg, false>(d, origin, x, i * sizeof(Mem), x.mask);
    }
}

template <class Mem, class Reg>
void store_elements(Warp& w, const Insn& in, std::byte* origin, const Access& x) {
    const unsigned n = in.form & form::elements;
    const Ref refs[4] = {in.d, in.b, in.c, in.e};
    if (n == 1) {
        const Reg* s = operand<Reg>(w, refs[0]);
        if (x.mask == full_mask) return scatter<Mem, Reg, true>(s, origin, x, 0, full_mask);
        return scatter<Mem, Reg, false>(s, origin, x, 0, x.mask);
    }
    // Element by element within a lane, so that where two lanes overlap, the highest lane's whole vector remains.
    for_active(x.mask, [&](unsigned l) {
        for (unsigned i = 0; i < n; ++i) {
            const Mem v = static_cast<Mem>(operand<Reg>(w, refs[i])[l]);
            std::memcpy(host_place(origin, x.address[l] + i * sizeof(Mem)), &v, sizeof v);
        }
    });
}

// Calls f<Mem, Reg>() for the memory type and register width.
template <class F>
void by_memory_type(InsnBuilder& b, ptx::Type t, unsigned reg, F&& f) {
    using ptx::Type;
    using u8 = std::uint8_t;
    using u16 = std::uint16_t;
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    const auto widths = [&]<class Mem, class R16, class R32, class R64>() {
        if constexpr (sizeof(Mem) <= 2)
            if (reg == 2) return f.template operator()<Mem, R16>();
        if constexpr (sizeof(Mem) <= 4)
            if (reg == 4) return f.template operator()<Mem, R32>();
        if (reg == 8) return f.template operator()<Mem, R64>();
        b.refuse("register is narrower than the memory type");
    };
    switch (t) {
        case Type::B8:
        case Type::U8:
            return widths.template operator()<u8, u16, u32, u64>();
        case Type::S8:
            return widths.template operator()<std::int8_t, std::int16_t, std::int32_t, std::int64_t>();
        case Type::B16:
        case Type::U16:
        case Type::F16:
        case Type::BF16:
            return widths.template operator()<u16, u16, u32, u64>();
        case Type::S16:
            return widths.template operator()<std::int16_t, std::int16_t, std::int32_t, std::int64_t>();
        case Type::B32:
        case Type::U32:
        case Type::F32:
            return widths.template operator()<u32, u16, u32, u64>();
        case Type::S32:
            return widths.template operator()<std::int32_t, std::int16_t, std::int32_t, std::int64_t>();
        case Type::B64:
        case Type::U64:
        case Type::S64:
        case Type::F64:
            return widths.template operator()<u64, u16, u32, u64>();
        default:
            b.refuse("memory type not supported");
    }
}

}  // namespace warpgrade::vgpu
