// What each cause costs a launch: the time of the launch less that of one without this cause.
#include <map>

#include "judge/catch.hpp"
#include "support/approx.hpp"
#include "vgpu/model/advice.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu;

namespace {

constexpr std::uint64_t many = 1'000'000;

// A launch that fills the device, with some work on one line and other work elsewhere.
struct Launch {
    Profile profile = find_profile("h100:4");
    device::LaunchConfig config;
    device::Counters counters;
    device::Occupancy occupancy{4, 1.0, 1.0, "warps"};
    Traffic traffic;
    Spread spread;
    LaunchUse use;

    Launch() {
        config.grid = {1024, 1, 1};
        config.block = {256, 1, 1};
        use.lines.emplace_back();
        counters.inst_executed = many;
    }
    LineUse& line() { return use.lines[0]; }
    [[nodiscard]] std::map<std::string, double> costs() const {
        std::map<std::string, double> shares;
        for (const auto& one : costs_of_causes(profile, config, counters, occupancy, traffic, spread, use))
            shares[one.cause] = one.share;
        return shares;
    }
    [[nodiscard]] KernelTime time() const {
        return model_kernel(profile, config, counters, occupancy, traffic, spread);
    }
    // The part of this launch's time that `better` does not take.
    [[nodiscard]] double saved_by(const Launch& better) const {
        return (time().total_ns() - better.time().total_ns()) / time().total_ns();
    }
};

double work_ns(const KernelTime& time) { return time.total_ns() - time.start_ns - time.migration_ns; }

// The launch has this cause alone, which costs as much as `better` is quicker.
void check_only(const Launch& launch, const std::string& cause, const Launch& better) {
    const auto costs = launch.costs();
    CAPTURE(cause);
    REQUIRE(costs.size() == 2);
    CHECK(launch.saved_by(better) > 0.05);
    CHECK(costs.at(cause) == Approx(launch.saved_by(better)));
    CHECK(costs.at("all") == Approx(launch.saved_by(better)));
}

}  // namespace

TEST_CASE("sectors beyond the ideal, of loads and of stores, and of all lines together") {
    Launch a;
    a.line().loads = {many, 32 * many, 0, 4 * many, 32.0 * many};
    a.line().stores = {many, 16 * many, 0, 8 * many, 32.0 * many};
    a.use.lines.push_back(a.line());
    a.use.lines[1].stores = {many, 3 * many, 0, 4 * many, 32.0 * many};  // less than its bytes need: half of a warp
    a.counters.global_load_requests = 2 * many, a.counters.global_load_sectors = 64 * many;
    a.counters.global_store_requests = 2 * many, a.counters.global_store_sectors = 19 * many;
    Launch better = a;
    better.counters.global_load_sectors = 8 * many, better.counters.global_store_sectors = 11 * many;
    check_only(a, "uncoalesced", better);
}

TEST_CASE("scattered loads without their sectors beyond the ideal leave the others what they are") {
    Launch a;
    a.line().loads = {many, 32 * many, 0, 4 * many, 32.0 * many};
    a.counters.global_load_requests = 2 * many, a.counters.global_load_sectors = 36 * many;
    a.traffic.scattered = {32 * many, 8 * many, 16 * many};
    Launch better = a;
    better.counters.global_load_sectors = 8 * many;
    better.traffic.scattered = {4 * many, many, 2 * many};
    check_only(a, "uncoalesced", better);
}

TEST_CASE("conflicts of loads and of stores") {
    Launch a;
    a.line().shared_loads = {many, 30 * many, 29 * many}, a.line().shared_stores = {many, 8 * many, 6 * many};
    a.counters.shared_load_requests = a.counters.shared_store_requests = many;
    a.counters.shared_load_wavefronts = 30 * many, a.counters.shared_store_wavefronts = 8 * many;
    Launch better = a;
    better.counters.shared_load_wavefronts = many, better.counters.shared_store_wavefronts = 2 * many;
    check_only(a, "bank_conflicts", better);
}

TEST_CASE("loads of what the block has loaded before come from shared memory instead") {
    Launch a;
    a.line().loads = {8 * many, 32 * many, 28 * many, 32 * many, 256.0 * many};
    a.counters.global_load_requests = 8 * many, a.counters.global_load_sectors = 32 * many;
    a.counters.global_load_l1_hits = 28 * many;
    Launch better = a;
    better.counters.global_load_requests = many, better.counters.global_load_sectors = 4 * many;
    better.counters.shared_load_requests = better.counters.shared_load_wavefronts = 8 * many;
    check_only(a, "redundant_loads", better);
    a.line().loads.l1_hits = 26 * many;  // five times
    CHECK(a.costs().empty());

    // Sectors that both causes would save are saved once.
    a.line().loads = {8 * many, 256 * many, 252 * many, 32 * many, 256.0 * many};
    a.counters.global_load_sectors = 256 * many;
    Launch coalesced = a, once = a;
    coalesced.counters.global_load_sectors = 32 * many;
    once.counters.global_load_requests = many, once.counters.global_load_sectors = 32 * many;
    once.counters.shared_load_requests = once.counters.shared_load_wavefronts = 8 * many;
    const auto costs = a.costs();
    CHECK(costs.at("uncoalesced") == Approx(a.saved_by(coalesced)));
    CHECK(costs.at("redundant_loads") == Approx(a.saved_by(once)));
    once.counters.global_load_sectors = 4 * many;
    CHECK(costs.at("all") == Approx(a.saved_by(once)));
}

TEST_CASE("lanes that wait for others of their warp, whose instructions take the machine with them") {
    Launch a;
    a.line().branches = many, a.line().divergent = many / 2, a.line().slots = 80.0 * many, a.line().idle = 50.0 * many;
    a.counters.inst_executed = 100 * many, a.counters.divergent_branches = many / 2;
    a.traffic.machine = {.products = 900 * many};
    Launch better = a;
    better.counters.inst_executed = 50 * many, better.counters.divergent_branches = 0;
    better.traffic.machine.products = 450 * many;
    check_only(a, "divergence", better);
}

TEST_CASE("local memory: its requests and its sectors, of loads and of stores") {
    for (const auto counter : {&device::Counters::local_load_requests, &device::Counters::local_load_sectors,
                               &device::Counters::local_store_requests, &device::Counters::local_store_sectors}) {
        Launch a;
        a.counters.*counter = 50 * many;
        Launch better = a;
        better.counters.*counter = 0;
        check_only(a, "local_memory", better);
    }
}

TEST_CASE("atomics that meet: in L2, in one slice of it, and in shared memory") {
    Launch a;
    a.counters.atomic_requests = many, a.counters.atomic_sectors = 4 * many, a.counters.atomic_cycles = 90 * many;
    Launch better = a;
    better.counters.atomic_cycles = 4 * many;
    check_only(a, "contention", better);

    Launch slice = a;
    slice.counters.atomic_cycles = 3 * many;
    slice.traffic.busiest_atomic_cycles = 300 * many;
    better = slice;
    better.traffic.busiest_atomic_cycles = 0;
    check_only(slice, "contention", better);

    Launch shared;
    shared.counters.shared_atomic_requests = many, shared.counters.shared_atomic_wavefronts = 20 * many;
    better = shared;
    better.counters.shared_atomic_wavefronts = many;
    check_only(shared, "contention", better);
    shared.counters.shared_atomic_wavefronts = many / 2;
    CHECK(shared.costs().empty());
}

TEST_CASE("without contention, a slice of L2 that nobody else needs takes no time") {
    Launch a;
    a.config.grid = {1, 1, 1};
    a.counters.inst_executed = 0;
    a.traffic.busiest_atomic_cycles = 500;
    Launch better = a;
    better.traffic.busiest_atomic_cycles = 0;
    check_only(a, "contention", better);
}

TEST_CASE("of several causes, each costs what the launch would save without this one alone") {
    Launch a;
    a.counters.global_load_requests = a.counters.global_load_sectors = 20 * many;
    a.counters.shared_atomic_requests = a.counters.shared_atomic_wavefronts = many;
    a.traffic.retries = {20 * many, 20 * many, 20 * many, many};
    a.traffic.machine = {.further = 40 * many};
    a.traffic.chains = {.l2 = 2 * many};
    a.occupancy = {4, 0.5, 0.5, "registers"};
    Launch uncontended = a, cheap = a, unchained = a, full = a;
    uncontended.traffic.retries = {};
    cheap.traffic.machine = {};
    unchained.traffic.chains = {};
    full.occupancy.blocks_per_multiprocessor = 8;
    const auto costs = a.costs();
    CHECK(costs.at("contention") == Approx(a.saved_by(uncontended)));
    CHECK(costs.at("expensive_arithmetic") == Approx(a.saved_by(cheap)));
    CHECK(costs.at("dependent_loads") == Approx(a.saved_by(unchained)));
    CHECK(costs.at("low_occupancy") == Approx(a.saved_by(full)));
}

TEST_CASE("divisions and doubles, but neither products of integers nor exchanges") {
    Launch a;
    a.traffic.machine = {.further = 9 * many,
                         .special_halves = 8 * many,
                         .doubles = 7 * many,
                         .products = 4 * many,
                         .exchanges = 2 * many};
    Launch better = a;
    better.traffic.machine = {.products = 4 * many, .exchanges = 2 * many};
    check_only(a, "expensive_arithmetic", better);
}

TEST_CASE("loads and atomics that wait for each other: as if a warp had several in flight") {
    Launch a;
    a.counters.global_load_requests = a.counters.global_load_sectors = 20 * many;
    a.counters.shared_load_requests = a.counters.shared_load_wavefronts = a.counters.atomic_requests = 20 * many;
    for (const Chains& chains : {Chains{.l2 = 20 * many}, Chains{.l1 = 4 * many, .dram = 16 * many},
                                 Chains{.shared = 20 * many}, Chains{.atomics = 20 * many}}) {
        CAPTURE(chains.l2, chains.l1, chains.shared, chains.atomics);
        a.traffic.chains = chains;
        Launch better = a;
        better.traffic.chains = {};
        const auto costs = a.costs();
        REQUIRE(costs.count("dependent_loads") == 1);
        CHECK(costs.at("dependent_loads") == Approx(a.saved_by(better)));
        CHECK(costs.at("all") == Approx(a.saved_by(better)));
    }
    a.traffic.chains = {};
    CHECK(a.costs().empty());
}

TEST_CASE("few warps on a multiprocessor: as if as many fitted as it can hold") {
    Launch a;
    a.counters.global_load_requests = a.counters.global_load_sectors = many;
    a.occupancy = {3, 0.4, 0.4, "registers"};  // of 7.5
    Launch better = a;
    better.occupancy.blocks_per_multiprocessor = 8;
    check_only(a, "low_occupancy", better);
    a.occupancy = {0, 0, 0, ""};
    CHECK(a.costs().empty());
}

TEST_CASE("multiprocessors that get no block, of launches that take a while: the same part of their time") {
    Launch a;
    a.profile = find_profile("h100");
    a.config.grid.x = 99;  // of 132
    a.counters.inst_executed = 100 * many;
    const auto part = [&](double idle) { return idle * work_ns(a.time()) / a.time().total_ns(); };
    CHECK(a.costs().size() == 2);
    CHECK(a.costs().at("small_grid") == Approx(part(0.25)));
    CHECK(a.costs().at("all") == Approx(part(0.25)));
    a.traffic.migrated_bytes = 1 << 20;  // the copy takes its time on any part of the device
    CHECK(a.costs().at("small_grid") == Approx(part(0.25)));
    CHECK(a.costs().at("all") == Approx(part(0.25)));
    // With another cause: first without that, then on the whole device.
    a.counters.local_load_sectors = 10 * many;
    Launch better = a;
    better.counters.local_load_sectors = 0;
    CHECK(a.costs().at("all") == Approx(a.saved_by(better) + 0.25 * work_ns(better.time()) / a.time().total_ns()));
    // 20 microseconds, start and copies not counted.
    Launch brief;
    brief.profile = a.profile, brief.config.grid.x = 99, brief.traffic.migrated_bytes = 1;
    while (work_ns(brief.time()) < 20'000) {
        CHECK(brief.costs().empty());
        brief.counters.inst_executed += many / 10;
    }
    CHECK(brief.costs().size() == 2);
}

TEST_CASE("what costs less than a hundredth of the time is left out") {
    Launch a;
    a.profile = find_profile("h100");
    a.counters.inst_executed = 1000 * many;
    a.config.grid.x = 131;
    CHECK(a.costs().empty());
    a.config.grid.x = 130;  // a 66th
    CHECK(a.costs().size() == 2);
}

TEST_CASE("costs are those of a launch whose work is spread as it is") {
    Launch a;
    a.spread = {1, 1, 64};
    a.counters.local_load_requests = 50 * many;
    Launch better = a;
    better.counters.local_load_requests = 0;
    check_only(a, "local_memory", better);
}

TEST_CASE("lines that did nothing cost nothing, however many there are") {
    Launch a;
    auto& c = a.counters;
    c.divergent_branches = c.branches = c.global_load_requests = c.global_store_requests = many;
    c.global_load_sectors = c.global_store_sectors = c.shared_load_wavefronts = c.shared_store_wavefronts = many;
    c.shared_load_requests = c.shared_store_requests = many;
    a.use.lines.clear();
    const auto before = a.costs();
    a.use.lines.resize(100'000);
    CHECK(a.costs() == before);
    for (const char* cause : {"uncoalesced", "bank_conflicts", "redundant_loads", "divergence"})
        CHECK(before.count(cause) == 0);
}
