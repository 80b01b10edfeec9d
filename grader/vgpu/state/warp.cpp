#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

void run_guarded(Warp& warp, const Insn& in, std::uint32_t mask) {
    if (const std::uint32_t lanes = guard_lanes(warp, in, mask)) in.inner(warp, in, lanes);
}

}  // namespace warpgrade::vgpu
