#include "vgpu/resolve.hpp"

#include <fmt/format.h>

namespace warpgrade::vgpu {

using ptx::Space;

void raise_access(const Warp& w, const Insn& in, const Access& x, Space space, Op op, unsigned bytes) {
    namespace error = device::error;
    constexpr const char* op_names[] = {"load", "store", "atomic"};
    const auto space_name = [&] {
        switch (space) {
            case Space::Shared:
                return "shared";
            case Space::Local:
                return "local";
            case Space::Param:
                return "parameter";
            default:
                return "global";
        }
    }();
    const auto what =
        fmt::format("{} {} of {} byte{}", space_name, op_names[static_cast<int>(op)], bytes, bytes == 1 ? "" : "s");
    unsigned lane = static_cast<unsigned>(std::countr_zero(x.mask));
    const auto at = [&](auto&& wrong) {
        for (std::uint32_t m = x.mask; m; m &= m - 1) {
            const auto l = static_cast<unsigned>(std::countr_zero(m));
            if (wrong(x.address[l])) {
                lane = l;
                return true;
            }
        }
        return false;
    };
    const auto size = space == Space::Shared  ? w.block->shared_bytes
                      : space == Space::Local ? std::uint64_t{w.local_stride}
                                              : w.executor->param_bytes;
    const GlobalMemory& memory = *w.executor->global;
    const bool outside = at([&](std::uint64_t a) {
        if (space != Space::Global) return !fits(a, a, 0, size, bytes);
        const Allocation* found = memory.find(a);
        return !found || !found->holds(a, bytes);
    });
    if (outside) {
        const std::uint64_t a = x.address[lane];
        const std::string where =
            space == Space::Global ? fmt::format("at {:#x}: {}", a, memory.describe(a))
            : a >= size
                ? fmt::format("at offset {}: {} bytes past the end of the {} bytes there are", a, a - size, size)
                : fmt::format("at offset {}: reaches beyond the {} bytes there are", a, size);
        raise_at(w, &in, error::illegal_address, what + " out of bounds " + where, lane);
    }
    if (at([&](std::uint64_t a) { return a % bytes != 0; }))
        raise_at(w, &in, error::misaligned_address,
                 fmt::format("misaligned {}: address {:#x} is not a multiple of {}", what, x.address[lane], bytes),
                 lane);
    raise_at(w, &in, error::illegal_address,
             fmt::format("{} to read-only memory: {}", what, memory.describe(x.address[lane])), lane);
}

}  // namespace warpgrade::vgpu
