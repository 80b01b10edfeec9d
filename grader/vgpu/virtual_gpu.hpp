// The virtual GPU: a Device that executes PTX on the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/checks.hpp"
#include "device/device.hpp"
#include "device/order.hpp"
#include "device/progress.hpp"

namespace warpgrade::vgpu {

struct VirtualGpuOptions {
    unsigned threads = 0;                  // host threads that execute blocks; 0: as many as the machine has
    std::uint64_t instruction_limit = 0;   // warp instructions of one launch; 0: no limit
    std::uint64_t memory_limit_bytes = 0;  // 0: the profile's memory size
    device::Checks checks;
    bool origin = false;          // record what device/origin.hpp needs to trace where outputs come from
    bool trace_accesses = false;  // record accesses of the first launch of each kernel (device/access_trace.hpp)
    bool skip_kernels = false;    // check each launch but run no kernel: shows what host code does by itself
    // Of each launch, run no more blocks than this, spread evenly over the grid, and scale what is counted: outputs are
    // incomplete, and nothing may be graded by them. Without initcheck: later kernels read what was left out. 0: all
    // run.
    std::uint64_t sample_blocks = 0;
    // Do not run a launch again that would change nothing (exec/repeats.hpp). What is told of it is the same.
    bool skip_repeats = false;
    std::shared_ptr<device::Progress> progress;  // where to tell how far a launch is; none: nobody watches
    // Of blocks, warps and lanes; in all but the first, on one host thread.
    device::Order order = device::Order::forward;
};

// `profile` is a name from profile.hpp; an unknown one throws std::invalid_argument that lists the known names.
// Results, counters and modelled times do not depend on `threads`.
std::unique_ptr<device::Device> make_virtual_gpu(const std::string& profile, const VirtualGpuOptions& options);

}  // namespace warpgrade::vgpu
