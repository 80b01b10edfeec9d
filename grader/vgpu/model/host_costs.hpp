// What work outside kernels costs, for the modelled clock and the timing model of kernels.
#pragma once

#include <algorithm>

#include "device/device.hpp"

namespace warpgrade::vgpu {

// The constants were measured on an H100 (PCIe 5, driver 580, CUDA 13.0); a launch, on the hosts of four, which took
// 2900, 3500, 4600 and 4700 ns.
struct HostCosts {
    double launch_issue_ns = 3600;  // host time of one asynchronous launch; bounds the rate of small kernels
    double copy_issue_ns = 1000;  // host time of an asynchronous copy or fill, or of recording or waiting for an event
    double query_ns = 260;        // host time of a query whether work is done
    double wake_ns = 2500;        // from the end of the work until the waiting host continues
    double link_latency_ns = 2200;         // fixed part of a copy between host and device
    double device_copy_latency_ns = 3900;  // fixed part of a copy within the device
    double fill_latency_ns = 1500;
    double pinned_bytes_per_ns = 55;    // link rate for page-locked host memory
    double pageable_bytes_per_ns = 16;  // through the driver's staging buffer
    // Data that kernels move over the link themselves. Memory that moves on page faults is equally fast on all devices.
    double mapped_read_bytes_per_ns = 50, mapped_write_bytes_per_ns = 52;
    double migration_bytes_per_ns = 9, migration_latency_ns = 80000;
    double device_bytes_per_ns = 3350;  // traffic in device memory; a copy both reads and writes
    double device_efficiency = 0.89;    // share of it that copies and fills reach

    static HostCosts of(const device::DeviceProperties& properties);
};

inline HostCosts HostCosts::of(const device::DeviceProperties& properties) {
    HostCosts costs;
    // One PCIe generation per step: 5 on Hopper and later, 4 on Ampere and Ada, 3 on Volta and Turing, 2 or 3 before.
    // Pageable copies are limited by the host's memcpy, unless the link is slower.
    const double fastest = costs.pinned_bytes_per_ns;
    if (properties.major < 9) costs.pinned_bytes_per_ns = properties.major == 8 ? 25 : properties.major == 7 ? 12.5 : 6;
    costs.mapped_read_bytes_per_ns *= costs.pinned_bytes_per_ns / fastest;
    costs.mapped_write_bytes_per_ns *= costs.pinned_bytes_per_ns / fastest;
    costs.migration_bytes_per_ns = std::min(costs.migration_bytes_per_ns, costs.pinned_bytes_per_ns);
    costs.pageable_bytes_per_ns = std::min(costs.pageable_bytes_per_ns, costs.pinned_bytes_per_ns * 0.6);
    if (properties.dram_bytes_per_ns > 0) costs.device_bytes_per_ns = properties.dram_bytes_per_ns;
    return costs;
}

}  // namespace warpgrade::vgpu
