#include "gpu/managed_variables.hpp"

#include <cstring>
#include <utility>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {
namespace {

std::byte* bytes_at(device::DevicePtr address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

device::HostVisibleMemory ManagedVariables::share(device::ModuleId module, std::string_view name) {
    const device::SymbolInfo variable = modules_.find_symbol(module, name);
    device::HostVisibleMemory shared = memory_.allocate_host_visible(variable.bytes, 0);
    const std::byte* const initial = bytes_at(variable.address);
    std::memcpy(bytes_at(shared.address), initial, variable.bytes);
    all_.push_back({module, shared.address, variable.address, {initial, initial + variable.bytes}});
    return shared;
}

void ManagedVariables::carry_to_device(device::ModuleId module) {
    for (Variable& each : all_) {
        if (each.module != module) continue;
        each.used = true;
        const std::byte* const host = bytes_at(each.on_host);
        if (std::memcmp(host, each.known.data(), each.known.size()) == 0) continue;
        check(driver().cuCtxSynchronize(), "waiting for the device");
        for (std::size_t i = 0; i < each.known.size(); ++i)
            if (const std::byte now = host[i]; now != each.known[i]) bytes_at(each.on_device)[i] = each.known[i] = now;
    }
}

void ManagedVariables::carry_to_host() {
    for (Variable& each : all_) {
        if (!std::exchange(each.used, false)) continue;
        const std::byte* const device = bytes_at(each.on_device);
        for (std::size_t i = 0; i < each.known.size(); ++i)
            if (device[i] != each.known[i]) bytes_at(each.on_host)[i] = each.known[i] = device[i];
    }
}

void ManagedVariables::forget(device::ModuleId module) {
    std::erase_if(all_, [&](const Variable& each) {
        if (each.module == module) memory_.free(each.on_host);
        return each.module == module;
    });
}

}  // namespace warpgrade::gpu
