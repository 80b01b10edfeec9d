// Modelled time of a kernel: a model, made of its counters and the device's rates, not a simulation of its cycles.
//
// Five resources each give a lower bound of the time, as if the others were free:
//   issue    warp instructions through the schedulers of the busiest multiprocessor
//   l1       its load/store pipe: shared-memory wavefronts, global and local requests with their sectors
//   l2       sectors that L1 does not hold; repeated partial writes of a sector cost more than one full write
//   dram     the launch's footprint once, and again what a footprint larger than L2 loses between uses
//   latency  waves of resident blocks, each as long as one warp takes for its own dependent instructions
// They overlap, but not perfectly, so the time is the root of the sum of their squares: close to the largest one, and
// up to √5 times it when all are equal. Constants were fitted to kernels measured on an H100 (matrix products,
// transposes, reductions, min-plus), which the model meets within a factor of two and in the right order.
//
// What it does not know: which instructions are dear (division), how many lanes of an atomic meet at one address, how
// far independent instructions overlap, and what ptxas will merge. Deterministic: it uses nothing but its arguments.
#pragma once

#include <cstdint>

#include "device/device.hpp"
#include "vgpu/profile.hpp"

namespace warpgrade::vgpu {

struct KernelTime {
    double start_ns = 0;  // fixed: an empty kernel's time
    double issue_ns = 0, l1_ns = 0, l2_ns = 0, dram_ns = 0, latency_ns = 0;
    [[nodiscard]] double total_ns() const;
    [[nodiscard]] const char* bound() const;  // the largest: "issue", "l1", "l2", "dram" or "latency"
};

// `footprint_bytes`: global memory that the launch touched, each byte counted once; the size of the buffers in use is a
// good value. 0: not known; then all of it is taken to fit into L2. Time between launches and time of copies are the
// timeline's (device/timeline.hpp).
KernelTime model_kernel(const Profile& profile, const device::LaunchConfig& config, const device::Counters& counters,
                        const device::Occupancy& occupancy, std::uint64_t footprint_bytes = 0);

double model_ns(const Profile& profile, const device::LaunchConfig& config, const device::Counters& counters,
                const device::Occupancy& occupancy, std::uint64_t footprint_bytes = 0);

}  // namespace warpgrade::vgpu
