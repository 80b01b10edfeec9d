// The virtual GPU: a Device that executes PTX on the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/checks.hpp"
#include "device/device.hpp"

namespace warpgrade::vgpu {

struct VirtualGpuOptions {
    unsigned threads = 0;                  // host threads that execute blocks; 0: as many as the machine has
    std::uint64_t instruction_limit = 0;   // warp instructions of one launch; 0: no limit
    std::uint64_t memory_limit_bytes = 0;  // device memory; 0: the profile's
    device::Checks checks;
    bool origin = false;        // keep what the origin of outputs is told from (device/origin.hpp)
    bool skip_kernels = false;  // check each launch, then run nothing: for those who want to know what host code does
};

// `profile` is a name from profile.hpp; throws std::invalid_argument that lists the names there are. Results, counters
// and modelled times do not depend on `threads`.
std::unique_ptr<device::Device> make_virtual_gpu(const std::string& profile, const VirtualGpuOptions& options);

}  // namespace warpgrade::vgpu
