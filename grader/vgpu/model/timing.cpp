#include "vgpu/model/timing.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "vgpu/model/block_work.hpp"
#include "vgpu/model/host_costs.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr double sector_bytes = 32;
constexpr double kernel_start_ns = 1200;

// What a load of constant memory takes in cycles of a multiprocessor; a uniform one at best, and if many warps want
// one: the last 256 bytes are kept, and warps that are elsewhere in a larger table take them from each other. That
// begins with 24 warps and is worst at 64, or before, if there is more to compute between two loads; but it does not
// happen if there is enough (tests/model/h100.md, "constants").
constexpr double constant_load_cycles = 2, uniform_load_cycles = 1, crowded_load_cycles = 20, kept_constant_bytes = 256;
constexpr double warps_without_crowd = 24, warps_to_worst = 40, worst_at_once_cycles = 6, least_to_worst = 0.2,
                 enough_cycles = 8.5;

constexpr double divergence_issue_slots = issue_tenths::divergence / 10.0;

// In cycles of a multiprocessor, for an instruction of a warp: 16 units compute special functions, 64 multiply
// integers, 64 compare, select, shift and combine bits, and lanes exchange 32 values.
constexpr double special_half_cycles = 1, product_cycles = 0.5, exchange_cycles = 1, logic_cycles = 0.5;

// In cycles of the load/store pipe.
constexpr double load_request_cycles = l1_tenths::load_request / 10.0,
                 store_request_cycles = l1_tenths::store_request / 10.0,
                 extra_sector_cycles = l1_tenths::extra_sector / 10.0, wavefront_cycles = l1_tenths::wavefront / 10.0;
constexpr double sectors_of_full_request = l1_tenths::sectors_of_full_request;
constexpr double missed_line_cycles = 0.66;
constexpr double atomic_request_cycles = l1_tenths::atomic_request / 10.0,
                 atomic_sector_cycles = l1_tenths::atomic_sector / 10.0;

// What L1 takes for a register that a called function saves, or for its return: a cycle for each of its sectors.
constexpr double stack_request_cycles = 4;
// How often L1 serves a sector of local memory before it has to ask L2 again.
constexpr double local_reuse = 4;
// What L2 takes for each line and sector that a request stores, and for atomics, relative to reading a sector
// (tests/model/h100.md, "requests").
constexpr double read_line_cost = 0.5, read_sector_cost = 0.55;
constexpr double written_line_cost = 1.57, written_sector_cost = 1.25, atomic_cycle_cost = 2;
// What one slice of L2 takes in a cycle, and how many cycles the device takes to start a block.
constexpr double atomic_cycles_of_slice = 0.69, block_start_cycles = 1.2;
// Both halves of L2 keep most of what multiprocessors of both read, half of what is written, and half of what is
// changed in place. If all that takes less than the first of these shares of L2, it is still there from the launch
// before; from the second on, nothing is (tests/model/h100.md, "again", "down columns").
constexpr double l2_keeps_all = 0.8, l2_keeps_nothing = 0.86, kept_by_halves = 1.71, kept_written = 1.55,
                 kept_changed = 1.5;
// The share of sectors that miss an L2 that is too small: concurrent blocks use the same data.
constexpr double capacity_miss = 0.25;

constexpr double dependent_share = 0.5;  // share of instructions that wait for the one before
constexpr double loads_in_flight = 4;    // per warp, if that is unknown
constexpr double barrier_cycles = 30, divergence_cycles = 30;

double number(std::uint64_t value) { return static_cast<double>(value); }

// The time of what overlaps well: the fourth root of the sum of fourth powers, a fifth more than one of two that are
// equal.
double together(std::initializer_list<double> times) {
    double sum = 0;
    for (const double time : times) sum += time * time * time * time;
    return std::sqrt(std::sqrt(sum));
}

// The time of a kernel with these needs. L2 and device memory overlap well, all else less.
double overlapped(const Demand& needs, double latency_ns) {
    const auto [issue, l1, l2, dram, link] = needs;
    double squares = 0;
    for (const double ns : {issue, l1, together({l2, dram}), link, latency_ns}) squares += ns * ns;
    return std::sqrt(squares);
}

// Cycles that `count` operations of this latency take if a warp keeps several in flight.
double pipelined(double count, double latency) {
    return count <= 0 ? 0 : latency * (1 + std::max(count - 1, 0.0) / loads_in_flight);
}

// Cycles for which a warp waits. `beyond_l2`: the share of what is not in L2 that was not there before the launch.
double waiting_cycles(const Profile& profile, const Chains& chains, double beyond_l2) {
    return number(chains.shared) * profile.shared_latency + number(chains.queue_cycles) +
           number(chains.l1) * profile.l1_latency +
           number(chains.l2 + chains.atomics + chains.dram) * profile.l2_latency +
           number(chains.dram) * beyond_l2 * (profile.dram_latency - profile.l2_latency);
}

// Cycles of all uniform loads of constant memory. `busy`: what all instructions take; `warps`: of a multiprocessor.
double uniform_cycles(const Traffic& traffic, double busy, double warps) {
    const double loads = number(traffic.uniform_constant_cycles) / constant_load_cycles,
                 at_best = loads * uniform_load_cycles, bytes = number(traffic.constant_bytes);
    if (loads == 0 || bytes <= kept_constant_bytes) return at_best;
    const double between = busy / loads;
    if (between >= enough_cycles) return at_best;
    const double to_worst = warps_to_worst * std::max(1 - between / worst_at_once_cycles, least_to_worst);
    const double crowd = std::clamp((warps - warps_without_crowd) / to_worst, 0.0, 1.0);
    return std::max(at_best, loads * crowded_load_cycles * crowd * (1 - kept_constant_bytes / bytes));
}

double request_cycles(double requests, double sectors, double per_request) {
    return requests * per_request + std::max(sectors - sectors_of_full_request * requests, 0.0) * extra_sector_cycles;
}

}  // namespace

double KernelTime::total_ns() const {
    const double work_ns = overlapped({together({issue_ns, units_ns}), l1_ns, l2_ns, dram_ns, link_ns}, latency_ns);
    return start_ns + migration_ns + together({work_ns, blocks_ns});
}

const char* KernelTime::bound() const {
    const std::initializer_list<std::pair<double, const char*>> terms = {
        {issue_ns, "issue"}, {units_ns, "units"}, {l1_ns, "l1"},           {l2_ns, "l2"},
        {dram_ns, "dram"},   {link_ns, "link"},   {latency_ns, "latency"}, {blocks_ns, "blocks"}};
    return std::max_element(terms.begin(), terms.end(), [](auto& a, auto& b) { return a.first < b.first; })->second;
}

KernelTime model_kernel(const Profile& profile, const device::LaunchConfig& config, const device::Counters& c,
                        const device::Occupancy& occupancy, const Traffic& traffic, const Spread& spread) {
    const device::DeviceProperties& device = profile.properties;
    const double cycle_ns = 1 / device.clock_ghz;
    KernelTime time;
    time.start_ns = kernel_start_ns;
    // The busiest multiprocessor determines the time. With equal blocks it is one that has most of them.
    const double blocks = std::max(number(config.grid.count()), 1.0);
    const double multiprocessors = std::max(number(device.multi_processor_count), 1.0);
    const double busiest_blocks = std::ceil(blocks / multiprocessors);
    time.blocks_ns = (blocks - 1) * block_start_cycles * cycle_ns;  // start_ns has the first one
    const auto busiest = [&](double known) { return known > 0 ? known : busiest_blocks / blocks; };
    const double resident = std::max(number(occupancy.blocks_per_multiprocessor), 1.0);
    const double warps_per_block = std::max(std::ceil(number(config.block.count()) / number(device.warp_size)), 1.0);
    const double warps = blocks * warps_per_block;

    const Retries& retries = traffic.retries;
    const double issued = traffic.issue_tenths > 0
                              ? number(traffic.issue_tenths) / 10 + number(retries.instructions)
                              : number(c.inst_executed + retries.instructions) - number(traffic.machine.moves) -
                                    number(traffic.merged_requests);
    const double instructions = issued + number(traffic.machine.further);
    const double divergent = number(
        c.divergent_branches - std::min(traffic.predicated_divergences, c.divergent_branches) + retries.divergences);
    const double issue_slots = instructions + divergent * divergence_issue_slots;
    time.issue_ns = issue_slots * busiest(spread.busiest_issue) / profile.issue_per_cycle * cycle_ns;
    const MachineCost& machine = traffic.machine;
    const double uniform = uniform_cycles(traffic, issue_slots / profile.issue_per_cycle,
                                          std::min(resident, busiest_blocks) * warps_per_block);
    const double unit_cycles =
        together({number(machine.special_halves) * special_half_cycles, number(machine.exchanges) * exchange_cycles,
                  number(machine.products) * product_cycles, number(machine.logic) * logic_cycles,
                  number(traffic.constant_cycles), uniform,
                  number(machine.doubles) * number(device.warp_size) / profile.double_units});
    time.units_ns = unit_cycles * busiest(spread.busiest_issue) * cycle_ns;

    const double load_requests =
        number(c.global_load_requests + c.local_load_requests + c.texture_requests + c.surface_load_requests);
    const double load_sectors =
        number(c.global_load_sectors + c.local_load_sectors + c.texture_sectors + c.surface_load_sectors);
    const double store_requests = number(c.global_store_requests + c.local_store_requests + c.surface_store_requests);
    const double store_sectors = number(c.global_store_sectors + c.local_store_sectors + c.surface_store_sectors);
    const double wavefronts =
        number(c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts + retries.wavefronts) -
        number(traffic.merged_wavefronts);
    const auto lines_of = [](std::uint64_t lines, std::uint64_t requests, std::uint64_t sectors) {
        return lines > 0 ? number(lines) : std::max(number(requests), number(sectors) / sectors_of_full_request);
    };
    const double load_cycles = lines_of(traffic.load_cycles, c.global_load_requests, c.global_load_sectors),
                 store_lines = lines_of(traffic.store_lines, c.global_store_requests, c.global_store_sectors);
    const double further_loads = load_requests - number(c.global_load_requests),
                 further_stores = store_requests - number(c.global_store_requests);
    const double l1_cycles =
        wavefronts * wavefront_cycles + std::max(load_cycles, number(c.global_load_requests) * load_request_cycles) +
        number(traffic.missed_lines) * missed_line_cycles + number(machine.stack_requests) * stack_request_cycles +
        std::max(store_lines, number(c.global_store_requests) * store_request_cycles) +
        request_cycles(further_loads, load_sectors - number(c.global_load_sectors), load_request_cycles) +
        request_cycles(further_stores, store_sectors - number(c.global_store_sectors), store_request_cycles) +
        number(c.atomic_requests) * atomic_request_cycles + number(c.atomic_sectors) * atomic_sector_cycles;
    time.l1_ns = l1_cycles * busiest(spread.busiest_l1) * cycle_ns;

    const auto costs = HostCosts::of(device);
    const double l1_misses = c.global_load_sectors > 0
                                 ? 1 - std::min(number(c.global_load_l1_hits) / number(c.global_load_sectors), 1.0)
                                 : 1;
    const double mapped_reads = number(traffic.mapped_read_sectors) * l1_misses;
    const double mapped_writes = number(traffic.mapped_write_sectors);
    // Both directions work at the same time.
    time.link_ns = sector_bytes * std::max(mapped_reads / costs.mapped_read_bytes_per_ns,
                                           mapped_writes / costs.mapped_write_bytes_per_ns);
    if (traffic.migrated_bytes > 0)
        time.migration_ns = costs.migration_latency_ns + number(traffic.migrated_bytes) / costs.migration_bytes_per_ns;

    // The number of distinct sectors cannot exceed the number requested.
    const double asked = std::max(load_sectors + store_sectors + number(c.atomic_sectors) -
                                      number(traffic.mapped_read_sectors + traffic.mapped_write_sectors),
                                  0.0);
    const double capacity = number(device.l2_cache_bytes) / sector_bytes;
    const double in_buffers =
        traffic.footprint_bytes ? std::ceil(number(traffic.footprint_bytes) / sector_bytes) : capacity;
    // A launch may use a small part of its buffers.
    const double touched = number(c.dram_read_sectors + traffic.fresh_writes);
    const double known = touched == 0 ? in_buffers : std::min(in_buffers, touched);
    Scattered scattered = traffic.scattered;
    const auto most_scattered = static_cast<std::uint64_t>(std::min(load_sectors, asked));
    if (scattered.sectors > most_scattered) scattered.scale(most_scattered, scattered.sectors);
    const double others = asked - number(scattered.sectors);
    const double distinct = std::min(others + number(scattered.dram_reads), known);
    const double global_misses = number(c.global_load_sectors) * l1_misses;
    const double distinct_loads = std::min(load_sectors, distinct);
    const double l2_loads = std::max(distinct_loads, std::max(global_misses - number(traffic.shared_hits), 0.0) +
                                                         (load_sectors - number(c.global_load_sectors)) / local_reuse);
    const double further_lines = (store_sectors - number(c.global_store_sectors)) / sectors_of_full_request;
    const double missed = std::max(global_misses - number(traffic.shared_hits), 1.0);
    const double lines_a_sector =
        traffic.missed_lines > 0 ? std::min(number(traffic.missed_lines) / missed, 1.0) : 0.25;
    const double l2_reads = l2_loads * (read_sector_cost + lines_a_sector * read_line_cost);
    const double sent_lines = std::max(store_lines - number(traffic.collected_lines), 0.0),
                 sent_sectors = std::max(store_sectors - number(traffic.collected_sectors), 0.0);
    const double l2_writes = (sent_lines + further_lines) * written_line_cost + sent_sectors * written_sector_cost +
                             number(c.atomic_cycles) * atomic_cycle_cost;
    const double l2_sectors = std::hypot(l2_reads, l2_writes);
    // Atomics that meet wait for one slice, however many there are; a multiprocessor sends L2 a sector in a cycle.
    time.l2_ns = std::max({l2_sectors * sector_bytes / device.l2_bytes_per_ns,
                           number(traffic.busiest_atomic_cycles) / atomic_cycles_of_slice * cycle_ns,
                           sent_sectors * busiest(spread.busiest_l1) * cycle_ns});

    double lost = 0;
    if (distinct > capacity) {
        const double again = l2_loads + store_sectors + number(c.atomic_sectors) - distinct;
        lost = std::max(again, 0.0) * (1 - capacity / distinct) * capacity_miss;
    }
    const double fetched = scattered.sectors > 0 ? std::min(others, known) + number(scattered.fetched_sectors) : 0;
    // What fits into L2 is there from the copy or the launch before; what streams through a smaller one never is.
    const double written = std::min(number(traffic.fresh_writes), in_buffers);
    const double read = std::max(distinct - written, 0.0);
    const double readers = std::clamp(l2_loads / std::max(read, 1.0), 1.0, kept_by_halves);
    const double changed = std::min(number(traffic.changed), read);
    const double kept = std::min((read - changed) * readers + written * kept_written + changed * kept_changed,
                                 in_buffers * kept_by_halves);
    const double gone = std::clamp((kept / capacity - l2_keeps_all) / (l2_keeps_nothing - l2_keeps_all), 0.0, 1.0);
    time.dram_ns = gone * std::max(distinct + lost, fetched) * sector_bytes / device.dram_bytes_per_ns;

    // The time of one warp on its own. Data from the host takes at least as long as from DRAM.
    const double per_warp = 1 / warps;
    const double from_l2 = load_sectors > 0 ? std::min((l2_loads + mapped_reads) / load_sectors, 1.0) : 0;
    const double from_dram =
        load_sectors > 0 ? std::min((distinct_loads + lost + mapped_reads) / load_sectors, from_l2) : 0;
    const double load_latency = profile.l1_latency * (1 - from_l2) + profile.l2_latency * (from_l2 - from_dram) +
                                profile.dram_latency * from_dram;
    const double shared_requests =
        number(c.shared_load_requests + c.shared_atomic_requests) - number(traffic.merged_requests);
    const Chains& chains = traffic.chains;
    const double beyond_l2 = distinct > capacity ? 1 - capacity / distinct : gone;
    const double chain_cycles = waiting_cycles(profile, chains, beyond_l2) +
                                number(retries.requests) * profile.shared_latency + number(retries.wavefronts);
    const auto unchained = [&](double requests, std::uint64_t chained) {
        return std::max(requests - number(chained), 0.0) * per_warp;
    };
    const auto waited = [&](double requests, const Waits& waits, double latency) {
        if (waits.loads == 0) return pipelined(requests, latency);
        return requests * waiting_cycles(profile, waits.waits, gone) / number(waits.loads);
    };
    const double path = traffic.path == 0 ? instructions * dependent_share
                                          : number(traffic.path) / 4 + number(retries.instructions) * dependent_share;
    const double warp_cycles =
        path * per_warp * profile.arithmetic_latency + chain_cycles * per_warp +
        waited(unchained(load_requests, chains.l1 + chains.l2 + chains.dram), traffic.global_waits, load_latency) +
        pipelined(unchained(number(c.atomic_requests), chains.atomics), profile.l2_latency) +
        waited(unchained(shared_requests, chains.shared), traffic.shared_waits, profile.shared_latency) +
        number(c.barriers) * per_warp * barrier_cycles + divergent * per_warp * divergence_cycles;
    time.latency_ns =
        std::max(std::ceil(busiest_blocks / resident) * std::max(spread.longest_of_block, 1.0), spread.longest_warp) *
        warp_cycles * cycle_ns;

    // The needs of the whole device, with work spread evenly.
    const double room = std::min(blocks / (resident * multiprocessors), 1.0);
    time.demand = {together({issue_slots / profile.issue_per_cycle, unit_cycles}) / multiprocessors * cycle_ns,
                   l1_cycles / multiprocessors * cycle_ns, time.l2_ns, time.dram_ns, time.link_ns};
    *std::ranges::max_element(time.demand) = overlapped(time.demand, room * time.latency_ns);
    return time;
}

}  // namespace warpgrade::vgpu
