// The lanes of a warp as a mask of 32 bits.
#pragma once

#include <bit>
#include <cstdint>

namespace warpgrade::vgpu {

inline bool lane_on(std::uint32_t mask, unsigned lane) { return (mask >> lane) & 1u; }

// Calls f(l) for the lanes in the mask only, in lane order; use it if f has side effects.
template <class F>
inline void for_active(std::uint32_t mask, F&& f) {
    for (; mask; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace warpgrade::vgpu
