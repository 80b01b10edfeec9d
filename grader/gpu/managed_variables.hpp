// __managed__ variables. The driver places them in memory that only this process and the GPU have, so the program gets
// pages of its own, and bytes that either side has changed are carried to the other one: before launches and after
// waits, which is where a program may rely on them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "gpu/device_memory.hpp"
#include "gpu/module.hpp"

namespace warpgrade::gpu {

class ManagedVariables {
  public:
    ManagedVariables(DeviceMemory& memory, Modules& modules) : memory_(memory), modules_(modules) {}

    device::HostVisibleMemory share(device::ModuleId module, std::string_view name);
    // Before a launch of a kernel of the module.
    void carry_to_device(device::ModuleId module);
    // After a wait.
    void carry_to_host();
    void forget(device::ModuleId module);

  private:
    struct Variable {
        device::ModuleId module;
        device::DevicePtr on_host, on_device;
        std::vector<std::byte> known;  // to both sides
        bool used = false;             // by kernels since the last wait
    };
    DeviceMemory& memory_;
    Modules& modules_;
    std::vector<Variable> all_;
};

}  // namespace warpgrade::gpu
