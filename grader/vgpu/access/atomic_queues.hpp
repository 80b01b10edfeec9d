// What atomics on global memory cost the slices of L2 that perform them: lanes that want the same word wait for each
// other. Measured on an H100 (tests/model/h100.md): some 512 bytes in a row are in the same slice; one slice performs
// one operation a cycle for each sector, on all its words, and an addition of floats takes 2.4 times as long if the one
// before it was on the same word.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/access/access.hpp"

namespace warpgrade::vgpu {

class AtomicQueues {
  public:
    struct Cost {
        std::uint32_t sectors = 0;
        std::uint32_t cycles = 0;  // summed over the sectors: the most lanes that want one word of it
    };
    // `combined`: where the lanes are on one word, one of them acts for all. `chained`: an addition of floats.
    Cost add(const Access& x, unsigned bytes, bool combined, bool chained);
    // Of the slice that works longest.
    [[nodiscard]] std::uint64_t busiest_cycles() const;

  private:
    static constexpr std::uint64_t slice_bytes = 512, tenths = 10, chained_tenths = 24;
    struct Slice {
        std::uint64_t tenths_of_cycles = 0;
        std::uint64_t last = 0;  // the word of its last operation
    };
    void perform(std::uint64_t word, std::uint32_t lanes, bool chained);

    std::array<Slice, 64> slices_{};
};

// The wavefronts of an atomic on shared memory. With its old value, each lane of the busiest bank takes one, and two if
// it compares and swaps; without, lanes on one word share it. An addition of floats is a loop of compare-and-swap,
// which counts as 12 for each lane.
struct MeetingLanes {
    bool combined = false, needs_old = true, adds_floats = false, swaps = false;
};
std::uint32_t shared_atomic_wavefronts(const Access& x, unsigned bytes, const MeetingLanes& how);

}  // namespace warpgrade::vgpu
