// Modelled time of a kernel: a model, made of its counters and the device's rates, not a simulation of its cycles.
//
// Five resources each give a lower bound of the time, as if the others were free:
//   issue    warp instructions through the schedulers of the busiest multiprocessor (see block_work.hpp)
//   l1       the load/store pipe of the one that is busiest with it: shared-memory wavefronts, global and local
//   requests
//            with their sectors, words of constant memory beyond a request's first
//   l2       sectors that L1 does not hold; repeated partial writes of a sector cost more than one full write
//   dram     the launch's footprint once, and again what a footprint larger than L2 loses between uses
//   link     what reaches into mapped host memory: each sector that L1 does not hold, again each time
//   latency  waves of resident blocks, each as long as one warp takes for its own dependent instructions; no less than
//            the longest warp
// They overlap, but not perfectly, so the time is the root of the sum of their squares: close to the largest one, and
// up to √6 times it when all are equal. Managed memory that the launch is the first to touch moves to the device while
// the kernel waits; that it moves back when the host touches it is not seen. Constants were fitted to kernels measured
// on an H100 (matrix products, transposes, reductions, min-plus), which the model meets within a factor of two and in
// the right order.
//
// What it does not know: which instructions are dear (division), how many lanes of an atomic meet at one address, how
// far independent instructions overlap, and what ptxas will merge. Deterministic: it uses nothing but its arguments.
#pragma once

#include <cstdint>

#include "device/record.hpp"
#include "vgpu/model/demand.hpp"
#include "vgpu/model/profile.hpp"

namespace warpgrade::vgpu {

struct KernelTime {
    // Of the device as a whole, for kernels that share it. That resources do not overlap perfectly, nor with latency,
    // counts as a need of the one that is needed most: work cut into several kernels takes no less than in one.
    Demand demand{};
    double start_ns = 0;  // fixed: an empty kernel's time
    double migration_ns = 0;
    double issue_ns = 0, l1_ns = 0, l2_ns = 0, dram_ns = 0, link_ns = 0, latency_ns = 0;
    [[nodiscard]] double total_ns() const;
    [[nodiscard]] const char* bound() const;  // the largest: "issue", "l1", "l2", "dram", "link" or "latency"
};

// What a launch moved, besides its counters.
struct Traffic {
    // Memory of the device that it touched, each byte counted once; the size of the buffers in use is a good value. 0:
    // not known; then all of it is taken to fit into L2.
    std::uint64_t footprint_bytes = 0;
    std::uint64_t mapped_read_sectors = 0, mapped_write_sectors = 0;  // of mapped host memory
    std::uint64_t migrated_bytes = 0;                                 // managed memory that it was the first to touch
};

// How the work lies on the multiprocessors; 0: not known, then warps are taken to be alike. See WorkSpread.
struct Spread {
    double busiest_issue = 0, busiest_l1 = 0;  // the busiest multiprocessor's part of all
    double longest_warp = 0;                   // in mean warps
};

// Time between launches, that of kernels that share the device, and of copies, are the timeline's
// (timeline.hpp).
KernelTime model_kernel(const Profile& profile, const device::LaunchConfig& config, const device::Counters& counters,
                        const device::Occupancy& occupancy, const Traffic& traffic = {}, const Spread& spread = {});

}  // namespace warpgrade::vgpu
