// How many blocks of a kernel a multiprocessor holds at once, and what limits them. Follows CUDA's cuda_occupancy.h
// without its options for cache configuration (like CUDA, it assumes the largest shared memory).
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace warpgrade::vgpu {

// Blocks per multiprocessor that each resource allows; 0xffffffff: no limit.
struct BlockLimits {
    std::uint32_t warps = 0, blocks = 0, registers = 0, shared_memory = 0;
    std::uint32_t allocated_registers = 0;     // of one block, after rounding up
    std::uint64_t allocated_shared_bytes = 0;  // of one block, including what the system reserves
};

// `dynamic_shared_bytes` may be as large as the opt-in limit; the launch checks whether the program opted in.
BlockLimits block_limits(const device::DeviceProperties& device, const device::FunctionInfo& function,
                         std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes);

// The size of the largest block whose registers fit; 0 if not even one warp fits.
std::uint32_t max_block_threads(const device::DeviceProperties& device, const device::FunctionInfo& function);

// The number of blocks is 0 if one block exceeds a resource; `limiter` names that resource.
device::Occupancy occupancy(const device::DeviceProperties& device, const device::FunctionInfo& function,
                            std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes);

// The occupancy that a launch of `blocks` blocks achieves (Nsight Compute: sm__warps_active.avg over the peak), in (0,
// theoretical]. Blocks go round the multiprocessors, as many at a time on each as fit, and all take equally long.
double achieved_occupancy(const device::DeviceProperties& device, const device::Occupancy& fit, std::uint64_t blocks);

}  // namespace warpgrade::vgpu
