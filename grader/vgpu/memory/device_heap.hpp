// The heap for `malloc` and `new` in kernels. Each object is an allocation with its own bounds and addresses that are
// never reused, so accesses beyond an object or into a freed one are found.
#pragma once

#include <map>
#include <set>

#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

class DeviceHeap {
  public:
    static constexpr std::uint64_t default_bytes = 8u << 20;  // cudaLimitMallocHeapSize

    explicit DeviceHeap(GlobalMemory& memory) : memory_(memory) {}

    // Returns the address of `bytes` fresh bytes, or 0 if the heap is full. Equal sequences of calls give equal
    // addresses.
    std::uint64_t allocate(std::uint64_t bytes);
    // Frees an object. If the address is not the beginning of one, throws a DeviceError that says what it is. Calls
    // `forget` with the allocation before it is released.
    template <class F>
    void free(std::uint64_t address, F&& forget) {
        forget(object(address));
        release(address);
    }

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    // Sets the size and returns it. Throws DeviceError once the heap is in use, as CUDA does.
    std::uint64_t resize(std::uint64_t bytes);

  private:
    struct Range {
        std::uint64_t offset, bytes;
    };
    [[nodiscard]] Allocation& object(std::uint64_t address) const;
    void release(std::uint64_t address);
    void add_free(Range range);
    void remove_free(std::map<std::uint64_t, std::uint64_t>::iterator range);

    GlobalMemory& memory_;
    std::uint64_t bytes_ = default_bytes;
    HostPages pages_;
    std::map<std::uint64_t, std::uint64_t> free_;                     // offset → bytes; adjacent ranges are merged
    std::set<std::pair<std::uint64_t, std::uint64_t>> free_by_size_;  // (bytes, offset)
    std::map<std::uint64_t, Range> objects_;                          // by address
};

}  // namespace warpgrade::vgpu
