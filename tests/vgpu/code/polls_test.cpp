// Which kernels may wait for other blocks.
#include <string>
#include <vector>

#include "judge/catch.hpp"
#include "support/approx.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// Block 0 goes through a loop 4096 times, the others once; then all do this.
double time_with(const std::string& in_loop, const std::string& behind) {
    Machine m(
        1,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg .b64 %a, %d<3>;\n"
        ".reg .b32 %i, %n, %r<6>;\n.reg .pred %p, %q;\nld.param.u64 %a, [a];\nmov.u32 %r1, %ctaid.x;\n"
        "setp.eq.u32 %p, %r1, 0;\nselp.u32 %n, 4096, 1, %p;\nmov.u32 %i, 0;\nmov.u32 %r3, 1;\n"
        "L: mad.lo.u32 %r3, %r3, %r3, 7;\n" +
            in_loop + "add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, %n;\n@%p bra L;\n" + behind +
            "st.global.u32 [%a+8], %r3;\nret;\n}\n",
        200'000'000, "h100:4");
    m.may_be_wrong = true;
    return m.launch("k", {400}, {32}, m.upload(std::vector<std::uint32_t>(4096))).duration_ns;
}

}  // namespace

TEST_CASE("a launch with atomics takes as long as its longest block") {
    const double alone = time_with("", "");
    CHECK(time_with("", "red.global.add.u32 [%a], %r3;\n") > 0.9 * alone);
    CHECK(time_with("", "atom.global.add.u32 %r4, [%a], 1;\n") > 0.9 * alone);
    CHECK(time_with("", "ld.volatile.global.u32 %r4, [%a];\n") > 0.9 * alone);
    // The address changes from turn to turn.
    CHECK(time_with("mul.wide.u32 %d1, %i, 4;\nand.b64 %d1, %d1, 1020;\nadd.s64 %d1, %d1, %a;\n"
                    "ld.volatile.global.u32 %r4, [%d1];\n",
                    "") > 0.9 * alone);
}

TEST_CASE("turns of a loop that asks for one place are waiting, and no work") {
    const double alone = time_with("", "");
    for (const char* asks : {"ld.volatile.global.u32 %r4, [%a];\n", "ld.acquire.gpu.global.u32 %r4, [%a];\n",
                             "atom.global.or.b32 %r4, [%a], 0;\n"}) {
        CAPTURE(asks);
        CHECK(time_with(asks, "") < 0.5 * alone);
    }
}

TEST_CASE("blocks that fetch their work from one place share it") {
    const auto time_of = [](const std::string& next) {
        Machine m(1,
                  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
                  ".reg .b64 %a;\n.reg .b32 %r<9>;\n.reg .pred %p;\nld.param.u64 %a, [a];\nmov.u32 %r1, %ctaid.x;\n"
                  "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, 0;\n" +
                      next + "ret;\n}\n",
                  200'000'000, "h100:4");
        m.may_be_wrong = true;
        return m.launch("k", {400}, {32}, m.upload(std::vector<std::uint32_t>(4))).duration_ns;
    };
    std::string work;
    for (int i = 0; i < 50; ++i) work += "mad.lo.u32 %r3, %r3, %r3, 7;\n";
    const double equal = time_of("L: " + work + "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p, %r4, 8;\n@%p bra L;\n");
    const double queue =
        time_of("L: " + work + "atom.global.add.u32 %r4, [%a], 1;\nsetp.lt.u32 %p, %r4, 102400;\n@%p bra L;\n");
    CHECK(queue == Approx(equal).epsilon(0.5));  // 32 lanes of 400 warps, 8 turns each
}
