// cvt between integers, f32 and f64. Half types and smaller ones: convert_half.cpp.
#include "vgpu/ops/convert.hpp"

namespace warpgrade::vgpu {
namespace {

using namespace conversion;

template <class D, class S>
void run_cvt(Warp& w, const Insn& in, std::uint32_t mask) {
    // NOLINTBEGIN: narrow() fills `cut` or returns something else, which clang's analyser does not see
    S cut[warp_size];
    D result[warp_size];
    const S* a = narrow<S>(w, in.a, (in.form >> form::source_shift) & 3, cut);
    const unsigned how = in.form & 3;
    const bool ftz = in.form & form::ftz, sat = in.form & form::sat, integral = in.value != 0;
    if (how != 0 && std::is_floating_point_v<D> && !integral) {  // directed rounding
        const RoundingScope scope(static_cast<Rounding>(how));
        for (unsigned l = 0; l < warp_size; ++l) {
            S v = a[l];
            if constexpr (std::is_floating_point_v<S>)
                v = opaque(v);
            else
                asm volatile("" : "+r"(v));
            const D r = convert<D, S>(v, how, ftz, sat, false);
            if constexpr (std::is_floating_point_v<D>)
                result[l] = opaque(r);
            else
                result[l] = r;
        }
    } else if (how == 0 && !ftz && !sat && !integral) {  // by far the most common case: let it vectorise
        for (unsigned l = 0; l < warp_size; ++l) result[l] = convert<D, S>(a[l], 0, false, false, false);
    } else {
        for (unsigned l = 0; l < warp_size; ++l) result[l] = convert<D, S>(a[l], how, ftz, sat, integral);
    }
    // NOLINTEND
    widen(w, in.d, (in.form >> form::destination_shift) & 3, result, mask);
}

}  // namespace

void conversion::decode_cvt(InsnBuilder& b) {
    b.expect_operands(2, 2);
    if (b.type_count() != 2) b.refuse("needs two types");
    const ptx::Type d = b.type(0), s = b.type(1);
    const unsigned from = register_log2(b, b.operand(1), s), to = register_log2(b, b.operand(0), d);
    b.out.d = b.destination(0, 1u << to);
    const ptx::Type container = s == ptx::Type::F32 || s == ptx::Type::F64 ? s
                                : from == 1                                ? ptx::Type::B16
                                : from == 2                                ? ptx::Type::B32
                                                                           : ptx::Type::B64;
    b.out.a = b.source(1, container);
    bool integral = false;
    const unsigned mode = rounding_mode(b, &integral);
    const bool to_float = d == ptx::Type::F32 || d == ptx::Type::F64;
    b.out.value = integral && to_float;
    b.out.form = static_cast<std::uint16_t>(mode | (b.has("ftz") ? form::ftz : 0) | (b.has("sat") ? form::sat : 0) |
                                            (from << form::source_shift) | (to << form::destination_shift));
    const Handler h =
        by_any(b, d, [&]<class D>() { return by_any(b, s, [&]<class S>() { return Handler{run_cvt<D, S>}; }); });
    b.handlers({h, h});
}

}  // namespace warpgrade::vgpu
