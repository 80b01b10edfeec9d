#include "vgpu/access/granules.hpp"

#include <algorithm>

#include "vgpu/code/mask.hpp"

namespace warpgrade::vgpu {

void GranuleShape::learn(const Access& x, unsigned bytes, unsigned shift) {
    struct Touch {
        std::int64_t granule;
        unsigned lane;
    };
    std::vector<Touch> touches;
    touches.reserve(warp_size);
    const unsigned leader = static_cast<unsigned>(std::countr_zero(x.mask));
    const auto granule = [&](std::uint64_t address) { return static_cast<std::int64_t>(address) >> shift; };
    const std::int64_t origin = granule(x.address[leader]);
    for_active(x.mask, [&](unsigned l) {
        const std::int64_t last = granule(x.address[l] + bytes - 1);
        for (std::int64_t g = granule(x.address[l]); g <= last; ++g) touches.push_back({g - origin, l});
    });
    // Most warps touch their granules in order.
    if (!std::ranges::is_sorted(touches, {}, &Touch::granule)) std::ranges::stable_sort(touches, {}, &Touch::granule);
    runs.clear();
    who.clear();
    overlap = false;
    for (std::size_t i = 0; i < touches.size(); ++i) {
        if (i && touches[i].granule == touches[i - 1].granule) {
            if (touches[i].lane != (who.back() & mark::lane_bits)) {
                who.back() |= mark::several_lanes;
                overlap = true;
            }
            continue;
        }
        if (runs.empty() || touches[i].granule != runs.back().begin + runs.back().count)
            runs.push_back({touches[i].granule, 0, static_cast<std::uint32_t>(who.size())});
        ++runs.back().count;
        who.push_back(touches[i].lane);
    }
}

}  // namespace warpgrade::vgpu
