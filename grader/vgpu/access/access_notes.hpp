// The bytes of global memory that a launch read, wrote and changed atomically. The order of streams needs them (see
// device/stream_order.hpp); for a program with only one stream nothing is noted.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "device/analysis.hpp"
#include "vgpu/access/access.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

class AccessNotes {
  public:
    // The number of pieces of one allocation that a launch distinguishes. Beyond it, the pieces that are nearest to
    // each other are joined.
    static constexpr std::size_t max_pieces = 65536;

    // Notes an access in which each lane moves `bytes` bytes.
    void note(const Allocation& allocation, const Access& access, unsigned bytes, device::MemoryUse use);

    // Merges the notes of several host threads, ordered by address and use.
    static std::vector<device::MemoryAccess> merge(std::span<const AccessNotes* const> parts);

  private:
    static constexpr std::size_t uses = 3;
    struct Memory {
        Memory(std::uint64_t base_address, std::uint64_t size);
        std::uint64_t base, bytes;
        HostPages bits[uses];                       // one bit per byte; empty until the first access of that use
        std::uint64_t begin[uses], end[uses] = {};  // the offsets between which bits are set
    };
    Memory& of(const Allocation& allocation);

    std::deque<Memory> memories_;  // few: kernels have few arguments
    Memory* last_ = nullptr;
};

}  // namespace warpgrade::vgpu
