// Loops over the 32 lanes of a warp, in a form that compilers turn into SIMD code, and handlers made from them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vgpu/code/mask.hpp"
#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

// d[l] = f(l) for the lanes in the mask. `f` is evaluated for all lanes, so it must be harmless in lanes that are off.
template <bool Full, class D, class F>
inline void for_lanes(D* d, std::uint32_t mask, F&& f) {
    if constexpr (Full) {
#pragma GCC ivdep
        for (unsigned l = 0; l < warp_size; ++l) d[l] = f(l);
    } else {
#pragma GCC ivdep
        for (unsigned l = 0; l < warp_size; ++l) d[l] = lane_on(mask, l) ? f(l) : d[l];
    }
}

// Bit l of the result is f(l). `f` is evaluated for all lanes.
template <class F>
inline std::uint32_t ballot(F&& f) {
    std::uint32_t result = 0;
#if defined(__AVX2__)
    alignas(64) std::uint32_t bits[warp_size];
#pragma GCC ivdep
    for (unsigned l = 0; l < warp_size; ++l) bits[l] = f(l) ? ~0u : 0u;
    for (unsigned g = 0; g < 4; ++g) {
        const __m256i v = _mm256_load_si256(reinterpret_cast<const __m256i*>(bits + 8 * g));
        result |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(v))) << (8 * g);
    }
#else
    for (unsigned l = 0; l < warp_size; ++l) result |= static_cast<std::uint32_t>(f(l) ? 1u : 0u) << l;
#endif
    return result;
}

// A lane of a 128-bit register.
struct Wide {
    std::uint64_t low, high;
    bool operator==(const Wide&) const = default;
};

// Handlers made from a functor type with `static D apply(A…)`.
template <class Op, class D, class A>
struct Unary {
    template <bool Full>
    static void run(Warp& w, const Insn& in, std::uint32_t mask) {
        D* d = operand<D>(w, in.d);
        const A* a = operand<A>(w, in.a);
        for_lanes<Full>(d, mask, [=](unsigned l) { return static_cast<D>(Op::apply(a[l])); });
    }
    static constexpr Handlers handlers{run<true>, run<false>};
};

template <class Op, class D, class A, class B = A>
struct Binary {
    template <bool Full>
    static void run(Warp& w, const Insn& in, std::uint32_t mask) {
        D* d = operand<D>(w, in.d);
        const A* a = operand<A>(w, in.a);
        const B* b = operand<B>(w, in.b);
        for_lanes<Full>(d, mask, [=](unsigned l) { return static_cast<D>(Op::apply(a[l], b[l])); });
    }
    static constexpr Handlers handlers{run<true>, run<false>};
};

template <class Op, class D, class A, class B = A, class C = A>
struct Ternary {
    template <bool Full>
    static void run(Warp& w, const Insn& in, std::uint32_t mask) {
        D* d = operand<D>(w, in.d);
        const A* a = operand<A>(w, in.a);
        const B* b = operand<B>(w, in.b);
        const C* c = operand<C>(w, in.c);
        for_lanes<Full>(d, mask, [=](unsigned l) { return static_cast<D>(Op::apply(a[l], b[l], c[l])); });
    }
    static constexpr Handlers handlers{run<true>, run<false>};
};

}  // namespace warpgrade::vgpu
