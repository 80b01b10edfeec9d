// Which bytes of global memory a launch read, wrote and changed atomically. Whoever orders streams asks for it (see
// device/stream_order.hpp): of a program that works in one stream, nobody does, and nothing is noted.
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
    // Pieces of one allocation that one launch tells apart; beyond it, those that are nearest to each other are told
    // as one.
    static constexpr std::size_t most_pieces = 65536;

    // The lanes of one access of `bytes` bytes each.
    void note(const Allocation& allocation, const Access& access, unsigned bytes, device::MemoryUse use);

    // What several host threads noted, by address and use.
    static std::vector<device::MemoryAccess> merge(std::span<const AccessNotes* const> parts);

  private:
    static constexpr std::size_t uses = 3;
    struct Memory {
        Memory(std::uint64_t base_address, std::uint64_t size);
        std::uint64_t base, bytes;
        HostPages bits[uses];                       // one a byte; empty until the first access of that use
        std::uint64_t begin[uses], end[uses] = {};  // offsets between which bits are set
    };
    Memory& of(const Allocation& allocation);

    std::deque<Memory> memories_;  // few: kernels have few arguments
    Memory* last_ = nullptr;
};

}  // namespace warpgrade::vgpu
