// Advice: what makes a launch slow, by source line. The launch is modelled again as if the line wasted nothing; the
// time saved is the weight of the advice. Advice is given only if that is a notable part of the launch's time;
// advice.cpp has the thresholds.
#pragma once

#include <vector>

#include "device/analysis.hpp"
#include "vgpu/model/timing.hpp"

namespace warpgrade::vgpu {

// What one source line of a launch did.
struct LineUse {
    device::SourcePlace place;
    struct Global {
        std::uint64_t requests = 0, sectors = 0, l1_hits = 0;
        std::uint64_t ideal = 0;  // sectors, if the bytes that the threads ask for were contiguous
        double threads = 0;       // participating threads, summed over requests
    } loads, stores;
    struct Shared {
        std::uint64_t requests = 0, wavefronts = 0, conflicts = 0;
    } shared_loads, shared_stores;
    // Branches. Behind a divergent one, threads wait for each other until its sides meet again: `idle` of `slots`, in
    // instructions of a whole warp.
    std::uint64_t branches = 0, divergent = 0;
    double slots = 0, idle = 0;
};

struct LaunchUse {
    device::SourcePlace kernel;  // its first line
    std::vector<LineUse> lines;
};

// The worst comes first; `kernel` is left empty.
std::vector<device::Diagnostic> advise(const Profile& profile, const device::LaunchConfig& config,
                                       const device::Counters& counters, const device::Occupancy& occupancy,
                                       const Traffic& traffic, const LaunchUse& use);

// What each cause costs the whole launch, with all its lines, however few of them are worth advice. The causes, in this
// order: "uncoalesced", "bank_conflicts", "redundant_loads", "divergence", "local_memory", "contention",
// "expensive_arithmetic" (divisions, roots, conversions, doubles), "dependent_loads" (each waits for the one before),
// "low_occupancy", "small_grid"; "all" is without all of them. Those of less than a hundredth of the time are left out.
std::vector<device::CauseCost> costs_of_causes(const Profile& profile, const device::LaunchConfig& config,
                                               const device::Counters& counters, const device::Occupancy& occupancy,
                                               const Traffic& traffic, const Spread& spread, const LaunchUse& use);

}  // namespace warpgrade::vgpu
