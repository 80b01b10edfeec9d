// What `malloc` and `new` in a kernel hand out. Each object is an allocation of its own, with bounds and with addresses
// that are never used again, so that a kernel that reaches beyond an object or into a freed one is told so.
#pragma once

#include <map>
#include <set>

#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

class DeviceHeap {
  public:
    static constexpr std::uint64_t default_bytes = 8u << 20;  // cudaLimitMallocHeapSize

    explicit DeviceHeap(GlobalMemory& memory) : memory_(memory) {}

    // The address of `bytes` fresh bytes, or 0: the heap is full. The same calls in the same order give the same
    // addresses.
    std::uint64_t allocate(std::uint64_t bytes);
    // Throws DeviceError that says what the address is, if it is not the beginning of an object. `forget` is called
    // with the allocation before it goes.
    template <class F>
    void free(std::uint64_t address, F&& forget) {
        forget(object(address));
        release(address);
    }

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    // Throws DeviceError once the heap is in use, as CUDA does.
    std::uint64_t resize(std::uint64_t bytes);  // returns the bytes

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
    std::map<std::uint64_t, std::uint64_t> free_;                     // offset → bytes, never two in a row
    std::set<std::pair<std::uint64_t, std::uint64_t>> free_by_size_;  // (bytes, offset)
    std::map<std::uint64_t, Range> objects_;                          // by address
};

}  // namespace warpgrade::vgpu
