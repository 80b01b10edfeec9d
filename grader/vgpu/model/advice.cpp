#include "vgpu/model/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {
namespace {

// The shares of a launch's time that a waste must cost before it is mentioned.
constexpr double notable = 0.05, much = 0.10;
constexpr double min_gain_ns = 100;
constexpr std::uint64_t min_warps = 64;         // smaller launches are not about speed
constexpr std::uint64_t notable_ratio = 2;      // sectors or wavefronts, relative to the ideal
constexpr std::uint64_t sectors_of_offset = 2;  // an unaligned row touches fewer than this many additional sectors
constexpr double divergent_share = 0.10;        // of the warps at a branch
constexpr double idle_share = 0.25;             // of the threads after it
constexpr double low_occupancy = 0.5;
constexpr double min_grid_ns = 20'000;    // shorter launches get no advice about their grid
constexpr double worth_a_line = 0.01;     // of a launch's time
constexpr double notable_redundancy = 6;  // a 3×3 stencil loads each element of a row three times, from cached rows

double number(std::uint64_t value) { return static_cast<double>(value); }

std::string average(double value) {
    const double tenths = std::round(value * 10) / 10;
    return tenths == std::floor(tenths) ? grouped(static_cast<std::uint64_t>(tenths)) : fmt::format("{:.1f}", tenths);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void subtract(std::uint64_t& count, std::uint64_t less) { count -= std::min(count, less); }

// Each of these removes one waste of a source line from a launch's counters.

void coalesce(device::Counters& c, const LineUse& line, bool load) {
    const LineUse::Global& g = load ? line.loads : line.stores;
    if (g.sectors < g.ideal) return;
    subtract(load ? c.global_load_sectors : c.global_store_sectors, g.sectors - g.ideal);
}

void spread_over_banks(device::Counters& c, const LineUse& line, bool load) {
    if (load)
        subtract(c.shared_load_wavefronts, line.shared_loads.conflicts);
    else
        subtract(c.shared_store_wavefronts, line.shared_stores.conflicts);
}

void let_all_lanes_work(device::Counters& c, const LineUse& line) {
    subtract(c.inst_executed, static_cast<std::uint64_t>(line.idle));
    subtract(c.divergent_branches, line.divergent);
}

// The traffic of a launch of which only these instructions are left, and these sectors of loads: scattered ones go
// first.
Traffic with_work_of(const device::Counters& better, const device::Counters& counters, Traffic traffic) {
    const auto keep = [](std::uint64_t& count, std::uint64_t part, std::uint64_t whole) {
        if (whole > 0) count = scaled(count, std::min(part, whole), whole);
    };
    traffic.machine.scale(better.inst_executed, counters.inst_executed);
    keep(traffic.issue_tenths, better.inst_executed, counters.inst_executed);
    keep(traffic.path, better.inst_executed, counters.inst_executed);
    keep(traffic.load_cycles, better.global_load_sectors, counters.global_load_sectors);
    keep(traffic.store_lines, better.global_store_sectors, counters.global_store_sectors);
    keep(traffic.collected_lines, better.global_store_sectors, counters.global_store_sectors);
    keep(traffic.collected_sectors, better.global_store_sectors, counters.global_store_sectors);
    keep(traffic.missed_lines, better.global_load_sectors, counters.global_load_sectors);
    keep(traffic.shared_hits, better.global_load_sectors, counters.global_load_sectors);
    std::uint64_t scattered = traffic.scattered.sectors;
    subtract(scattered,
             counters.global_load_sectors - std::min(better.global_load_sectors, counters.global_load_sectors));
    if (scattered < traffic.scattered.sectors) traffic.scattered.scale(scattered, traffic.scattered.sectors);
    return traffic;
}

// As if the lanes of each atomic were on words and banks of their own.
void let_no_atomics_meet(device::Counters& c) {
    c.atomic_cycles = std::min(c.atomic_cycles, c.atomic_sectors);
    c.shared_atomic_wavefronts = std::min(c.shared_atomic_wavefronts, c.shared_atomic_requests);
}

// The share of the multiprocessors that get no block.
double idle_share_of_device(const Profile& profile, const device::LaunchConfig& config) {
    const double all = number(profile.properties.multi_processor_count);
    return std::max(all - number(config.grid.count()), 0.0) / all;
}

// How often a block loads the same data; 0 if that is unknown.
double redundancy(const LineUse::Global& g) {
    if (g.sectors <= g.l1_hits) return 0;
    return number(std::min(g.ideal, g.sectors)) / number(g.sectors - g.l1_hits);
}

// From then on the data comes from shared memory.
void load_once(device::Counters& c, const LineUse::Global& g, double times) {
    const auto repeated = [&](std::uint64_t all) { return static_cast<std::uint64_t>(number(all) * (1 - 1 / times)); };
    subtract(c.global_load_requests, repeated(g.requests));
    subtract(c.global_load_sectors, repeated(g.sectors));
    c.shared_load_requests += g.requests;
    c.shared_load_wavefronts += g.requests;
}

class Adviser {
  public:
    Adviser(const Profile& profile, const device::LaunchConfig& config, const device::Counters& counters,
            const device::Occupancy& occupancy, const Traffic& traffic)
        : device_(profile.properties),
          whole_(profile),
          profile_(filled_part(profile, config, occupancy)),
          config_(config),
          counters_(counters),
          occupancy_(occupancy),
          traffic_(traffic),
          time_(time(counters, occupancy)) {}

    void uncoalesced(const LineUse& line, bool load) {
        const LineUse::Global& g = load ? line.loads : line.stores;
        if (g.requests == 0) return;
        if (g.sectors < notable_ratio * g.ideal || g.sectors < g.ideal + sectors_of_offset * g.requests) return;
        device::Counters better = counters_;
        coalesce(better, line, load);
        add(device::rules::uncoalesced, line.place, better, notable,
            fmt::format("each request of {} threads {} {} sectors of 32 bytes where {} would do",
                        average(g.threads / number(g.requests)), load ? "reads" : "writes",
                        average(number(g.sectors) / number(g.requests)),
                        average(number(g.ideal) / number(g.requests))));
    }

    void bank_conflicts(const LineUse& line, bool load) {
        const LineUse::Shared& s = load ? line.shared_loads : line.shared_stores;
        const std::uint64_t ideal = s.wavefronts - s.conflicts;
        if (s.requests == 0 || s.wavefronts < notable_ratio * ideal) return;
        device::Counters better = counters_;
        spread_over_banks(better, line, load);
        // Shares of the load/store pipe's time: waits for memory may hide the conflicts until those waits are fixed.
        const auto pipe = [&](const device::Counters& c) {
            return model_kernel(profile_, config_, c, occupancy_, traffic_).l1_ns;
        };
        if (pipe(counters_) - pipe(better) < notable * pipe(counters_)) return;
        add(device::rules::bank_conflicts, line.place, better, 0,
            fmt::format("{} shared memory with {}-way bank conflicts: {} wavefronts per request where {} would do",
                        load ? "reads" : "writes", average(number(s.wavefronts) / number(ideal)),
                        average(number(s.wavefronts) / number(s.requests)),
                        average(number(ideal) / number(s.requests))));
    }

    void divergence(const LineUse& line) {
        if (line.slots <= 0) return;
        const double share = number(line.divergent) / number(line.branches), idle = line.idle / line.slots;
        // A loop that lanes leave one by one seldom diverges relative to its number of iterations, so idle threads
        // count too.
        if (share < divergent_share && idle < idle_share) return;
        device::Counters better = counters_;
        let_all_lanes_work(better, line);
        add(device::rules::divergence, line.place, better, much,
            fmt::format("the threads of a warp diverge here{}, and {} of 32 are idle until they reconverge",
                        share < divergent_share ? "" : fmt::format(" in {} of all cases", percent(share)),
                        average(32 * idle)));
    }

    // Loads of data that the same block has loaded before and that L1 still holds.
    void redundant_loads(const LineUse& line) {
        const double times = redundancy(line.loads);
        if (times < notable_redundancy) return;
        device::Counters better = counters_;
        load_once(better, line.loads, times);
        add(device::rules::redundant_loads, line.place, better, much,
            fmt::format("each block loads the same data about {} times from global memory", average(times)));
    }

    void low_occupancy_of(const device::SourcePlace& kernel) {
        const std::uint64_t at_once =
            std::uint64_t{occupancy_.blocks_per_multiprocessor} * device_.multi_processor_count;
        if (occupancy_.theoretical <= 0 || occupancy_.theoretical > low_occupancy || config_.grid.count() < at_once)
            return;
        device::Occupancy more = occupancy_;
        more.blocks_per_multiprocessor *= 2;
        add_gain(
            device::rules::low_occupancy, kernel, time_ - time(counters_, more), much,
            fmt::format("a multiprocessor holds {} of {} at once, {} of the warps that it could hold, limited by {}",
                        counted(occupancy_.blocks_per_multiprocessor, "block"),
                        counted(config_.block.count(), "thread"), percent(occupancy_.theoretical), occupancy_.limiter));
    }

    // Multiprocessors that get no block although sharing the work would pay.
    void small_grid(const device::SourcePlace& kernel) {
        const std::uint64_t blocks = config_.grid.count(), all = device_.multi_processor_count;
        const double share = idle_share_of_device(whole_, config_);
        if (share <= 0) return;
        const KernelTime t = model_kernel(whole_, config_, counters_, occupancy_, traffic_);
        const double ns = t.total_ns() - t.start_ns - t.migration_ns;
        if (ns < min_grid_ns) return;
        device::Diagnostic d;
        d.rule = &device::rules::small_grid;
        d.place = kernel;
        d.message = fmt::format("the grid has {}, the device {} multiprocessors: {} of them have nothing to do",
                                counted(blocks, "block"), all, all - blocks);
        d.weight = round_for_sums(ns * share);
        found_.push_back(std::move(d));
    }

    std::vector<device::Diagnostic> take() {
        std::ranges::stable_sort(found_, std::greater(), &device::Diagnostic::weight);
        return std::move(found_);
    }

  private:
    // A small launch is judged like a large one: on as many multiprocessors as it fills with two waves of blocks.
    static Profile filled_part(const Profile& profile, const device::LaunchConfig& config,
                               const device::Occupancy& occupancy) {
        const std::uint64_t waves = 2, all = profile.properties.multi_processor_count;
        const std::uint64_t fills = config.grid.count() / (waves * std::max(occupancy.blocks_per_multiprocessor, 1u));
        return slice(profile, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fills, 1, all)));
    }

    // Rounds to steps of 2^-20 ns, so that sums over many launches are exact. Launches are queried in groups that
    // depend on the clock, and the sum must not depend on the grouping.
    static double round_for_sums(double ns) { return std::ldexp(std::round(std::ldexp(ns, 20)), -20); }

    // Time without the fixed cost of every launch.
    [[nodiscard]] double time(const device::Counters& counters, const device::Occupancy& occupancy) const {
        const KernelTime t =
            model_kernel(profile_, config_, counters, occupancy, with_work_of(counters, counters_, traffic_));
        return t.total_ns() - t.start_ns;
    }

    void add(const device::Rule& rule, const device::SourcePlace& place, const device::Counters& better, double least,
             const std::string& message) {
        add_gain(rule, place, time_ - time(better, occupancy_), least, message);
    }

    void add_gain(const device::Rule& rule, const device::SourcePlace& place, double gain_ns, double least,
                  const std::string& message) {
        if (gain_ns < least * time_ || (least > 0 && gain_ns < min_gain_ns)) return;
        device::Diagnostic d;
        d.rule = &rule;
        d.place = place;
        d.message = message;
        if (gain_ns >= 0.01 * time_)
            d.message += fmt::format(" (about {} of the kernel's time)", percent(gain_ns / time_));
        d.weight = round_for_sums(gain_ns * profile_.properties.multi_processor_count / device_.multi_processor_count);
        found_.push_back(std::move(d));
    }

    const device::DeviceProperties& device_;
    const Profile& whole_;
    const Profile profile_;
    const device::LaunchConfig& config_;
    const device::Counters& counters_;
    const device::Occupancy& occupancy_;
    const Traffic& traffic_;
    double time_;
    std::vector<device::Diagnostic> found_;
};

}  // namespace

std::vector<device::Diagnostic> advise(const Profile& profile, const device::LaunchConfig& config,
                                       const device::Counters& counters, const device::Occupancy& occupancy,
                                       const Traffic& traffic, const LaunchUse& use) {
    Adviser adviser(profile, config, counters, occupancy, traffic);
    adviser.small_grid(use.kernel);
    if (config.grid.count() * ((config.block.count() + 31) / 32) < min_warps) return adviser.take();
    for (const LineUse& line : use.lines) {
        for (const bool load : {true, false}) {
            adviser.uncoalesced(line, load);
            adviser.bank_conflicts(line, load);
        }
        adviser.divergence(line);
        adviser.redundant_loads(line);
    }
    adviser.low_occupancy_of(use.kernel);
    return adviser.take();
}

std::vector<device::CauseCost> costs_of_causes(const Profile& profile, const device::LaunchConfig& config,
                                               const device::Counters& counters, const device::Occupancy& occupancy,
                                               const Traffic& traffic, const Spread& spread, const LaunchUse& use) {
    Traffic moved = traffic;
    // Indices are products of integers and reductions exchange values: as they have to.
    const MachineCost cheap = {.products = traffic.machine.products, .exchanges = traffic.machine.exchanges};
    const auto model = [&](const device::Counters& c, const device::Occupancy& o) {
        return model_kernel(profile, config, c, o, with_work_of(c, counters, moved), spread);
    };
    const KernelTime now = model(counters, occupancy);
    std::vector<device::CauseCost> costs;
    const auto add = [&](const char* cause, double ns) {
        if (ns >= worth_a_line * now.total_ns()) costs.push_back({cause, ns / now.total_ns()});
    };
    device::Counters all = counters;
    const auto without = [&](const char* cause, const auto& improve) {
        device::Counters better = counters;
        for (const LineUse& line : use.lines) improve(better, line), improve(all, line);
        add(cause, now.total_ns() - model(better, occupancy).total_ns());
    };
    without("uncoalesced",
            [](device::Counters& c, const LineUse& line) { coalesce(c, line, true), coalesce(c, line, false); });
    without("bank_conflicts", [](device::Counters& c, const LineUse& line) {
        spread_over_banks(c, line, true), spread_over_banks(c, line, false);
    });
    without("redundant_loads", [&](device::Counters& c, const LineUse& line) {
        const double times = redundancy(line.loads);
        if (times < notable_redundancy) return;
        LineUse::Global loads = line.loads;
        if (&c == &all) loads.sectors = std::min(loads.sectors, loads.ideal);  // the others have been taken already
        load_once(c, loads, times);
    });
    without("divergence", let_all_lanes_work);
    const auto keep_in_registers = [](device::Counters& c) {
        c.local_load_requests = c.local_load_sectors = c.local_store_requests = c.local_store_sectors = 0;
    };
    device::Counters better = counters;
    keep_in_registers(better), keep_in_registers(all);
    add("local_memory", now.total_ns() - model(better, occupancy).total_ns());
    better = counters;
    let_no_atomics_meet(better), let_no_atomics_meet(all);
    moved.busiest_atomic_cycles = 0, moved.retries = {};
    add("contention", now.total_ns() - model(better, occupancy).total_ns());
    moved = traffic;
    moved.machine = cheap;
    add("expensive_arithmetic", now.total_ns() - model(counters, occupancy).total_ns());
    moved = traffic;
    moved.chains = {};
    add("dependent_loads", now.total_ns() - model(counters, occupancy).total_ns());
    moved = traffic;
    device::Occupancy full = occupancy;
    if (occupancy.theoretical > 0)
        full.blocks_per_multiprocessor =
            static_cast<std::uint32_t>(std::lround(occupancy.blocks_per_multiprocessor / occupancy.theoretical));
    add("low_occupancy", now.total_ns() - model(counters, full).total_ns());
    double idle = 0;
    const double work_ns = now.total_ns() - now.start_ns - now.migration_ns;
    if (const double share = idle_share_of_device(profile, config); work_ns >= min_grid_ns)
        add("small_grid", work_ns * share), idle = share;
    if (costs.empty()) return costs;
    moved.busiest_atomic_cycles = 0, moved.machine = cheap, moved.chains = {}, moved.retries = {};
    const KernelTime best = model(all, full);
    add("all", now.total_ns() - best.total_ns() + (best.total_ns() - best.start_ns - best.migration_ns) * idle);
    return costs;
}

}  // namespace warpgrade::vgpu
