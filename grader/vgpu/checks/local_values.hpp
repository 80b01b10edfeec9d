// Which elements of its local arrays each lane has written, for initcheck. Lanes mostly access the same element of
// their arrays together, so each granule of local memory has one mask of lanes.
#pragma once

#include <cstdint>

#include "vgpu/checks/watch.hpp"

namespace warpgrade::vgpu {

// Notes an access; `address`: each lane's place in its own local memory. Reports loads of what the lane has not
// written.
template <Op O>
void watch_local(Warp& w, const Insn& in, const Access& x, unsigned bytes, const Watching& how);

// A function begins: what the lanes' variables in [begin, begin + bytes) held is gone.
void forget_local(Warp& w, std::uint32_t begin, std::uint32_t bytes, std::uint32_t lanes);
// The call itself has written them.
void define_local(Warp& w, std::uint32_t begin, std::uint32_t bytes, std::uint32_t lanes);

}  // namespace warpgrade::vgpu
