// Device memory at addresses of our own choice, so that a program's process uses none of them for anything else and can
// tell device pointers by their value (device/address_space.hpp). The driver's own allocations lie anywhere.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <optional>

#include "device/device.hpp"

namespace warpgrade::gpu {

class DeviceMemory {
  public:
    DeviceMemory(CUdevice gpu, std::uint64_t limit_bytes);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    device::DevicePtr allocate(std::uint64_t bytes);
    // Memory that the program maps too, at the same address; `at` is 0 or that address.
    device::HostVisibleMemory allocate_host_visible(std::uint64_t bytes, device::DevicePtr at);
    // A module's variable, which is not allocated here.
    void add_variable(const device::SymbolInfo& variable);
    void remove_variable(device::DevicePtr address) { ranges_.erase(address); }
    void free(device::DevicePtr address);

    [[nodiscard]] std::optional<device::SymbolInfo> find(device::DevicePtr address) const;
    [[nodiscard]] bool lies_on_host(device::DevicePtr address) const;
    // Throws invalid_value if the bytes do not lie in one range.
    void require(device::DevicePtr address, std::uint64_t bytes, const char* what) const;
    [[nodiscard]] device::MemoryInfo info() const { return {limit_ - used_, limit_}; }

  private:
    enum class Home : std::uint8_t { device, host, module };
    struct Range {
        std::uint64_t bytes = 0;
        std::uint64_t room = 0;  // rounded up
        Home home = Home::device;
    };

    [[nodiscard]] std::map<device::DevicePtr, Range>::const_iterator holder(device::DevicePtr address) const;
    // Takes the first free piece that is large enough; 0 if there is none.
    device::DevicePtr take_free(std::uint64_t room);
    void add_free(device::DevicePtr address, std::uint64_t bytes);
    void grow(std::uint64_t bytes);

    CUmemAllocationProp kind_{};
    std::uint64_t granularity_ = 0, limit_, reserved_, mapped_ = 0, used_ = 0, used_on_host_ = 0;
    device::DevicePtr base_ = 0, next_host_;
    std::map<device::DevicePtr, Range> ranges_;        // live
    std::map<device::DevicePtr, std::uint64_t> free_;  // mapped and unused; no two touch
};

}  // namespace warpgrade::gpu
