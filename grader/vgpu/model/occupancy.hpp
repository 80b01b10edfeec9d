// How many blocks of a kernel a multiprocessor holds at once, and what limits them: the calculation of CUDA's
// cuda_occupancy.h, without its options for cache configuration (the largest shared memory is assumed, as CUDA does).
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace warpgrade::vgpu {

// Of one block; 0xffffffff: no limit.
struct BlockLimits {
    std::uint32_t warps = 0, blocks = 0, registers = 0, shared_memory = 0;
    std::uint32_t allocated_registers = 0;     // of a block, with what rounding up adds
    std::uint64_t allocated_shared_bytes = 0;  // of a block, with what the system reserves
};

// `dynamic_shared_bytes` may reach up to the opt-in limit; whether the program opted in is for the launch to check.
BlockLimits block_limits(const device::DeviceProperties& device, const device::FunctionInfo& function,
                         std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes);

// Of the largest block whose registers fit: 0 where not even one warp's do.
std::uint32_t max_block_threads(const device::DeviceProperties& device, const device::FunctionInfo& function);

// No block fits (0) when the block is too large in one of the resources; `limiter` then names that one.
device::Occupancy occupancy(const device::DeviceProperties& device, const device::FunctionInfo& function,
                            std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes);

// What a launch of `blocks` blocks achieves of it (Nsight Compute: sm__warps_active.avg over the peak): blocks go round
// the multiprocessors, `fit` of them at a time on each, all blocks taken to last equally long. In (0, theoretical].
double achieved_occupancy(const device::DeviceProperties& device, const device::Occupancy& fit, std::uint64_t blocks);

}  // namespace warpgrade::vgpu
