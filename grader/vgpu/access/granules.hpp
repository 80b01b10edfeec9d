// The pieces of memory that an access touches, as racecheck and initcheck see them.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/access/access.hpp"

namespace warpgrade::vgpu {

using Mark = std::uint64_t;  // 0: no access; see shadow/marks.hpp

namespace mark {
inline constexpr Mark lane_bits = 31;
inline constexpr Mark several_lanes = 1 << 10;  // set for several lanes; only the first one's number is kept
}  // namespace mark

// The granules that the lanes of one access touch, each once, relative to the first active lane's granule.
struct GranuleShape {
    struct Run {  // adjacent granules
        std::int64_t begin;
        std::uint32_t count;
        std::uint32_t who;  // index into `who` of the first granule
    };
    std::vector<Run> runs;
    std::vector<Mark> who;  // for each granule: its (first) lane, and mark::several_lanes if there are several
    bool overlap = false;   // lanes touch the same granule

    // Each lane accesses `bytes` bytes; granules have 2^shift bytes. Addresses may be relative to any base.
    void learn(const Access& access, unsigned bytes, unsigned shift);
};

}  // namespace warpgrade::vgpu
