#include "vgpu/access/access_log.hpp"

#include <algorithm>

namespace warpgrade::vgpu {

void AccessLog::note(LoggedAccess which, const Access& access) {
    std::size_t& in_warp = of_warp_[{which.block, which.warp}];
    if (in_warp == device::AccessTrace::max_warp_accesses) return;
    std::size_t& repeats =
        of_line_[{which.block, which.warp, which.line, which.kind, which.space, which.base, which.bytes}];
    if (repeats == device::AccessTrace::max_repeats) return;
    ++in_warp, ++repeats;
    which.mask = access.mask;
    std::ranges::copy(access.address, which.address.begin());
    if (which.space == LoggedAccess::Space::shared) {
        const auto waves = access.wavefronts(which.bytes);
        which.units = waves.total, which.conflicts = waves.total - waves.ideal;
    } else {
        which.units = access.sectors(which.bytes);
    }
    accesses_.push_back(which);
}

std::vector<LoggedAccess> AccessLog::merge(std::span<const AccessLog* const> parts) {
    std::vector<LoggedAccess> all;
    for (const AccessLog* part : parts) all.insert(all.end(), part->accesses_.begin(), part->accesses_.end());
    // A warp runs on one host thread, so its accesses are in order already.
    std::ranges::stable_sort(all, {}, [](const LoggedAccess& one) { return WarpKey{one.block, one.warp}; });
    return all;
}

}  // namespace warpgrade::vgpu
