// Modelled time of a kernel, computed from its counters and the device's rates. It does not simulate cycles.
//
// Each of these gives a lower bound of the time, as if the others were free:
//   issue    warp instructions through the schedulers of the busiest multiprocessor (see block_work.hpp), without those
//            that ptxas fuses (code/fused.hpp), and what it adds to expensive ones (machine_cost.hpp)
//   units    through the units of which there are few: for special functions and conversions, doubles, products of
//            integers, comparisons and logic, exchanges between lanes, or loads from constant memory
//   l1       the busiest load/store pipe: shared-memory wavefronts, what global requests take for their lines, banks
//            and misses, local requests with their sectors
//   l2       each line and sector that L1 does not hold; beside that, each line and each sector of it that a request
//            stores, also a part of one: a multiprocessor sends no more than a sector in a cycle; atomics on one word
//            wait for each other, in its slice of L2
//   dram     what the launch touches of its buffers once, plus what more than L2 holds loses between uses; nothing if
//            L2 can hold it: then it has it from the copy or the launch before; a part if L2 can hold a part
//   link     accesses to mapped host memory: each sector that L1 does not hold, every time
//   latency  waves of resident blocks, each as long as one warp takes for its own instructions that wait for each other
//            (block_paths.hpp), and for its loads; a block as long as its longest warp. Of the loads of a block the
//            warp waits for the first, and for each that waits for another, each as long as the level takes where it
//            lies: what L2 can hold of a launch's data is there from before
// They overlap, but not perfectly, so the time is the root of the sum of their squares: close to the largest one, and
// twice that if all are equal. Units work while instructions are issued, and L2 while device memory does: of each of
// these pairs it is the fourth root of the sum of fourth powers. So it is of all this and of `blocks`: the device
// starts them one by one. Managed memory that the launch touches first moves to the device while the kernel waits; the
// model does not see it move back when the host touches it. The constants come from kernels measured on an H100
// (tests/model/h100.md); how near the model is to others, docs/virtual-gpu.md says.
//
// The model is deterministic: it uses only its arguments.
#pragma once

#include <cstdint>

#include "device/record.hpp"
#include "vgpu/model/demand.hpp"
#include "vgpu/model/machine_cost.hpp"
#include "vgpu/model/profile.hpp"

namespace warpgrade::vgpu {

struct KernelTime {
    // Needs of the whole device, for kernels that share it. Imperfect overlap of resources, and latency, are added to
    // the need of the most needed resource: work split into several kernels takes no less time than in one.
    Demand demand{};
    double start_ns = 0;  // the fixed time of an empty kernel
    double migration_ns = 0;
    double issue_ns = 0, units_ns = 0, l1_ns = 0, l2_ns = 0, dram_ns = 0, link_ns = 0, latency_ns = 0;
    double blocks_ns = 0;
    [[nodiscard]] double total_ns() const;
    [[nodiscard]] const char* bound() const;  // the largest: "issue", "l1", …
};

// Loads and atomics whose address or operands wait for what the one before brought (code/chains.hpp), in requests of
// warps: of shared memory, of L2 as atomics, and loads by the farthest level that they asked.
struct Chains {
    std::uint64_t shared = 0, atomics = 0, l1 = 0, l2 = 0, dram = 0;
    std::uint64_t queue_cycles = 0;  // until the last sector or wavefront of each request follows the first

    void scale(std::uint64_t part, std::uint64_t whole) {
        for (std::uint64_t* count : {&shared, &atomics, &l1, &l2, &dram, &queue_cycles})
            *count = scaled(*count, part, whole);
    }
    Chains& operator+=(const Chains& other) {
        shared += other.shared, atomics += other.atomics, l1 += other.l1, l2 += other.l2, dram += other.dram;
        queue_cycles += other.queue_cycles;
        return *this;
    }
};

// How often a warp waits for one of its other loads (code/chains.hpp), by the same levels. Without loads it is unknown:
// then several are in flight.
struct Waits {
    std::uint64_t loads = 0;  // requests, most of which are in flight beside those for which the warp waits
    Chains waits;

    void scale(std::uint64_t part, std::uint64_t whole) {
        loads = scaled(loads, part, whole);
        waits.scale(part, whole);
    }
};

// Sectors of irregular loads (code/chains.hpp) with which most lanes ask for one of their own. A launch does not
// touch all of an array with them.
struct Scattered {
    std::uint64_t sectors = 0;          // that they asked for
    std::uint64_t dram_reads = 0;       // of them, from device memory
    std::uint64_t fetched_sectors = 0;  // that device memory sent for them

    void scale(std::uint64_t part, std::uint64_t whole) {
        for (std::uint64_t* count : {&sectors, &dram_reads, &fetched_sectors}) *count = scaled(*count, part, whole);
    }
};

// What further turns of loops of compare-and-swap do that a warp takes because others were faster
// (access/swap_contention.hpp).
struct Retries {
    std::uint64_t requests = 0, wavefronts = 0;  // of shared memory
    std::uint64_t instructions = 0, divergences = 0;

    void scale(std::uint64_t part, std::uint64_t whole) {
        for (std::uint64_t* count : {&requests, &wavefronts, &instructions, &divergences})
            *count = scaled(*count, part, whole);
    }
};

// What a launch moved and computed, besides what its counters say.
struct Traffic {
    // Device memory that it touched, each byte counted once; the size of the buffers in use is a good value. 0:
    // unknown; then everything is assumed to fit into L2.
    std::uint64_t footprint_bytes = 0;
    std::uint64_t mapped_read_sectors = 0, mapped_write_sectors = 0;  // of mapped host memory
    std::uint64_t migrated_bytes = 0;                                 // managed memory that it touched first
    // Cycles that loads of global memory take in L1 (Access::l1_cycles), and lines that its stores touch. 0: unknown;
    // then as many as their sectors fill lines.
    std::uint64_t load_cycles = 0, store_lines = 0;
    // Of its stores, the lines and sectors that L1 sends L2 together with those of the store before.
    std::uint64_t collected_lines = 0, collected_sectors = 0;
    std::uint64_t missed_lines = 0;     // by loads of global memory, in L1, also of other blocks
    std::uint64_t fresh_writes = 0;     // sectors that stores made the first to touch
    std::uint64_t changed = 0;          // sectors that stores touched after loads
    std::uint64_t shared_hits = 0;      // sectors that a block does not find in L1 unless another has loaded them
    std::uint64_t constant_cycles = 0;  // of loads from constant memory
    // The same of those that serve all lanes at once (code/constant_loads.hpp), and what was loaded of all.
    std::uint64_t uniform_constant_cycles = 0, constant_bytes = 0;
    std::uint64_t busiest_atomic_cycles = 0;  // of the slice of L2 with most atomics; 0: they are spread evenly
    // What ptxas takes away (code/machine_code.hpp): the divergence of branches that become predicates, and the
    // requests and wavefronts of loads of shared memory that it merges with others.
    std::uint64_t predicated_divergences = 0, merged_requests = 0, merged_wavefronts = 0;
    MachineCost machine;             // of all warps
    std::uint64_t issue_tenths = 0;  // of all warps, without what `machine` adds; 0: unknown, then one slot for each
    std::uint64_t path = 0;  // of all warps, alone: in quarters of the latency of an addition (code/block_paths.hpp);
                             // 0: unknown, then half of all instructions wait for the one before
    Chains chains;
    Waits global_waits, shared_waits;
    Scattered scattered;
    Retries retries;
};

// How the work is spread over the multiprocessors. 0: unknown; then all warps are assumed equal. See WorkSpread.
struct Spread {
    double busiest_issue = 0, busiest_l1 = 0;  // the busiest multiprocessor's share of all
    double longest_warp = 0;                   // as a multiple of the mean warp
    double longest_of_block = 0;               // the same of each block's longest, on the mean
};

// The timeline (timeline.hpp) models the time between launches, of concurrent kernels and of copies.
KernelTime model_kernel(const Profile& profile, const device::LaunchConfig& config, const device::Counters& counters,
                        const device::Occupancy& occupancy, const Traffic& traffic = {}, const Spread& spread = {});

}  // namespace warpgrade::vgpu
