// Modules, kernels and variables that a program has loaded.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "gpu/device_memory.hpp"

namespace warpgrade::gpu {

struct Kernel {
    CUfunction handle = nullptr;
    device::ModuleId module = 0;
    device::FunctionInfo info;
    std::uint64_t dynamic_shared_bytes = 0;  // that a launch may use
};

class Modules {
  public:
    explicit Modules(DeviceMemory& memory) : memory_(memory) {}
    ~Modules();
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;

    device::ModuleId load(std::span<const std::byte> image);
    void unload(device::ModuleId module);
    device::FunctionId find_function(device::ModuleId module, std::string_view name);
    device::SymbolInfo find_symbol(device::ModuleId module, std::string_view name);
    [[nodiscard]] const Kernel& kernel(device::FunctionId function) const;
    // Lets launches of the kernel use this much dynamic shared memory.
    void allow_dynamic_shared(device::FunctionId function, std::uint64_t bytes);

  private:
    struct Module {
        CUmodule handle = nullptr;
        std::vector<device::DevicePtr> variables;
    };
    [[nodiscard]] Module& module(device::ModuleId id);

    DeviceMemory& memory_;
    std::map<device::ModuleId, Module> modules_;
    std::map<device::FunctionId, Kernel> kernels_;
    device::ModuleId next_module_ = 1;
    device::FunctionId next_function_ = 1;
};

}  // namespace warpgrade::gpu
