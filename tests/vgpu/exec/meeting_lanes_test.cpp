// What it costs that lanes meet whose number only the data tells: values to be matched, and swaps that others prevent.
#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

std::string kernel(const std::string& name, const std::string& body) {
    return ".visible .entry " + name +
           "(.param .u64 out, .param .u32 distinct)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<12>;\n.reg .pred %p<3>;\n"
           "ld.param.u64 %d1, [out];\nld.param.u32 %r1, [distinct];\nmov.u32 %r2, %tid.x;\nrem.u32 %r3, %r2, %r1;\n"
           "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\n" +
           body + "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 256;\n@%p1 bra L;\nst.global.u32 [%d1], %r4;\nret;\n}\n";
}

const std::string ptx =
    ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 4 .b32 words[1024];\n" +
    kernel("match", "L: match.any.sync.b32 %r4, %r3, 0xffffffff;\n") +
    kernel("match_long", "cvt.u64.u32 %d2, %r3;\nL: match.any.sync.b64 %r4, %d2, 0xffffffff;\n") +
    kernel("match_all", "L: match.all.sync.b32 %r4, %r3, 0xffffffff;\n") +
    kernel("swap",
           "mov.u32 %r6, words;\nmad.lo.u32 %r6, %r3, 4, %r6;\nst.shared.u32 [%r6], 0;\nbar.sync 0;\n"
           "L: ld.volatile.shared.u32 %r7, [%r6];\nAGAIN: add.u32 %r8, %r7, 1;\n"
           "atom.shared.cas.b32 %r9, [%r6], %r7, %r8;\nsetp.ne.u32 %p2, %r9, %r7;\nmov.u32 %r7, %r9;\n"
           "@%p2 bra AGAIN;\n");

struct Lanes : Machine {
    explicit Lanes(unsigned host_threads = 1) : Machine(host_threads, ptx, 200'000'000, "h100:1") {
        may_be_wrong = true;
    }
    double ns(const char* name, std::uint32_t distinct, std::uint32_t threads = 256, std::uint32_t blocks = 8) {
        return launch(name, {blocks}, {threads}, upload(std::vector<std::uint32_t>(1)), distinct).duration_ns;
    }
};

}  // namespace

TEST_CASE("a match takes two cycles for each different value, four for each of 64 bits") {
    Lanes m;
    const double cycle_ns = 1 / m.gpu->properties().clock_ghz, turns = 8 * 8 * 256;
    const auto cycles = [&](const char* name, std::uint32_t few, std::uint32_t many) {
        return (m.ns(name, many) - m.ns(name, few)) / cycle_ns / turns;
    };
    const double any = cycles("match", 16, 32), of_long = cycles("match_long", 16, 32);
    CAPTURE(any, of_long);
    CHECK((any > 31 && any < 33));
    CHECK((of_long > 63 && of_long < 65));
    CHECK(cycles("match_all", 16, 32) == 0);
}

TEST_CASE("warps that swap the same words at the same time take as many turns as lanes want the word") {
    Lanes m;
    // Alone, a warp takes 32 turns for each of its 256 swaps; among eight warps, 256, with all their wavefronts.
    const double alone = m.ns("swap", 1, 32, 1), together = m.ns("swap", 1, 256, 1);
    CAPTURE(alone, together);
    CHECK((together > 6 * alone && together < 100 * alone));
    const double own = m.ns("swap", 1024, 32, 1), all_own = m.ns("swap", 1024, 256, 1);
    CHECK(all_own < 3 * own);
    CHECK(Lanes(3).ns("swap", 1, 256, 16) == m.ns("swap", 1, 256, 16));
}
