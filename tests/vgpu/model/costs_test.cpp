// What each counter costs in the timing model, for one warp on one multiprocessor: which resource, and how much of it.
#include <cmath>

#include "support/approx.hpp"
#include "vgpu/model/host_costs.hpp"
#include "vgpu/model/timing.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu;

namespace {

const Profile profile = find_profile("h100:1");

KernelTime time_of(const device::Counters& counters, const Traffic& traffic = {}, const Profile& on = profile,
                   std::uint32_t blocks = 1, std::uint32_t resident = 1) {
    device::LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {32, 1, 1};
    device::Occupancy occupancy;
    occupancy.blocks_per_multiprocessor = resident;
    return model_kernel(on, config, counters, occupancy, traffic);
}

double cycles(double ns) { return ns * profile.properties.clock_ghz; }

constexpr std::uint64_t many = 1000;

// A single counter with the value 1000.
KernelTime alone(std::uint64_t device::Counters::*counter) {
    device::Counters c;
    c.*counter = many;
    return time_of(c);
}

}  // namespace

TEST_CASE("instructions and divergence take issue slots, waiting takes the warp's time") {
    using C = device::Counters;
    struct Row {
        std::uint64_t C::*counter;
        double issue_slots, latency_cycles;
    };
    const double issue = profile.issue_per_cycle;
    for (const Row& row : {Row{&C::inst_executed, 1, 0.5 * profile.arithmetic_latency},
                           {&C::divergent_branches, 5, 30},
                           {&C::barriers, 0, 30}}) {
        const KernelTime time = alone(row.counter);
        CHECK(cycles(time.issue_ns) == Approx(many * row.issue_slots / issue));
        CHECK(cycles(time.latency_ns) == Approx(many * row.latency_cycles));
        CHECK((time.l1_ns == 0 && time.l2_ns == 0 && time.dram_ns == 0 && time.link_ns == 0));
    }
}

TEST_CASE("what ptxas adds to an instruction takes issue slots and the warp's time") {
    const KernelTime time = time_of({}, {.machine = {.further = many}});
    CHECK(cycles(time.issue_ns) == Approx(many / profile.issue_per_cycle));
    CHECK(cycles(time.latency_ns) == Approx(many * 0.5 * profile.arithmetic_latency));
    CHECK(time.units_ns == 0);
}

TEST_CASE("moves from register to register take no time") {
    device::Counters counters;
    counters.inst_executed = 3 * many;
    const KernelTime time = time_of(counters, {.machine = {.moves = many}});
    counters.inst_executed = 2 * many;
    const KernelTime without = time_of(counters, {});
    CHECK(time.issue_ns == Approx(without.issue_ns));
    CHECK(time.latency_ns == Approx(without.latency_ns));
}

TEST_CASE("a kernel takes little more than the busiest of the units of which there are few") {
    const auto units = [](const MachineCost& machine, const char* device = "h100:1") {
        const Profile on = find_profile(device);
        return time_of({}, {.machine = machine}, on).units_ns * on.properties.clock_ghz;
    };
    CHECK(units({.special_halves = many}) == Approx(many));
    CHECK(units({.exchanges = many}) == Approx(many));
    CHECK(units({.products = many}) == Approx(many * 0.5));
    CHECK(units({.doubles = many}) == Approx(many * 0.5));
    CHECK(units({.special_halves = many, .doubles = 3 * many, .products = many, .exchanges = many}) ==
          Approx(many * std::pow(1 + 1.5 * 1.5 * 1.5 * 1.5 + 0.0625 + 1, 0.25)));
    // Devices for graphics have two units for doubles, and old ones four.
    CHECK(units({.doubles = many}, "rtx3060:1") == Approx(many * 16));
    CHECK(units({.doubles = many}, "k2200:1") == Approx(many * 8));
    const KernelTime time = time_of({}, {.machine = {.special_halves = many}});
    CHECK(std::string(time.bound()) == "units");
    CHECK(time.total_ns() == Approx(1200 + time.units_ns));
    // Kernels that run at the same time share them, as they do issue slots.
    CHECK(time.demand[static_cast<unsigned>(Resource::issue)] == Approx(time.units_ns));
}

TEST_CASE("requests and wavefronts take the load and store pipe") {
    using C = device::Counters;
    struct Row {
        std::uint64_t C::*counter;
        double l1_cycles;
    };
    for (const Row& row : {Row{&C::global_load_requests, 1.2},
                           {&C::local_load_requests, 1.2},
                           {&C::texture_requests, 1.2},
                           {&C::surface_load_requests, 1.2},
                           {&C::global_store_requests, 1},
                           {&C::local_store_requests, 1},
                           {&C::surface_store_requests, 1},
                           {&C::shared_load_wavefronts, 1},
                           {&C::shared_store_wavefronts, 1},
                           {&C::shared_atomic_wavefronts, 1},
                           {&C::atomic_requests, 2},
                           {&C::atomic_sectors, 1},
                           {&C::global_load_sectors, 0.25},
                           {&C::local_load_sectors, 0.4},
                           {&C::texture_sectors, 0.4},
                           {&C::surface_load_sectors, 0.4},
                           {&C::global_store_sectors, 0.25},
                           {&C::local_store_sectors, 0.4},
                           {&C::surface_store_sectors, 0.4}}) {
        const KernelTime time = alone(row.counter);
        CHECK(cycles(time.l1_ns) == Approx(many * row.l1_cycles));
        CHECK(time.issue_ns == 0);
    }
    // A cycle for each line that is looked up; if that is unknown, for each that the sectors fill.
    device::Counters c;
    c.global_load_requests = c.global_store_requests = many;
    c.global_load_sectors = c.global_store_sectors = 4 * many;
    CHECK(cycles(time_of(c).l1_ns) == Approx(many * 2.2));
    c.global_store_sectors *= 2;
    CHECK(cycles(time_of(c).l1_ns) == Approx(many * 3.2));
    c.global_load_sectors *= 2;
    CHECK(cycles(time_of(c).l1_ns) == Approx(many * 4.0));
    CHECK(cycles(time_of(c, {.load_cycles = 5 * many, .store_lines = 3 * many}).l1_ns) == Approx(many * 8.0));
    CHECK(cycles(time_of(c, {.load_cycles = many, .store_lines = many}).l1_ns) == Approx(many * 2.2));
    // Of others four sectors of a request are free, separately for loads and stores.
    c = {};
    c.local_load_requests = c.local_store_requests = many;
    c.local_load_sectors = c.local_store_sectors = 5 * many;
    CHECK(cycles(time_of(c).l1_ns) == Approx(many * 3.0));
    // What ptxas merges is not there.
    c = {};
    c.shared_load_wavefronts = many;
    CHECK(cycles(time_of(c, {.merged_wavefronts = many / 4}).l1_ns) == Approx(many * 0.75));
    // Registers on the stack.
    CHECK(cycles(time_of({}, {.machine = {.stack_requests = many}}).l1_ns) == Approx(many * 4.0));
}

TEST_CASE("a warp waits for its loads, four of them at a time") {
    using C = device::Counters;
    const auto pipelined = [](double latency) { return latency * (1 + (many - 1) / 4.0); };
    CHECK(alone(&C::shared_store_requests).latency_ns == 0);
    for (const auto requests : {&C::shared_load_requests, &C::shared_atomic_requests})
        CHECK(cycles(alone(requests).latency_ns) == Approx(pipelined(profile.shared_latency)));
    CHECK(cycles(alone(&C::atomic_requests).latency_ns) == Approx(pipelined(profile.l2_latency)));
    CHECK(alone(&C::global_store_requests).latency_ns == 0);
    CHECK(cycles(alone(&C::global_load_requests).latency_ns) == Approx(pipelined(profile.l1_latency)));  // no sectors
    // From DRAM if all sectors are different; from L2 if they repeat.
    device::Counters c;
    c.global_load_requests = many;
    c.global_load_sectors = 4 * many;
    CHECK(cycles(time_of(c).latency_ns) == Approx(pipelined(profile.dram_latency)));
    const double part = 0.125;  // share of different sectors
    const double again = profile.l2_latency * (1 - part) + profile.dram_latency * part;
    CHECK(cycles(time_of(c, {.footprint_bytes = 4 * many * 32 / 8}).latency_ns) == Approx(pipelined(again)));
    c = {};
    c.global_load_requests = c.global_load_sectors = 1;
    CHECK(cycles(time_of(c).latency_ns) == Approx(profile.dram_latency));
}

TEST_CASE("sectors go through L2, and those that differ through DRAM if L2 cannot hold them") {
    using C = device::Counters;
    const double l2 = 32 / profile.properties.l2_bytes_per_ns, dram = 32 / profile.properties.dram_bytes_per_ns;
    struct Row {
        std::uint64_t C::*counter;
        double cost;
    };
    const auto beyond = [](std::uint64_t C::*counter) {  // L2 has room for 12,400 sectors
        device::Counters c;
        c.*counter = 20 * many;
        return time_of(c, {.footprint_bytes = 20 * many * 32});
    };
    const double read = 0.55 + 0.5 / 4;  // a sector, and a line for four
    for (const Row& row : {Row{&C::global_load_sectors, read},
                           {&C::local_load_sectors, read},
                           {&C::texture_sectors, read},
                           {&C::surface_load_sectors, read},
                           {&C::global_store_sectors, 1.57 / 4 + 1.25},
                           {&C::local_store_sectors, 1.57 / 4 + 1.25},
                           {&C::surface_store_sectors, 1.57 / 4 + 1.25}}) {
        const KernelTime time = alone(row.counter);
        CHECK(time.l2_ns == Approx(many * row.cost * l2));
        CHECK(time.dram_ns == 0);
        CHECK(beyond(row.counter).dram_ns == Approx(20 * many * dram));
    }
    CHECK(beyond(&C::atomic_sectors).dram_ns == Approx(20 * many * dram));
    CHECK(alone(&C::atomic_cycles).l2_ns == Approx(many * 2 * l2));
    // An eighth of them are different: what L1 is not known to serve goes to L2, and all stores, each line of a
    // request.
    device::Counters loads, stores;
    loads.global_load_sectors = stores.global_store_sectors = many;
    const Traffic eighth{.footprint_bytes = many * 4, .shared_hits = many / 2};
    CHECK(time_of(loads, eighth).l2_ns == Approx(many * 0.5 * read * l2));
    // A line for each sector.
    CHECK(time_of(loads, {.missed_lines = many}).l2_ns == Approx(many * (0.55 + 0.5) * l2));
    CHECK(time_of(stores, eighth).l2_ns == Approx(many * (1.57 / 4 + 1.25) * l2));
    CHECK(time_of(stores, {.store_lines = many}).l2_ns == Approx(many * (1.57 + 1.25) * l2));
    // L1 sends some together.
    const Traffic half{.store_lines = many, .collected_lines = many / 2, .collected_sectors = many / 4};
    CHECK(time_of(stores, half).l2_ns == Approx(many * (1.57 / 2 + 1.25 * 3 / 4) * l2));
    // Fewer come from L2 if L1 is known to have them.
    loads.global_load_l1_hits = many * 15 / 16;
    CHECK(time_of(loads, {.footprint_bytes = many * 32 / 16}).l2_ns == Approx(many / 16.0 * read * l2).epsilon(0.02));
}

TEST_CASE("L2 reads while others store, and a multiprocessor sends it a sector in a cycle") {
    device::Counters loads, stores, both;
    loads.global_load_sectors = both.global_load_sectors = 3 * many;
    stores.global_store_sectors = both.global_store_sectors = many;
    const auto l2 = [](const device::Counters& c) { return time_of(c).l2_ns; };
    CHECK(l2(both) == Approx(std::hypot(l2(loads), l2(stores))));
    const auto of_one_block = [](std::uint64_t sectors) {
        device::Counters c;
        c.global_store_sectors = sectors;
        return cycles(model_kernel(find_profile("h100"), {}, c, {.blocks_per_multiprocessor = 1}).l2_ns);
    };
    CHECK(of_one_block(many) == Approx(many));
}

TEST_CASE("atomics that meet take the time of one slice of L2, on a small device as on a large one") {
    device::Counters c;
    c.atomic_cycles = many;
    const Profile whole = find_profile("h100");
    const auto l2 = [&](std::uint64_t busiest) { return time_of(c, {.busiest_atomic_cycles = busiest}, whole).l2_ns; };
    CHECK(l2(0) == Approx(many * 2 * 32 / whole.properties.l2_bytes_per_ns));
    CHECK(l2(1) == l2(0));
    CHECK(cycles(l2(many)) == Approx(many / 0.69));  // 1.36 in a nanosecond
    CHECK(time_of(c, {.busiest_atomic_cycles = 100 * many}).l2_ns == l2(100 * many));
}

TEST_CASE("blocks start one by one, also on many multiprocessors") {
    for (const char* device : {"h100:4", "h100"})
        CHECK(cycles(time_of({}, {}, find_profile(device), 10'001).total_ns() - 1200) == Approx(12'000));
    // That takes none of the blocks' own time.
    device::Counters c;
    c.inst_executed = 10'000'000;
    const KernelTime work = time_of(c, {}, find_profile("h100"), 10'001);
    CHECK(work.total_ns() > 1200 + work.blocks_ns);
    CHECK(work.total_ns() < 1200 + work.issue_ns + work.latency_ns);
}

TEST_CASE("what does not fit into L2 comes from DRAM again, a quarter of the time") {
    const double capacity = static_cast<double>(profile.properties.l2_cache_bytes) / 32;
    const double dram = 32 / profile.properties.dram_bytes_per_ns;
    device::Counters c;
    c.global_load_sectors = static_cast<std::uint64_t>(16 * capacity);
    const auto bytes = [&](double part) {
        return Traffic{.footprint_bytes = static_cast<std::uint64_t>(part * capacity) * 32};
    };
    CHECK(time_of(c, bytes(1)).dram_ns == Approx(capacity * dram));
    // Both halves of L2 have what all read.
    CHECK(time_of(c, bytes(0.475)).dram_ns > 0);
    CHECK(time_of(c, bytes(0.465)).dram_ns == 0);
    CHECK(time_of(c, bytes(0.83 / 1.71)).dram_ns == Approx(0.5 * 0.83 / 1.71 * capacity * dram).epsilon(5e-3));
    // One of them has what is read once ("again, all": 40 MiB stay, 44 do not).
    const auto once = [&](double part) {
        device::Counters all;
        all.global_load_sectors = static_cast<std::uint64_t>(part * capacity);
        return time_of(all, bytes(part)).dram_ns;
    };
    CHECK(once(40.0 / 50) == Approx(0).margin(1));
    CHECK(once(44.0 / 50) == Approx(0.88 * capacity * dram).epsilon(1e-3));
    // Almost both of them have what is changed in place (h100.md, "down columns": 24 MiB stay).
    const auto changed = [&](double part) {
        Traffic traffic = bytes(part);
        traffic.changed = static_cast<std::uint64_t>(part * capacity);
        device::Counters both;
        both.global_load_sectors = both.global_store_sectors = traffic.changed;
        return time_of(both, traffic).dram_ns;
    };
    CHECK(changed(24.0 / 50) == 0);
    CHECK(changed(32.0 / 50) == Approx(0.64 * capacity * dram).epsilon(1e-3));
    // Twice its capacity, and eight times as much requested: half of the repeated sectors are gone, and a quarter of
    // those count.
    CHECK(time_of(c, bytes(2)).dram_ns == Approx((2 + 14 * 0.5 * 0.25) * capacity * dram).epsilon(1e-4));
    // Stores and atomics are repeated as well.
    c.global_load_sectors /= 2, c.global_store_sectors = 3 * c.global_load_sectors / 8;
    c.atomic_sectors = 2 * c.global_load_sectors / 8;
    CHECK(time_of(c, bytes(2)).dram_ns == Approx((2 + (6 + 3 + 2) * 0.5 * 0.25) * capacity * dram).epsilon(1e-4));
}

TEST_CASE("mapped memory takes the link in both directions at once, and is not the device's") {
    const auto costs = HostCosts::of(profile.properties);
    device::Counters c;
    c.global_load_sectors = c.global_store_sectors = many;
    const auto link = [&](std::uint64_t reads, std::uint64_t writes) {
        return time_of(c, {.mapped_read_sectors = reads, .mapped_write_sectors = writes}).link_ns;
    };
    CHECK(link(0, 0) == 0);
    CHECK(link(many, 0) == Approx(many * 32 / costs.mapped_read_bytes_per_ns));
    CHECK(link(0, many) == Approx(many * 32 / costs.mapped_write_bytes_per_ns));
    CHECK(link(many, many) == std::max(link(many, 0), link(0, many)));
    CHECK(time_of(c, {.mapped_read_sectors = many, .mapped_write_sectors = many}).dram_ns == 0);
    // Texture fetches go there too.
    CHECK(time_of({}, {.mapped_read_sectors = many}).link_ns == link(many, 0));
    // Data from the host takes exactly as long as from DRAM.
    device::Counters once;
    once.global_load_requests = once.global_load_sectors = 1;
    CHECK(cycles(time_of(once, {.mapped_read_sectors = 1}).latency_ns) == Approx(profile.dram_latency));
    // L1 serves what it holds.
    c.global_load_l1_hits = many / 4;
    CHECK(link(many, 0) == Approx(0.75 * many * 32 / costs.mapped_read_bytes_per_ns));
    c.global_load_l1_hits = 2 * many;  // more than there are
    CHECK(link(many, 0) == 0);
}

TEST_CASE("managed memory moves before the kernel, which takes its start and the longest of all") {
    const auto costs = HostCosts::of(profile.properties);
    CHECK(time_of({}).migration_ns == 0);
    CHECK(time_of({}).total_ns() == Approx(1200));
    const KernelTime moved = time_of({}, {.migrated_bytes = 1 << 20});
    CHECK(moved.migration_ns == Approx(costs.migration_latency_ns + (1 << 20) / costs.migration_bytes_per_ns));
    CHECK(moved.total_ns() == Approx(1200 + moved.migration_ns));
    CHECK(time_of({}, {.migrated_bytes = 1}).migration_ns >= costs.migration_latency_ns);
    KernelTime time;
    time.start_ns = 1, time.issue_ns = 2, time.l1_ns = 4, time.l2_ns = 5, time.dram_ns = 6, time.link_ns = 10;
    time.latency_ns = 0;
    const double work = std::sqrt(4 + 16 + std::sqrt(625 + 1296) + 100);
    CHECK(time.total_ns() == Approx(1 + work));
    time.blocks_ns = 20;
    CHECK(time.total_ns() == Approx(1 + std::pow(std::pow(work, 4) + std::pow(20, 4), 0.25)));
}

TEST_CASE("what bounds a kernel is its largest part") {
    for (const auto& [part, name] : {std::pair(&KernelTime::issue_ns, "issue"),
                                     {&KernelTime::l1_ns, "l1"},
                                     {&KernelTime::l2_ns, "l2"},
                                     {&KernelTime::dram_ns, "dram"},
                                     {&KernelTime::link_ns, "link"},
                                     {&KernelTime::latency_ns, "latency"},
                                     {&KernelTime::blocks_ns, "blocks"}}) {
        KernelTime time;
        time.blocks_ns = 5;
        time.issue_ns = time.l1_ns = time.l2_ns = time.dram_ns = time.link_ns = time.latency_ns = 5;
        time.*part = 6;
        CHECK(std::string(time.bound()) == name);
    }
}

TEST_CASE("blocks go round the multiprocessors, and wait where there is no room") {
    const Profile four = find_profile("h100:4");
    device::Counters c;
    c.barriers = c.inst_executed = 120;
    const auto of = [&](std::uint32_t blocks, std::uint32_t resident) {
        return time_of(c, {}, four, blocks, resident);
    };
    const auto issue = [&](std::uint32_t blocks) { return of(blocks, 1).issue_ns; };
    CHECK(issue(4) == Approx(issue(1) / 4));
    CHECK(issue(5) == Approx(issue(1) * 2 / 5));
    CHECK(issue(8) == Approx(issue(4)));
    // The latency of one warp, once for each wave of blocks.
    const double once = of(1, 1).latency_ns;
    CHECK(of(4, 1).latency_ns == Approx(once / 4));
    CHECK(of(8, 1).latency_ns == Approx(2 * once / 8));
    CHECK(of(8, 2).latency_ns == Approx(once / 8));
    CHECK(of(12, 2).latency_ns == Approx(2 * once / 12));
}

TEST_CASE("what a kernel needs of the whole device: its parts over all multiprocessors, the largest with its latency") {
    const Profile four = find_profile("h100:4");
    const double clock = four.properties.clock_ghz;
    const auto need = [](const KernelTime& time, Resource r) { return time.demand[static_cast<std::size_t>(r)]; };

    device::Counters c;
    c.inst_executed = 1000;
    c.shared_load_wavefronts = 80;
    const auto check = [&](std::uint32_t blocks, std::uint32_t resident, double room) {
        const KernelTime time = time_of(c, {}, four, blocks, resident);
        CAPTURE(blocks, resident);
        const double issue = 1000 / 4 / four.issue_per_cycle / clock, l1 = 80.0 / 4 / clock;
        CHECK(need(time, Resource::l1) == Approx(l1));
        const double waiting = room * time.latency_ns;
        CHECK(need(time, Resource::issue) == Approx(std::sqrt(issue * issue + l1 * l1 + waiting * waiting)));
        CHECK((need(time, Resource::l2) == 0 && need(time, Resource::dram) == 0 && need(time, Resource::link) == 0));
    };
    check(2, 1, 0.5);
    check(2, 4, 0.125);
    check(4, 1, 1);
    check(64, 1, 1);
}
