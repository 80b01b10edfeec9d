#include "vgpu/model/occupancy.hpp"

#include <algorithm>

namespace warpgrade::vgpu {
namespace {

constexpr std::uint32_t unlimited = 0xffffffffu;
constexpr std::uint32_t register_granularity = 256;  // a warp's registers are allocated in units of this many

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::uint32_t sub_partitions(const device::DeviceProperties& device) {
    return device.major == 6 && device.minor == 0 ? 2 : 4;
}
std::uint32_t max_registers_per_thread(const device::DeviceProperties& device) { return device.major >= 7 ? 256 : 255; }
std::uint32_t shared_granularity(const device::DeviceProperties& device) { return device.major >= 8 ? 128 : 256; }

}  // namespace

BlockLimits block_limits(const device::DeviceProperties& device, const device::FunctionInfo& function,
                         std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes) {
    BlockLimits limits;
    if (block_threads == 0 || block_threads > device.max_threads_per_block) return limits;
    const std::uint32_t warps = (block_threads + device.warp_size - 1) / device.warp_size;
    limits.warps = device.max_threads_per_multi_processor / device.warp_size / warps;
    limits.blocks = device.max_blocks_per_multi_processor;

    // Registers are allocated per warp within a sub-partition. The limit per block assumes that a block's warps are
    // spread evenly over all sub-partitions.
    const std::uint64_t per_warp =
        round_up(std::uint64_t{function.registers_per_thread} * device.warp_size, register_granularity);
    limits.allocated_registers = static_cast<std::uint32_t>(per_warp * warps);
    if (function.registers_per_thread > max_registers_per_thread(device) ||
        per_warp * round_up(warps, sub_partitions(device)) > device.regs_per_block) {
        limits.registers = 0;
    } else if (per_warp == 0) {
        limits.registers = unlimited;
    } else {
        const std::uint64_t per_partition = device.regs_per_multiprocessor / sub_partitions(device) / per_warp;
        limits.registers = static_cast<std::uint32_t>(per_partition * sub_partitions(device) / warps);
    }

    const std::uint64_t most = std::max(device.shared_mem_per_block, device.shared_mem_per_block_optin);
    if (dynamic_shared_bytes > most || function.static_shared_bytes > most) {
        limits.allocated_shared_bytes = dynamic_shared_bytes + function.static_shared_bytes;
        return limits;
    }
    limits.allocated_shared_bytes =
        round_up(function.static_shared_bytes + dynamic_shared_bytes + device.reserved_shared_mem_per_block,
                 shared_granularity(device));
    if (limits.allocated_shared_bytes > most + device.reserved_shared_mem_per_block) {
        limits.shared_memory = 0;
    } else if (limits.allocated_shared_bytes == 0) {
        limits.shared_memory = unlimited;
    } else {
        limits.shared_memory =
            static_cast<std::uint32_t>(device.shared_mem_per_multiprocessor / limits.allocated_shared_bytes);
    }
    return limits;
}

std::uint32_t max_block_threads(const device::DeviceProperties& device, const device::FunctionInfo& function) {
    std::uint32_t threads = device.max_threads_per_block;
    while (threads > 0 && block_limits(device, function, threads, 0).registers == 0) threads -= device.warp_size;
    return threads;
}

device::Occupancy occupancy(const device::DeviceProperties& device, const device::FunctionInfo& function,
                            std::uint32_t block_threads, std::uint64_t dynamic_shared_bytes) {
    const BlockLimits limits = block_limits(device, function, block_threads, dynamic_shared_bytes);
    device::Occupancy result;
    result.blocks_per_multiprocessor =
        std::min(std::min(limits.warps, limits.blocks), std::min(limits.registers, limits.shared_memory));
    // Of several equal limits, those that the kernel's code cannot change come first.
    const std::uint32_t blocks = result.blocks_per_multiprocessor;
    result.limiter = blocks == limits.warps       ? "warps"
                     : blocks == limits.blocks    ? "blocks"
                     : blocks == limits.registers ? "registers"
                                                  : "shared memory";
    const std::uint32_t warps = (block_threads + device.warp_size - 1) / device.warp_size;
    result.theoretical = static_cast<double>(blocks) * warps /
                         (static_cast<double>(device.max_threads_per_multi_processor) / device.warp_size);
    return result;
}

double achieved_occupancy(const device::DeviceProperties& device, const device::Occupancy& fit, std::uint64_t blocks) {
    const std::uint64_t multiprocessors = std::max(device.multi_processor_count, 1u);
    const std::uint64_t resident = std::max(fit.blocks_per_multiprocessor, 1u);
    // Some multiprocessors have one more block than the others. Each is active as long as its waves of blocks last.
    const std::uint64_t few = blocks / multiprocessors, many = blocks % multiprocessors;
    const auto waves = [&](std::uint64_t count) { return (count + resident - 1) / resident; };
    const std::uint64_t active = many * waves(few + 1) + (multiprocessors - many) * waves(few);
    if (active == 0) return 0;
    return fit.theoretical * static_cast<double>(blocks) / static_cast<double>(active * resident);
}

}  // namespace warpgrade::vgpu
