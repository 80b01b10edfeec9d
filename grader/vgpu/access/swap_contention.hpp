// How often compare-and-swaps on shared memory try again because another warp of the block was faster. Here one warp
// loops until all its lanes have succeeded, and then the next; on a device all of them try at the same time, and a word
// lets one lane succeed in each turn. Measured on an H100: the turns of a warp are 0.8 to 0.93 times the lanes of the
// block that want the same word (tests/model/h100.md, "shared compare and swap").
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/access/access.hpp"
#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

class SwapContention {
  public:
    // A turn of a warp: its lanes at these addresses, of which some have succeeded.
    void add(std::uint32_t warp, const Access& x, std::uint32_t succeeded);

    struct Turns {
        std::uint64_t here = 0;     // of all warps
        std::uint64_t further = 0;  // that they would take if all tried at the same time
    };
    // Of the block that ends; the next one begins with nothing.
    Turns finish_block();

  private:
    struct WarpSwaps {
        std::uint64_t turns = 0;
        std::array<std::uint32_t, warp_size> successes{};  // by lane
    };
    std::vector<WarpSwaps> warps_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> words_;  // successes by address and warp
};

}  // namespace warpgrade::vgpu
