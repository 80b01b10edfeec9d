// What a launch tells the timing model besides its counters.
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
