#include "vgpu/model/timing.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/approx.hpp"
#include "support/contains.hpp"
#include "vgpu/model/occupancy.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu;

namespace {

struct Kernel {
    device::Counters counters;
    device::LaunchConfig config;
    std::uint64_t footprint_bytes = 0, mapped_read_sectors = 0, mapped_write_sectors = 0, migrated_bytes = 0;
    std::uint64_t store_lines = 0, constant_cycles = 0;
    std::uint32_t registers = 32, shared_bytes = 0;

    [[nodiscard]] std::uint64_t warps() const { return config.grid.count() * ((config.block.count() + 31) / 32); }
    [[nodiscard]] KernelTime on(const Profile& profile, const Spread& spread = {}) const {
        device::FunctionInfo info;
        info.registers_per_thread = registers;
        info.static_shared_bytes = shared_bytes;
        const auto threads = static_cast<std::uint32_t>(config.block.count());
        return model_kernel(profile, config, counters, occupancy(profile.properties, info, threads, 0),
                            {.footprint_bytes = footprint_bytes,
                             .mapped_read_sectors = mapped_read_sectors,
                             .mapped_write_sectors = mapped_write_sectors,
                             .migrated_bytes = migrated_bytes,
                             .store_lines = store_lines,
                             .constant_cycles = constant_cycles},
                            spread);
    }
};

Kernel launch(std::uint32_t grid_x, std::uint32_t grid_y, std::uint32_t block_x, std::uint32_t block_y) {
    Kernel kernel;
    kernel.config.grid = {grid_x, grid_y, 1};
    kernel.config.block = {block_x, block_y, 1};
    return kernel;
}

// n × n products with 16 × 16 threads: a warp covers two rows of sixteen. The instructions are those of nvcc's PTX.
Kernel matmul_naive(std::uint64_t n) {
    Kernel kernel = launch(n / 16, n / 16, 16, 16);
    const std::uint64_t steps = kernel.warps() * n;
    kernel.counters.inst_executed = steps * 7 / 2;
    kernel.counters.global_load_requests = steps * 2;
    kernel.counters.global_load_sectors = steps * 4;
    kernel.counters.global_load_l1_hits = steps * 4 * 7 / 8;  // of a block's eight warps, one loads each
    kernel.counters.global_store_requests = kernel.warps();
    kernel.counters.global_store_sectors = kernel.warps() * 4;
    kernel.footprint_bytes = 3 * n * n * 4;
    return kernel;
}

Kernel matmul_tiled(std::uint64_t n, bool transposed_threads) {
    Kernel kernel = launch(n / 16, n / 16, 16, 16);
    const std::uint64_t steps = kernel.warps() * n, tiles = kernel.warps() * (n / 16);
    kernel.shared_bytes = 2048;
    kernel.counters.inst_executed = steps * 3 + tiles * 15;
    kernel.counters.global_load_requests = tiles * 2;
    kernel.counters.global_load_sectors = tiles * (transposed_threads ? 32 : 8);
    kernel.counters.shared_load_requests = steps * 2;
    kernel.counters.shared_load_wavefronts = steps * (transposed_threads ? 9 : 2);
    kernel.counters.shared_store_requests = tiles * 2;
    kernel.counters.shared_store_wavefronts = tiles * (transposed_threads ? 16 : 2);
    kernel.counters.barriers = tiles * 2;
    kernel.counters.global_store_requests = kernel.warps();
    kernel.counters.global_store_sectors = kernel.warps() * 4;
    kernel.footprint_bytes = 3 * n * n * 4;
    return kernel;
}

enum class Home { device, mapped, managed };

// c = a + b, of n floats each.
Kernel addition(std::uint64_t n, Home home) {
    Kernel kernel = launch(n / 256, 1, 256, 1);
    kernel.registers = 16;
    kernel.counters.inst_executed = kernel.warps() * 22;
    kernel.counters.global_load_requests = kernel.warps() * 2;
    kernel.counters.global_load_sectors = kernel.warps() * 8;
    kernel.counters.global_store_requests = kernel.warps();
    kernel.counters.global_store_sectors = kernel.warps() * 4;
    if (home == Home::mapped) {
        kernel.mapped_read_sectors = kernel.counters.global_load_sectors;
        kernel.mapped_write_sectors = kernel.counters.global_store_sectors;
    } else {
        kernel.footprint_bytes = 3 * n * 4;
    }
    if (home == Home::managed) kernel.migrated_bytes = 3 * n * 4;
    return kernel;
}

// n × n floats, 32 × 32 threads.
Kernel transpose(std::uint64_t n, bool shared, bool padded) {
    Kernel kernel = launch(n / 32, n / 32, 32, 32);
    kernel.registers = 16;
    kernel.shared_bytes = shared ? 4224 : 0;
    kernel.counters.inst_executed = kernel.warps() * (shared ? 25 : 20);
    kernel.counters.global_load_requests = kernel.counters.global_store_requests = kernel.warps();
    kernel.counters.global_load_sectors = kernel.warps() * 4;
    kernel.counters.global_store_sectors = kernel.warps() * (shared ? 4 : 32);
    kernel.store_lines = kernel.warps() * (shared ? 1 : 32);
    if (shared) {
        kernel.counters.shared_load_requests = kernel.counters.shared_store_requests = kernel.warps();
        kernel.counters.shared_store_wavefronts = kernel.warps();
        kernel.counters.shared_load_wavefronts = kernel.warps() * (padded ? 1 : 32);
        kernel.counters.barriers = kernel.warps();
    }
    kernel.footprint_bytes = 2 * n * n * 4;
    return kernel;
}

// One float per thread, 256 threads, eight steps in shared memory: interleaved (`tid % (2 * s) == 0`) or by halves.
Kernel reduction(std::uint64_t n, bool interleaved) {
    Kernel kernel = launch(static_cast<std::uint32_t>(n / 256), 1, 256, 1);
    kernel.registers = 16;
    kernel.shared_bytes = 1024;
    const std::uint64_t warps = kernel.warps();
    kernel.counters.inst_executed = warps * (interleaved ? 116 : 80);
    kernel.counters.global_load_requests = warps;
    kernel.counters.global_load_sectors = warps * 4;
    kernel.counters.shared_load_requests = kernel.counters.shared_load_wavefronts = warps * (interleaved ? 12 : 5);
    kernel.counters.shared_store_requests = kernel.counters.shared_store_wavefronts = warps * (interleaved ? 7 : 3);
    kernel.counters.divergent_branches = interleaved ? warps * 6 : warps / 8 * 5;
    kernel.counters.barriers = warps * 9;
    kernel.footprint_bytes = n * 4;
    return kernel;
}

double ms(const KernelTime& time) { return time.total_ns() / 1e6; }

}  // namespace

TEST_CASE("kernels measured on an H100 come out within a factor of two") {
    const Profile h100 = find_profile("h100");
    const struct {
        std::string name;
        Kernel kernel;
        double measured_ms;
    } rows[] = {
        {"matmul naive", matmul_naive(4096), 26.1},
        {"matmul tiled", matmul_tiled(4096, false), 16.8},
        {"matmul tiled, row from threadIdx.x", matmul_tiled(4096, true), 67.4},
        {"transpose naive", transpose(4096, false, false), 0.325},
        {"transpose shared", transpose(4096, true, false), 0.091},
        {"transpose padded", transpose(4096, true, true), 0.052},
        {"reduction 1", reduction(1 << 28, true), 2.83},
        {"reduction 2", reduction(1 << 28, false), 1.21},
        {"addition", addition(1 << 24, Home::device), 0.0847},
        {"addition in mapped memory", addition(1 << 24, Home::mapped), 2.76},
        {"addition of few in mapped memory", addition(1 << 18, Home::mapped), 0.0576},
        {"addition in managed memory, first", addition(1 << 24, Home::managed), 18.96},
        {"addition of few in managed memory, first", addition(1 << 14, Home::managed), 0.096},
    };
    for (const auto& row : rows) {
        const KernelTime time = row.kernel.on(h100);
        CAPTURE(row.name, time.issue_ns, time.l1_ns, time.l2_ns, time.dram_ns, time.latency_ns);
        INFO("modelled " << ms(time) << " ms (" << time.bound() << "), measured " << row.measured_ms);
        CHECK(ms(time) > row.measured_ms / 2);
        CHECK(ms(time) < row.measured_ms * 2);
    }
}

TEST_CASE("the order of teaching kernels holds on every profile and slice, at small sizes") {
    for (const std::string& name : profile_names()) {
        for (const std::uint32_t sms : {4u, find_profile(name).full_sms}) {
            const Profile profile = slice(find_profile(name), sms);
            CAPTURE(name, sms);
            for (const std::uint64_t n : {256, 1024, 4096}) {
                CAPTURE(n);
                CHECK(ms(matmul_naive(n).on(profile)) > ms(matmul_tiled(n, false).on(profile)));
                CHECK(ms(matmul_tiled(n, true).on(profile)) > ms(matmul_tiled(n, false).on(profile)));
                CHECK(ms(transpose(n, false, false).on(profile)) > ms(transpose(n, true, false).on(profile)));
                CHECK(ms(transpose(n, true, false).on(profile)) > ms(transpose(n, true, true).on(profile)));
                CHECK(ms(reduction(n * n, true).on(profile)) > ms(reduction(n * n, false).on(profile)));
            }
        }
    }
}

TEST_CASE("what bounds a kernel is named") {
    const Profile h100 = find_profile("h100");
    CHECK(std::string(matmul_naive(4096).on(h100).bound()) == "l1");
    CHECK(std::string(transpose(4096, true, true).on(h100).bound()) == "dram");
    Kernel serial = launch(1, 1, 1, 1);
    serial.counters.inst_executed = 100000;
    serial.counters.global_load_requests = serial.counters.global_load_sectors = 20000;
    CHECK(std::string(serial.on(h100).bound()) == "latency");
    CHECK(std::string(addition(1 << 24, Home::mapped).on(h100).bound()) == "link");
}

TEST_CASE("few warps are slower than many, a tail wave costs, and an idle device costs nothing more") {
    const Profile profile = find_profile("h100:4");
    Kernel full = reduction(1 << 20, false);
    Kernel starved = full;
    starved.shared_bytes = 100 * 1024;  // two resident blocks instead of eight
    CHECK(starved.on(profile).total_ns() > full.on(profile).total_ns());
    const Kernel even = reduction(256 * 32, false),
                 tail = reduction(256 * 33, false);  // eight blocks an SM, and one more
    CHECK(tail.on(profile).total_ns() > 1.05 * even.on(profile).total_ns());
    CHECK(launch(1, 1, 32, 1).on(profile).total_ns() < 2000);
}

TEST_CASE("more work of any kind never takes less time") {
    const Profile profile = find_profile("t4:4");
    const Kernel kernel = matmul_tiled(256, false);
    const double before = kernel.on(profile).total_ns();
#define WG_COUNTER(field, ncu, meaning)                                                                      \
    {                                                                                                        \
        Kernel more = kernel;                                                                                \
        more.counters.field += 1000000;                                                                      \
        CAPTURE(#field);                                                                                     \
        if (std::string_view(#field) != "global_load_l1_hits") CHECK(more.on(profile).total_ns() >= before); \
    }
#include "device/counters.def"
#undef WG_COUNTER
}

TEST_CASE("blocks that are known to be alike take the time of blocks of which nothing is known") {
    const Profile profile = find_profile("h100:4");
    for (const Kernel& kernel : {matmul_naive(256), matmul_tiled(1024, true), reduction(1 << 18, true)}) {
        const double blocks = static_cast<double>(kernel.config.grid.count());
        const double part = std::ceil(blocks / 4) / blocks;
        CHECK(kernel.on(profile, {part, part, 1}).total_ns() == kernel.on(profile).total_ns());
    }
}

TEST_CASE("a kernel takes as long as its busiest multiprocessor and its longest warp") {
    const Profile profile = find_profile("h100:4");
    const Kernel even = matmul_tiled(1024, false);
    const KernelTime before = even.on(profile), after = even.on(profile, {1, 1, 4096});
    CHECK(after.issue_ns == Approx(4 * before.issue_ns));
    CHECK(after.l1_ns == Approx(4 * before.l1_ns));
    CHECK(after.l2_ns == before.l2_ns);
    CHECK(after.dram_ns == before.dram_ns);
    // As long as the blocks one by one, where before eight were resident on each of four multiprocessors.
    CHECK(after.latency_ns == Approx(32 * before.latency_ns));
}

TEST_CASE("loads from constant memory keep a unit of their own busy") {
    const Profile profile = find_profile("h100:4");
    Kernel kernel = matmul_tiled(256, false);
    kernel.counters.constant_load_requests = kernel.counters.constant_load_wavefronts = 1'000'000;
    const KernelTime without = kernel.on(profile);
    kernel.constant_cycles = 64'000'000;
    const KernelTime with = kernel.on(profile);
    CHECK(with.units_ns == Approx(64e6 / 4 / profile.properties.clock_ghz));
    CHECK((without.units_ns == 0 && with.l1_ns == without.l1_ns));
}

TEST_CASE("many warps that go through a table in constant memory take its lines from each other") {
    // Sixty-four warps a multiprocessor, one instruction a load unless there are more.
    const auto cycles = [](std::uint32_t warps, std::uint64_t bytes, std::uint64_t instructions) {
        const Profile profile = find_profile("h100:1");
        constexpr std::uint64_t loads = 1'000'000;
        device::LaunchConfig config;
        config.grid = {warps / 8, 1, 1}, config.block = {256, 1, 1};
        device::Counters counters;
        counters.inst_executed = instructions * loads;
        device::Occupancy occupancy;
        occupancy.blocks_per_multiprocessor = 8;
        Traffic traffic;
        traffic.uniform_constant_cycles = 2 * loads, traffic.constant_bytes = bytes;
        return model_kernel(profile, config, counters, occupancy, traffic).units_ns * profile.properties.clock_ghz /
               loads;
    };
    for (const std::uint32_t warps : {8u, 64u}) CHECK(cycles(warps, 256, 1) == Approx(1));
    for (const std::uint64_t bytes : {std::uint64_t{1024}, std::uint64_t{1} << 14}) {
        CHECK(cycles(24, bytes, 1) == Approx(1));
        CHECK(cycles(64, bytes, 1) > 15 * (1 - 256. / static_cast<double>(bytes)));
        CHECK(cycles(40, bytes, 1) > 4);
        CHECK(cycles(40, bytes, 1) < cycles(64, bytes, 1));
        CHECK(cycles(40, bytes, 20) > cycles(40, bytes, 1));  // warps part sooner
    }
    for (const std::uint64_t bytes : {std::uint64_t{1024}, std::uint64_t{1} << 14})
        CHECK(cycles(64, bytes, 40) == Approx(1));  // enough to compute meanwhile
}

TEST_CASE("what a kernel needs of the whole device is no more than its time, and pieces need no less than the whole") {
    for (const char* name : {"h100", "h100:4", "t4:4"}) {
        const Profile profile = find_profile(name);
        for (const Kernel& whole : {matmul_naive(1024), matmul_tiled(1024, true), transpose(1024, true, false),
                                    reduction(1 << 20, true), addition(1 << 20, Home::mapped)}) {
            const KernelTime time = whole.on(profile);
            CAPTURE(name, time.bound());
            const double need = *std::ranges::max_element(time.demand), own = time.total_ns() - time.start_ns;
            // Needs know nothing of how well L2 and device memory overlap.
            CHECK(need <= own * 1.2);
            CHECK(need >= own * 0.95);  // they fill the device, except for the last wave of blocks

            Kernel piece = whole;  // one of eight
            piece.config.grid.y = std::max(piece.config.grid.y / 8, 1u);
            if (whole.config.grid.y == 1) piece.config.grid.x /= 8;
#define WG_COUNTER(field, ncu, meaning) piece.counters.field /= 8;
#include "device/counters.def"
#undef WG_COUNTER
            piece.mapped_read_sectors /= 8, piece.mapped_write_sectors /= 8, piece.footprint_bytes /= 8;
            const Demand eighth = piece.on(profile).demand;
            CHECK(8 * *std::ranges::max_element(eighth) >= 0.9 * need);
        }
    }
}

TEST_CASE("loads take what L1 does not have from L2, and what L2 does not have from device memory, as counted") {
    const Profile profile = find_profile("h100:1");
    device::LaunchConfig config;
    config.grid = {64, 1, 1}, config.block = {256, 1, 1};
    device::Counters counters;
    counters.global_load_requests = 100'000, counters.global_load_sectors = 3'200'000;
    const auto time = [&](const Scattered& scattered, std::uint64_t sectors = 3'200'000,
                          std::uint64_t shared_hits = 200'000) {
        counters.global_load_sectors = sectors;
        return model_kernel(profile, config, counters, {8, 1, 1, ""},
                            {.footprint_bytes = 1ull << 30, .shared_hits = shared_hits, .scattered = scattered});
    };
    const double l2 = 0.675 * 32 / profile.properties.l2_bytes_per_ns, dram = 32 / profile.properties.dram_bytes_per_ns;
    const KernelTime few = time({3'200'000, 1'000, 2'000});
    CHECK(few.l2_ns == Approx(3'000'000 * l2));
    CHECK(few.dram_ns == 0);  // L2 can hold them
    const KernelTime many = time({3'200'000, 2'900'000, 5'000'000});
    CHECK(many.l2_ns == few.l2_ns);
    CHECK(many.dram_ns == Approx(5'000'000 * dram));
    CHECK(many.latency_ns > few.latency_ns);
    // Beside others; and with an eighth of the sectors, as advice asks.
    const double beside = time({1'600'000, 1'000, 2'000}).dram_ns / dram;
    CHECK((beside > 1'600'000 && beside < 2'000'000));  // what L2 cannot keep comes again
    CHECK(time({3'200'000, 1'000, 2'000}, 400'000, 25'000).l2_ns == Approx(375'000 * l2));
}

TEST_CASE("units of which there are few work while instructions are issued") {
    const Profile profile = find_profile("h100:1");
    device::LaunchConfig config;
    config.grid = {64, 1, 1}, config.block = {256, 1, 1};
    device::Counters counters;
    counters.inst_executed = 100'000'000;
    const auto time = [&](const MachineCost& machine) {
        Traffic traffic;
        traffic.machine = machine;
        return model_kernel(profile, config, counters, {8, 1, 1, ""}, traffic).total_ns();
    };
    const double without = time({});
    CHECK((time({.logic = 30'000'000}) > without && time({.logic = 30'000'000}) < 1.1 * without));
    CHECK(time({.logic = 100'000'000}) == Approx(without * 2).epsilon(0.05));
}

TEST_CASE("a warp that waits for fewer of its loads is faster alone") {
    const Profile profile = find_profile("h100:1");
    device::LaunchConfig config;
    config.grid = {1, 1, 1}, config.block = {32, 1, 1};
    device::Counters counters;
    counters.global_load_requests = counters.global_load_sectors = 64'000;
    counters.shared_load_requests = counters.shared_load_wavefronts = 64'000;
    const auto latency = [&](const Waits& global, const Waits& shared) {
        Traffic traffic;
        traffic.global_waits = global, traffic.shared_waits = shared;
        return model_kernel(profile, config, counters, {8, 1, 1, ""}, traffic).latency_ns;
    };
    const double all = latency({100, 100}, {100, 100});
    CHECK(latency({100, 50}, {100, 50}) == Approx(all / 2));
    CHECK(latency({100, 100}, {100, 25}) - latency({100, 100}, {100, 0}) ==
          Approx(16'000 * profile.shared_latency / profile.properties.clock_ghz));
    CHECK(latency({100, 100}, {}) - latency({100, 100}, {100, 0}) ==
          Approx(16'000 * profile.shared_latency / profile.properties.clock_ghz).epsilon(0.01));  // unknown
}

TEST_CASE("odd arguments give a finite time") {
    const Profile profile = find_profile("h100:1");
    device::Counters counters;
    counters.global_load_sectors = ~0ull;
    counters.inst_executed = ~0ull;
    device::LaunchConfig config;
    CHECK(std::isfinite(model_kernel(profile, config, counters, {}, {.footprint_bytes = 1}).total_ns()));
    config.grid = {0, 0, 0};
    config.block = {0, 0, 0};
    CHECK(model_kernel(profile, config, {}, {}).total_ns() == 1200);
}
