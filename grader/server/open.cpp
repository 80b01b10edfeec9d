#include "server/open.hpp"

#include <stdexcept>
#include <utility>

#include "plain/plain_device.hpp"
#include "vgpu/virtual_gpu.hpp"

namespace warpgrade::server {

bool opens(std::string_view kind) { return kind != "gpu"; }

std::unique_ptr<Device> open_device(const std::string& spec, const DeviceOptions& options) {
    const auto [kind, which] = split_spec(spec);
    if (kind == "vgpu" || kind == "plain") {
        vgpu::VirtualGpuOptions gpu;
        gpu.threads = options.threads;
        gpu.instruction_limit = options.instruction_limit;
        gpu.memory_limit_bytes = options.memory_limit_bytes;
        gpu.skip_kernels = options.skip_kernels;
        gpu.sample_blocks = options.sample_blocks;
        gpu.skip_repeats = options.skip_repeats;
        gpu.progress = options.progress;
        gpu.order = options.order;
        const bool analysed = kind == "vgpu";
        if (analysed)
            gpu.checks = options.checks, gpu.origin = options.origin, gpu.trace_accesses = options.trace_accesses;
        auto device = vgpu::make_virtual_gpu(which.empty() ? "h100" : which, gpu);
        return analysed ? std::move(device) : plain::make_plain(std::move(device));
    }
    throw std::invalid_argument("unknown device '" + spec + "'; use vgpu[:PROFILE] or gpu[:NUMBER]");
}

}  // namespace warpgrade::server
