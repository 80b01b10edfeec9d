// Opens a device by its name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "device/checks.hpp"
#include "device/device.hpp"
#include "device/order.hpp"
#include "device/progress.hpp"
#include "server/device_names.hpp"

namespace warpgrade::server {

struct DeviceOptions {
    unsigned threads = 0;                  // of the host; 0: as many as it has
    std::uint64_t instruction_limit = 0;   // warp instructions of one launch; 0: no limit
    std::uint64_t memory_limit_bytes = 0;  // device memory; 0: as the profile says
    Checks checks;
    bool skip_kernels = false;                     // launches are checked and do nothing
    device::Order order = device::Order::forward;  // of blocks, warps and lanes
    bool origin = false;                           // keep what check_origin() needs
    bool trace_accesses = false;                   // record accesses of some warps (device/access_trace.hpp)
    std::uint64_t sample_blocks = 0;               // run no more of a launch's blocks; 0: all
    bool skip_repeats = false;                     // do not run launches again that would change nothing
    std::shared_ptr<Progress> progress;            // where to tell how far a launch is
};

// Two programs open devices: warpgrade-device all that run on the CPU (open.cpp), and warpgrade-gpu a real GPU
// (open_gpu.cpp), because the first is linked statically and the GPU's driver is a shared library.
bool opens(std::string_view kind);

struct Spec {
    std::string kind, which;
};
inline Spec split_spec(const std::string& spec) {
    const std::size_t colon = spec.find(':');
    return {spec.substr(0, colon), colon == std::string::npos ? "" : spec.substr(colon + 1)};
}

// `spec` is "vgpu", "vgpu:PROFILE", "plain" or "gpu:NUMBER" (kinds.def). Throws std::invalid_argument for other names,
// and std::runtime_error for a GPU that is not there.
std::unique_ptr<Device> open_device(const std::string& spec, const DeviceOptions& options);

}  // namespace warpgrade::server
