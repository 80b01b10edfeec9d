// What a launch tells the timing model besides its counters.
#include <cstring>
#include <span>
#include <string>

#include "judge/catch.hpp"
#include "vgpu/code/module.hpp"
#include "vgpu/exec/grid.hpp"
#include "vgpu/ops/opcodes.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu;

namespace {

// A kernel k(a, n), without checks, on two multiprocessors with 4 KiB of L1 for each block.
struct Runner {
    GlobalMemory memory{1 << 24};
    Allocation& array = memory.allocate(1 << 20, {"cudaMalloc", 0});
    device::Progress progress;
    LoadedModule module;

    explicit Runner(const std::string& body) : module(load(body, memory)) {}
    static constexpr int whole = 0;
    Runner(const std::string& text, int /*whole*/)
        : module(std::as_bytes(std::span(text)), 90, memory, opcode_table()) {}
    LaunchResult run(std::uint64_t n, std::uint32_t blocks, std::uint32_t threads) {
        const LoadedKernel& k = module.kernel("k");
        LaunchLimits limits;
        limits.multiprocessors = limits.resident_blocks = 2;
        limits.shared_bytes = k.info.static_shared_bytes;
        limits.l1_bytes = 4096, limits.l2_bytes = 1 << 20;
        limits.checks = {false, false, false, false};
        limits.progress = &progress;
        const std::uint64_t params[] = {array.base, n};
        device::LaunchConfig config;
        config.grid = {blocks, 1, 1}, config.block = {threads, 1, 1};
        LaunchResult result =
            Grid(k.code, module.ptx(), config, limits, std::as_bytes(std::span(params)), memory).run();
        REQUIRE_FALSE(result.fault);
        return result;
    }

  private:
    static LoadedModule load(const std::string& body, GlobalMemory& memory) {
        const std::string text =
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 n) {\n"
            ".reg .b32 %r<9>, %i;\n.reg .b64 %d<9>, %a, %n;\n.reg .pred %p<4>;\n"
            "ld.param.u64 %a, [a];\nld.param.u64 %n, [n];\nmov.u32 %i, 0;\n" +
            body + "ret;\n}\n";
        return {std::as_bytes(std::span(text)), 90, memory, opcode_table()};
    }
};

// These lines n times.
std::string loop(const std::string& label, const std::string& lines) {
    return label + ":\n" + lines + "add.u32 %i, %i, 1;\ncvt.u64.u32 %d8, %i;\nsetp.lt.u64 %p3, %d8, %n;\n@%p3 bra " +
           label + ";\n";
}

}  // namespace

TEST_CASE("a block that moves registers has less to do than one that adds as often") {
    std::string adds, moves;
    for (int i = 0; i < 32; ++i) adds += "add.u32 %r1, %r1, %r2;\n", moves += "mov.u32 %r1, %r2;\n";
    Runner runner("mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra ADD;\n" + loop("MOVE", moves) + "ret;\n" +
                  loop("ADD", adds));
    CHECK(runner.run(100, 2, 32).spread.busiest_issue > 0.8);
}

TEST_CASE("each load of a chain counts for the level that it came from") {
    Runner runner("mov.u64 %d1, %a;\n" + loop("NEXT", "ld.global.u64 %d1, [%d1];\n"));
    constexpr std::uint64_t lines = 1024;  // more than L1 holds
    for (std::uint64_t i = 0; i < lines; ++i) {
        const std::uint64_t next = runner.array.base + (i + 1) % lines * 128;
        std::memcpy(runner.array.host + i * 128, &next, sizeof next);
    }
    const Chains chains = runner.run(3 * lines, 1, 1).traffic.chains;
    CHECK(chains.l1 == 0);
    CHECK(chains.l2 == 2 * lines);
    CHECK(chains.dram == lines);
}

TEST_CASE("loads at mixed indices are scattered if most lanes ask for a sector of their own") {
    const auto scattered = [](unsigned sectors) {
        Runner runner("mov.u32 %r1, %tid.x;\nrem.u32 %r1, %r1, " + std::to_string(sectors) +
                      ";\nmul.wide.u32 %d1, %r1, 32;\nadd.s64 %d1, %d1, %a;\nmov.u32 %r2, 0;\n" +
                      loop("MIX",
                           "mad.lo.u32 %r2, %r2, 1664525, 1013904223;\nand.b32 %r3, %r2, 255;\n"
                           "mul.wide.u32 %d2, %r3, 1024;\nadd.s64 %d3, %d1, %d2;\nld.global.u32 %r4, [%d3];\n"));
        return runner.run(8, 1, 32).traffic.scattered;
    };
    for (const unsigned sectors : {3u, 12u, 16u}) CHECK(scattered(sectors).sectors == 0);
    for (const unsigned sectors : {17u, 32u}) {
        const Scattered s = scattered(sectors);
        CHECK(s.sectors == 8 * sectors);
        CHECK(s.dram_reads == 8 * sectors);
        CHECK(s.fetched_sectors == 8 * ((sectors + 1) / 2 * 2));  // two at a time
    }
}

TEST_CASE("stores that are the first to touch a sector are told from those that change what was read") {
    const std::string place = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d1, %d1, %a;\n";
    CHECK(Runner(place + "st.global.u32 [%d1], %r1;\n").run(1, 1, 256).traffic.fresh_writes == 32);
    CHECK(
        Runner(place + "st.global.u32 [%d1], %r1;\nst.global.u32 [%d1], %r1;\n").run(1, 1, 256).traffic.fresh_writes ==
        32);
    CHECK(
        Runner(place + "ld.global.u32 %r2, [%d1];\nst.global.u32 [%d1], %r2;\n").run(1, 1, 256).traffic.fresh_writes ==
        0);
}

TEST_CASE("L1 sends what a store adds to a few lines together with the store before") {
    // Each lane stores two words of its own, `bytes` behind its neighbour's.
    const auto stores = [](unsigned bytes) {
        Runner runner("mov.u32 %r1, %tid.x;\nmul.wide.u32 %d1, %r1, " + std::to_string(bytes) +
                      ";\nadd.s64 %d1, %d1, %a;\nst.global.u32 [%d1], %r1;\nst.global.u32 [%d1+4], %r1;\n");
        return runner.run(1, 20, 32).traffic;
    };
    CHECK(stores(8).store_lines == 20 * 2 * 2);
    CHECK(stores(8).collected_lines == 20 * 2 * 55 / 100);
    CHECK(stores(8).collected_sectors == 20 * 8 * 55 / 100);
    CHECK(stores(24).collected_lines == 20 * 6 * 55 / 100);
    CHECK(stores(28).collected_lines == 0);
    CHECK(stores(28).collected_sectors == 0);
}

TEST_CASE("constant memory gives what is at one address in two cycles, neighbours that ptxas merges together") {
    // %r3 is the lane times `apart`, in bytes, or 0.
    const auto cycles = [](const std::string& load, unsigned apart) {
        const std::string text =
            ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 16 .b8 table[4096];\n"
            ".visible .entry k(.param .u64 a, .param .u64 n) {\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
            "mov.u32 %r1, %laneid;\nmul.wide.u32 %d1, %r1, " +
            std::to_string(apart) + ";\nmov.u64 %d2, table;\nadd.s64 %d2, %d2, %d1;\n" + load + "ret;\n}\n";
        const Traffic traffic = Runner(text, Runner::whole).run(1, 1, 32).traffic;
        CHECK(traffic.uniform_constant_cycles == 0);
        return traffic.constant_cycles;
    };
    CHECK(cycles("ld.const.u32 %r2, [%d2];\n", 0) == 2);
    CHECK(cycles("ld.const.u32 %r2, [%d2];\n", 4) == 64);
    CHECK(cycles("ld.const.v2.u32 {%r2, %r3}, [%d2];\n", 0) == 2);
    CHECK(cycles("ld.const.v4.u32 {%r2, %r3, %r4, %r5}, [%d2];\n", 0) == 4);
    CHECK(cycles("ld.const.u8 %r2, [%d2];\n", 1) == 64);
    CHECK(cycles("ld.const.u8 %r2, [%d2];\n", 0) == 2);
    CHECK(cycles("ld.const.u32 %r2, [%d2];\nld.const.u32 %r3, [%d2+4];\n", 8) == 64);  // one load of eight bytes
    CHECK(cycles("ld.const.u32 %r2, [%d2];\nld.const.u32 %r3, [%d2+8];\n", 8) == 128);
    CHECK(cycles("ld.const.u32 %r2, [table+4];\n", 0) == 0);  // an operand
}

TEST_CASE("loads of constant memory that serve all lanes are counted apart, and the lines that loads ask for") {
    // Eight turns through a table, `apart` bytes each.
    const auto traffic = [](const std::string& load, unsigned apart) {
        return Runner(
                   ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 128 .b8 table[8192];\n"
                   ".visible .entry k(.param .u64 a, .param .u64 n) {\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
                   ".reg .f32 %f<9>;\n.reg .pred %p;\nld.param.u64 %d3, [n];\ncvt.u32.u64 %r8, %d3;\n"
                   "mov.u32 %r1, 0;\nL: mul.wide.u32 %d1, %r1, " +
                       std::to_string(apart) + ";\nmov.u64 %d2, table;\nadd.s64 %d2, %d2, %d1;\n" + load +
                       "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, %r8;\n@%p bra L;\nret;\n}\n",
                   Runner::whole)
            .run(8, 4, 64)
            .traffic;
    };
    constexpr std::uint64_t warps = 8, turns = 8;
    for (const unsigned apart : {8u, 64u, 128u}) {
        const Traffic each = traffic("ld.const.f32 %f1, [%d2];\n", apart);
        CHECK(each.uniform_constant_cycles == 2 * warps * turns);
        CHECK(each.constant_cycles == 0);
        CHECK(each.constant_bytes == (apart == 8 ? 64 : 8 * 64));
    }
    const Traffic row = traffic(
        "ld.const.v4.f32 {%f1, %f2, %f3, %f4}, [%d2];\nfma.rn.f32 %f5, %f1, %f6, %f3;\n"
        "fma.rn.f32 %f6, %f2, %f6, %f4;\n",
        16);
    CHECK(row.uniform_constant_cycles == 2 * warps * turns);
    CHECK(row.constant_cycles == 2 * warps * turns);
    CHECK(row.constant_bytes == 128);
    const Traffic pair = traffic("ld.const.f32 %f1, [%d2];\nld.const.f32 %f2, [%d2+4];\n", 8);
    CHECK(pair.uniform_constant_cycles == 2 * warps * turns);
}

TEST_CASE("turns of a loop of compare-and-swap that warps take because others are faster") {
    // Each of 128 lanes adds 1 to one word.
    const auto loop_on = [](const std::string& label, const std::string& swap) {
        return label + ":\nmov.u32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\n" + swap +
               " %r3, %r4;\nsetp.ne.u32 %p1, %r2, %r3;\n@%p1 bra " + label + ";\n";
    };
    // These others do not count: of global memory, and in no loop, by a lane of each warp, with two wavefronts.
    const std::string others = loop_on("GLOBAL", "atom.global.cas.b32 %r2, [%a],") +
                               "mov.u32 %r5, %laneid;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra DONE;\n"
                               "atom.shared.cas.b32 %r2, [%r1], 1, 2;\nDONE:\n";
    const std::string begin =
        ".shared .align 4 .b32 word;\nmov.u32 %r1, word;\ncvt.u64.u32 %d1, %r1;\ncvta.shared.u64 %d1, %d1;\n"
        "setp.eq.u64 %p2, %n, 0;\n@%p2 bra DONE;\nmov.u32 %r2, 0;\nst.shared.u32 [%r1], %r2;\nbar.sync 0;\n";
    for (const std::string swap : {"atom.shared.cas.b32 %r2, [%r1],", "atom.cas.b32 %r2, [%d1],"}) {
        CAPTURE(swap);
        Runner runner(begin + loop_on("SHARED", swap) + others);
        const LaunchResult result = runner.run(1, 1, 128);
        const Retries& retries = result.traffic.retries;
        // Here the first warp takes 32 turns, each other one 33; at the same time, each would take 128.
        constexpr std::uint64_t here = 32 + 3 * 33, further = 4 * 128 - here;
        CHECK(result.counters.shared_atomic_requests == here + 4);
        CHECK(retries.requests == further);
        CHECK(retries.wavefronts == scaled(result.counters.shared_atomic_wavefronts - 8, further, here));
        CHECK(retries.instructions == 5 * further);
        CHECK(retries.divergences == scaled(4 * 31, further, here));
        CHECK(runner.run(0, 1, 128).traffic.retries.requests == 0);
    }
}
