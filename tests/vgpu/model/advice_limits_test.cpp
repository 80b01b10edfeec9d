// The thresholds of each kind of advice: what just deserves advice, and what just does not.
#include "vgpu/model/advice.hpp"

#include <algorithm>

#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu;

namespace {

constexpr std::uint64_t many = 1'000'000;

// A launch that fills the device, and whose work is all on one line.
struct Advised {
    device::LaunchConfig config;
    device::Counters counters;
    device::Occupancy occupancy{4, 1.0, 1.0, "warps"};
    LaunchUse use;
    std::string profile = "h100:4";

    Advised() {
        config.grid = {1024, 1, 1};
        config.block = {256, 1, 1};
        use.kernel.line = 1;
        use.lines.emplace_back().place.line = 7;
    }
    LineUse& line() { return use.lines[0]; }
    [[nodiscard]] std::vector<device::Diagnostic> found() const {
        return advise(find_profile(profile), config, counters, occupancy, {}, use);
    }
    // The message of the only finding; empty if there is none.
    [[nodiscard]] std::string message(const device::Rule& rule) const {
        std::string text;
        for (const auto& one : found()) {
            CHECK(one.rule == &rule);
            CHECK(one.weight > 0);
            text += one.message;
        }
        return text;
    }
};

// Loads or stores, as requests of 32 threads, each of which takes `sectors` sectors where `ideal` would do.
std::string uncoalesced(bool load, std::uint64_t sectors, std::uint64_t ideal) {
    Advised a;
    (load ? a.line().loads : a.line().stores) = {many, many * sectors / 10, 0, many * ideal / 10, 32.0 * many};
    (load ? a.counters.global_load_requests : a.counters.global_store_requests) = many;
    (load ? a.counters.global_load_sectors : a.counters.global_store_sectors) = many * sectors / 10;
    return a.message(device::rules::uncoalesced);
}

std::string conflicts(bool load, std::uint64_t wavefronts, std::uint64_t ideal) {
    Advised a;
    (load ? a.line().shared_loads : a.line().shared_stores) = {many, many * wavefronts / 10,
                                                               many * (wavefronts - ideal) / 10};
    (load ? a.counters.shared_load_wavefronts : a.counters.shared_store_wavefronts) = many * wavefronts / 10;
    (load ? a.counters.shared_load_requests : a.counters.shared_store_requests) = many;
    return a.message(device::rules::bank_conflicts);
}

std::string divergence(std::uint64_t divergent, double idle) {
    Advised a;
    a.line().branches = 100, a.line().divergent = divergent;
    a.line().slots = 100.0 * many, a.line().idle = idle * 100 * many;
    a.counters.inst_executed = 100 * many;
    return a.message(device::rules::divergence);
}

}  // namespace

// In tenths of a sector.
TEST_CASE("sectors are worth a word from twice as many on, and from two more on") {
    for (const bool load : {true, false}) {
        CHECK_THAT(uncoalesced(load, 80, 40),
                   Contains(std::string("each request of 32 threads ") + (load ? "reads" : "writes") +
                            " 8 sectors of 32 bytes where 4 would do (about "));
        CHECK(uncoalesced(load, 79, 40).empty());
        CHECK_THAT(uncoalesced(load, 30, 10), Contains(" 3 sectors of 32 bytes where 1 would do"));
        CHECK(uncoalesced(load, 29, 10).empty());  // an unaligned row
        CHECK_THAT(uncoalesced(load, 325, 40), Contains(" 32.5 sectors"));
        CHECK(uncoalesced(load, 0, 0).empty());
    }
}

TEST_CASE("bank conflicts are worth a word from twice as many wavefronts on") {
    for (const bool load : {true, false}) {
        CHECK_THAT(conflicts(load, 20, 10), Contains(std::string(load ? "reads" : "writes") +
                                                     " shared memory with 2-way bank conflicts: 2 wavefronts per "
                                                     "request where 1 would do"));
        CHECK(conflicts(load, 19, 10).empty());
        CHECK_THAT(conflicts(load, 80, 20),
                   Contains("4-way bank conflicts: 8 wavefronts per request where 2 would do"));
        CHECK(conflicts(load, 10, 10).empty());
    }
    // Conflicts that cost a twentieth of the pipe's time.
    Advised a;
    a.line().shared_loads = {many, 2 * many, many};
    a.counters.shared_load_wavefronts = 19 * many;
    CHECK_FALSE(a.found().empty());
    a.counters.shared_load_wavefronts = 21 * many;
    CHECK(a.found().empty());
}

TEST_CASE("divergence is worth a word from a tenth of the warps or a quarter of the threads on") {
    CHECK_THAT(divergence(10, 0.5),
               Contains("the threads of a warp diverge here in 10 % of all cases, and 16 of 32 are idle"));
    CHECK_THAT(divergence(9, 0.5), Contains("the threads of a warp diverge here, and 16 of 32 are idle"));
    CHECK_THAT(divergence(9, 0.25), Contains("diverge here, and 8 of 32"));
    CHECK(divergence(9, 0.24).empty());
    CHECK_THAT(divergence(10, 0.24), Contains("in 10 % of all cases, and 7.7 of 32"));
    CHECK(divergence(100, 0).empty());  // it costs nothing
    CHECK(divergence(100, 0.01).empty());
}

TEST_CASE("the same data loaded again is worth a word from six times on") {
    const auto redundant = [](std::uint64_t hits) {
        Advised a;
        a.line().loads = {many, 4 * many, hits, 4 * many, 32.0 * many};
        a.counters.global_load_requests = many, a.counters.global_load_sectors = 4 * many;
        a.counters.global_load_l1_hits = hits;
        return a.message(device::rules::redundant_loads);
    };
    CHECK_THAT(redundant(4 * many - 4 * many / 8), Contains("loads the same data about 8 times from global memory"));
    CHECK(redundant(4 * many - 4 * many / 5).empty());
    CHECK(redundant(4 * many).empty());  // all of it was in L1 before
    CHECK(redundant(0).empty());
    const auto times = [](std::uint64_t n) {
        Advised a;
        a.line().loads = {n * many, 32 * n * many, 32 * (n - 1) * many, 32 * n * many, 32.0 * many};
        a.counters.global_load_requests = n * many, a.counters.global_load_sectors = 32 * n * many;
        a.counters.global_load_l1_hits = 32 * (n - 1) * many;
        return a.message(device::rules::redundant_loads);
    };
    CHECK_THAT(times(6), Contains("about 6 times"));
    CHECK(times(5).empty());
}

TEST_CASE("an idle device is worth a word if the launch is long, low occupancy if the device is full") {
    Advised a;
    a.profile = "h100";
    a.counters.inst_executed = 1000 * many;
    a.config.grid = {131, 1, 1};
    CHECK_THAT(a.message(device::rules::small_grid),
               Contains("the grid has 131 blocks, the device 132 multiprocessors: 1 of them have nothing to do"));
    a.config.grid = {132, 1, 1};
    CHECK(a.found().empty());
    a.config.grid = {1, 1, 1};
    a.counters.inst_executed = 1000;
    CHECK(a.found().empty());

    Advised low;
    low.counters.inst_executed = many;
    low.counters.global_load_requests = many, low.counters.global_load_sectors = 4 * many;
    low.occupancy = {1, 0.5, 0.5, "registers"};
    CHECK_THAT(
        low.message(device::rules::low_occupancy),
        Contains("holds 1 block of 256 threads at once, 50 % of the warps that it could hold, limited by registers"));
    low.occupancy.theoretical = 0.51;
    CHECK(low.found().empty());
    low.occupancy.theoretical = 0.5;
    low.config.grid = {3, 1, 1};  // one multiprocessor gets no block
    for (const auto& one : low.found()) CHECK(one.rule != &device::rules::low_occupancy);
}

TEST_CASE("launches of few warps get no advice") {
    Advised a;
    a.line().loads = {many, 32 * many, 0, 4 * many, 32.0 * many};
    a.counters.global_load_requests = many, a.counters.global_load_sectors = 32 * many;
    a.config.grid = {8, 1, 1};
    CHECK_FALSE(a.found().empty());
    a.config.block = {225, 1, 1};  // eight warps, the last of which is not full
    CHECK_FALSE(a.found().empty());
    a.config.block = {224, 1, 1};
    CHECK(a.found().empty());
}

TEST_CASE("the worst comes first") {
    Advised a;
    a.line().loads = {many, 32 * many, 0, 4 * many, 32.0 * many};
    a.use.lines.push_back(a.use.lines[0]);
    a.use.lines[1].place.line = 8;
    a.use.lines[1].loads.sectors = 64 * many;
    a.counters.global_load_requests = 2 * many, a.counters.global_load_sectors = 96 * many;
    const auto found = a.found();
    REQUIRE(found.size() == 2);
    CHECK((found[0].place.line == 8 && found[1].place.line == 7));
    CHECK(found[0].weight > found[1].weight);
}

TEST_CASE("a launch that fills a part of the device is judged as on that part") {
    const auto weight = [](const std::string& profile) {
        Advised a;
        a.profile = profile;
        a.config.grid = {8, 1, 1};  // two waves of four blocks
        a.line().loads = {many, 32 * many, 0, 4 * many, 32.0 * many};
        a.counters.global_load_requests = many, a.counters.global_load_sectors = 32 * many;
        a.counters.inst_executed = 30 * many;
        const auto found = a.found();
        REQUIRE_FALSE(found.empty());
        return found.back().message;
    };
    CHECK(weight("h100:4") == weight("h100:1"));
}

TEST_CASE("a warp that parts costs what its instructions cost and what parting costs") {
    Advised a;
    a.line().branches = 10 * many, a.line().divergent = 8 * many;
    a.line().slots = 100.0 * many, a.line().idle = 50.0 * many;
    a.counters.inst_executed = 100 * many, a.counters.divergent_branches = 8 * many;
    // An issue slot for an instruction, 5 for a warp that parts: 50 + 40 of 140.
    CHECK_THAT(a.message(device::rules::divergence), Contains("(about 66 % of the kernel's time)"));
}

TEST_CASE("launches of fewer than 64 warps are not about speed, those of any part of a warp counted whole") {
    const auto advised = [](std::uint32_t blocks, std::uint32_t threads) {
        Advised a;
        a.profile = "h100:1";
        a.config.grid = {blocks, 1, 1}, a.config.block = {threads, 1, 1};
        a.line().loads = {many, 8 * many, 0, 4 * many, 32.0 * many};
        a.counters.global_load_requests = many, a.counters.global_load_sectors = 8 * many;
        return !a.message(device::rules::uncoalesced).empty();
    };
    CHECK(advised(64, 32));
    CHECK_FALSE(advised(63, 32));
    CHECK(advised(64, 1));
    CHECK_FALSE(advised(63, 1));
    CHECK(advised(32, 33));
    CHECK_FALSE(advised(31, 40));
    CHECK(advised(2, 1024));
    CHECK_FALSE(advised(1, 1024));
}

TEST_CASE("advice is given from its share of the time on: a twentieth, or a tenth where the remedy is a guess") {
    // More instructions beside the waste make its share smaller.
    const auto check = [](Advised a, const device::Counters& better, const device::Rule& rule, double least) {
        const Profile profile = find_profile(a.profile);
        bool given = false, withheld = false;
        for (a.counters.inst_executed = 2 * many; a.counters.inst_executed < 4000 * many;
             a.counters.inst_executed += a.counters.inst_executed / 20) {
            device::Counters less = better;
            less.inst_executed = a.counters.inst_executed - std::min(a.counters.inst_executed, better.inst_executed);
            const auto ns = [&](const device::Counters& c) {
                return model_kernel(profile, a.config, c, a.occupancy).total_ns() - 1200;
            };
            const double part = (ns(a.counters) - ns(less)) / ns(a.counters);
            CAPTURE(a.counters.inst_executed, part);
            CHECK(a.message(rule).empty() == (part < least));
            (part < least ? withheld : given) = true;
        }
        CHECK((given && withheld));
    };
    Advised rows;
    rows.line().loads = {many, 32 * many, 0, 4 * many, 32.0 * many};
    rows.counters.global_load_requests = many, rows.counters.global_load_sectors = 32 * many;
    device::Counters better = rows.counters;
    better.global_load_sectors = 4 * many;
    check(rows, better, device::rules::uncoalesced, 0.05);

    Advised again;
    again.line().loads = {8 * many, 32 * many, 28 * many, 32 * many, 256.0 * many};
    again.counters.global_load_requests = 8 * many, again.counters.global_load_sectors = 32 * many;
    better = again.counters;
    better.global_load_requests = many, better.global_load_sectors = 4 * many;
    better.shared_load_requests = better.shared_load_wavefronts = 8 * many;
    check(again, better, device::rules::redundant_loads, 0.10);

    Advised apart;
    apart.line().branches = 10, apart.line().divergent = 5, apart.line().slots = 40.0 * many;
    apart.line().idle = 20.0 * many;
    better = {};
    better.inst_executed = 20 * many;
    check(apart, better, device::rules::divergence, 0.10);
}

TEST_CASE("what saves less than a tenth of a microsecond, or a hundredth of the time, is not worth saying") {
    Advised a;
    a.profile = "h100:1", a.config.grid = {64, 1, 1}, a.config.block = {32, 1, 1};
    a.occupancy.blocks_per_multiprocessor = 32;
    a.line().loads = {10, 40, 0, 40, 320};
    a.counters.global_load_requests = 10, a.counters.global_load_sectors = 40;
    const auto weight = [&] { return a.found().empty() ? 0 : a.found()[0].weight; };
    while (a.found().empty()) {
        REQUIRE(a.counters.global_load_sectors < 1'000'000);
        a.line().loads.sectors = a.counters.global_load_sectors += 1;
    }
    CHECK(weight() >= 100);
    CHECK(weight() < 120);

    // Conflicts are told even if other waits hide what they cost, but then without their share.
    Advised hidden;
    hidden.line().shared_loads = {many, 2 * many, many};
    hidden.counters.shared_load_wavefronts = 2 * many;
    CHECK_THAT(hidden.message(device::rules::bank_conflicts), Contains(" % of the kernel's time)"));
    hidden.line().shared_loads = {10, 20, 10}, hidden.counters.shared_load_wavefronts = 20;
    CHECK_FALSE(hidden.found().empty());
    hidden.line().shared_loads = {many, 2 * many, many}, hidden.counters.shared_load_wavefronts = 2 * many;
    hidden.counters.inst_executed = 1000 * many;
    CHECK_THAT(hidden.message(device::rules::bank_conflicts), !Contains(" % of the kernel's time)"));
}
