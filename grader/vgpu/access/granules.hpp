// The pieces of memory that an access touches, as racecheck and initcheck watch it.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/access/access.hpp"

namespace warpgrade::vgpu {

using Mark = std::uint64_t;  // 0: nothing; see shadow/marks.hpp

namespace mark {
inline constexpr Mark lane_bits = 31;
inline constexpr Mark lanes = 1 << 10;  // of several lanes; only the first one's number is kept
}  // namespace mark

// The granules that the lanes of one access touch, each once, relative to the first active lane's.
struct GranuleShape {
    struct Run {  // granules next to each other
        std::int64_t begin;
        std::uint32_t count;
        std::uint32_t who;  // index into `who` of the first
    };
    std::vector<Run> runs;
    std::vector<Mark> who;  // of each granule: its (first) lane, and mark::lanes if there are several
    bool overlap = false;   // lanes touch the same granule

    // Of lanes that access `bytes` each, with granules of 2^shift bytes. Addresses may be relative to anything.
    void learn(const Access& access, unsigned bytes, unsigned shift);
};

}  // namespace warpgrade::vgpu
