// Loads an image into a small virtual GPU and launches all its kernels, with arguments that are nothing in particular.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "vgpu/virtual_gpu.hpp"

namespace warpgrade::fuzz {

inline void run_all(std::span<const std::byte> image, const std::vector<std::string>& kernels) {
    constexpr std::uint64_t instructions = 3000, memory = 64 << 20;
    constexpr std::size_t most_kernels = 8;
    // One host thread: a finding must come again.
    const auto gpu = vgpu::make_virtual_gpu("h100:1", {1, instructions, memory});
    device::ModuleId module = 0;
    try {
        module = gpu->load_module(image);
    } catch (const device::DeviceError&) {
        return;
    }
    const device::DevicePtr data = gpu->allocate(4096, "fuzz");
    for (std::size_t i = 0; i < kernels.size() && i < most_kernels; ++i) try {
            const auto function = gpu->find_function(module, kernels[i]);
            const auto& info = gpu->function_info(function);
            std::vector<std::byte> params(info.param_bytes);
            for (const auto& p : info.params)  // pointers where they fit
                if (p.bytes == 8) std::memcpy(params.data() + p.offset, &data, 8);
            gpu->launch(function, {{2, 1, 1}, {40, 1, 1}, 64, 0, false}, params);
        } catch (const device::DeviceError&) {
        }
}

}  // namespace warpgrade::fuzz
