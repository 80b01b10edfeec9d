// Which elements of its local arrays each lane has written, for initcheck. The lanes of a warp mostly access the same
// element at the same time, so each granule of local memory has one mask of lanes.
#pragma once

#include <cstdint>

#include "vgpu/checks/watch.hpp"

namespace warpgrade::vgpu {

// Notes an access and reports loads of elements that the lane has not written. `x` holds each lane's address in its own
// local memory.
template <Op O>
void watch_local(Warp& w, const Insn& in, const Access& x, unsigned bytes, const AccessTraits& how);

// A function begins: the old contents of the lanes' variables in [begin, begin + bytes) are undefined.
void forget_local(Warp& w, std::uint32_t begin, std::uint32_t bytes, std::uint32_t lanes);
// The call itself has written these bytes.
void define_local(Warp& w, std::uint32_t begin, std::uint32_t bytes, std::uint32_t lanes);

}  // namespace warpgrade::vgpu
