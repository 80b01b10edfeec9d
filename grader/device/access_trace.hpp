// The first accesses of memory that a few warps of a launch made, for pictures of them. A device records them only when
// asked, and the same ones however many host threads it has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/diagnostic.hpp"

namespace warpgrade::device {

struct TracedAccess {
    enum class Kind : std::uint8_t { load, store, atomic };
    enum class Space : std::uint8_t { global, shared };
    Kind kind = Kind::load;
    Space space = Space::global;
    std::uint32_t bytes = 0;      // of one lane, with all elements of a vector
    std::uint32_t mask = 0;       // the active lanes
    std::uint32_t line = 0;       // index into AccessTrace::lines
    std::uint32_t array = 0;      // index into AccessTrace::arrays
    std::uint64_t block = 0;      // by its linear number
    std::uint32_t warp = 0;       // in the block
    std::uint32_t units = 0;      // sectors of global memory or wavefronts of shared memory, as counted
    std::uint32_t conflicts = 0;  // the wavefronts that are bank conflicts
    // Of each active lane's first byte, from the array's beginning.
    std::vector<std::uint64_t> offsets;
};

// An allocation of global memory or a variable of shared memory.
struct TracedArray {
    static constexpr std::uint64_t line_bytes = 128;
    MemoryPlace memory;
    std::uint64_t begin = 0;  // of a shared variable in the block's shared memory, else in a line of the cache
};

struct AccessTrace {
    // For each warp: of each line, kind and array, and of all of them.
    static constexpr std::size_t max_repeats = 8, max_warp_accesses = 96;
    static constexpr std::size_t max_launch_accesses = 3 * max_warp_accesses;  // of three warps

    std::vector<SourcePlace> lines;
    std::vector<TracedArray> arrays;
    std::vector<TracedAccess> accesses;  // by block and warp, then in the warp's order
};

}  // namespace warpgrade::device
