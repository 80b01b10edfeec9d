#include "server/open.hpp"

#include <stdexcept>

#include "vgpu/virtual_gpu.hpp"

namespace warpgrade::device {

std::unique_ptr<Device> open_device(const std::string& spec, const DeviceOptions& options) {
    const std::size_t colon = spec.find(':');
    const std::string kind = spec.substr(0, colon);
    const std::string which = colon == std::string::npos ? "" : spec.substr(colon + 1);
    if (kind == "vgpu") {
        vgpu::VirtualGpuOptions gpu;
        gpu.threads = options.threads;
        gpu.instruction_limit = options.instruction_limit;
        gpu.memory_limit_bytes = options.memory_limit_bytes;
        gpu.checks = options.checks;
        gpu.origin = options.origin;
        gpu.skip_kernels = options.skip_kernels;
        return vgpu::make_virtual_gpu(which.empty() ? "h100" : which, gpu);
    }
    throw std::invalid_argument("unknown device '" + spec + "'; use vgpu[:PROFILE]");
}

}  // namespace warpgrade::device
