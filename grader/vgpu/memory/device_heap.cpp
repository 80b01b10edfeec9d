#include "vgpu/memory/device_heap.hpp"

#include <fmt/format.h>

#include "device/device.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;

namespace {
constexpr std::uint64_t grain = 16;   // alignment of objects
constexpr std::uint64_t header = 16;  // bytes that an object takes besides its own, as in CUDA's heap
}  // namespace

std::uint64_t DeviceHeap::resize(std::uint64_t bytes) {
    if (pages_.data())
        throw DeviceError(error::invalid_value, "the size of the heap cannot change once a kernel has used it");
    if (bytes > memory_.limit_bytes())
        throw DeviceError(error::memory_allocation, "the heap would be larger than the device's memory");
    return bytes_ = bytes;
}

void DeviceHeap::add_free(Range range) {
    const auto after = free_.lower_bound(range.offset);
    if (after != free_.end() && after->first == range.offset + range.bytes) {
        range.bytes += after->second;
        remove_free(after);
    }
    if (const auto next = free_.lower_bound(range.offset); next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == range.offset) {
            range.offset = before->first;
            range.bytes += before->second;
            remove_free(before);
        }
    }
    free_.emplace(range.offset, range.bytes);
    free_by_size_.emplace(range.bytes, range.offset);
}

void DeviceHeap::remove_free(std::map<std::uint64_t, std::uint64_t>::iterator range) {
    free_by_size_.erase({range->second, range->first});
    free_.erase(range);
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
    if (bytes_ == 0 || bytes > bytes_) return 0;
    if (!pages_.data()) {
        pages_ = HostPages(bytes_);
        add_free({0, bytes_});
    }
    const std::uint64_t needed = (bytes + grain - 1) / grain * grain + header;
    const auto fit = free_by_size_.lower_bound({needed, 0});
    if (fit == free_by_size_.end()) return 0;
    const Range range{fit->second, fit->first};
    remove_free(free_.find(range.offset));
    if (range.bytes > needed) add_free({range.offset + needed, range.bytes - needed});
    const Allocation& a = memory_.place_on_heap(bytes, pages_.data() + range.offset + header);
    objects_.emplace(a.base, Range{range.offset, needed});
    return a.base;
}

Allocation& DeviceHeap::object(std::uint64_t address) const {
    if (!objects_.contains(address))
        throw DeviceError(error::launch_failure,
                          fmt::format("frees {:#x}, which is not the start of an object from malloc: {}", address,
                                      memory_.describe(address)));
    return *memory_.find(address);
}

void DeviceHeap::release(std::uint64_t address) {
    const auto it = objects_.find(address);
    memory_.release(*memory_.find(address));
    add_free(it->second);
    objects_.erase(it);
}

}  // namespace warpgrade::vgpu
