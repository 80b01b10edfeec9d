// Who waits where, and for whom, when no thread of a block can go on.
#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;

TEST_CASE("lanes that wait for one that never comes say so, each in its words") {
    const auto text = [](const std::string& lines, std::uint32_t threads) {
        Machine m(1, vgpu::test::snippet(lines), 1'000'000, "h100", {false, false, false, false});
        const auto out = m.upload(std::vector<std::uint32_t>(threads));
        m.may_be_wrong = true;
        auto message = message_of([&] { m.launch("k", {1}, {threads}, out, out); }, device::error::launch_timeout);
        const auto found = m.analysis->take_diagnostics();
        for (const auto& d : found)
            for (const auto& other : d.related) message += " | " + other.role;
        return message;
    };
    const std::string two = "setp.eq.u32 %p1, %t, 0;\n@%p1 bra L;\nbar.sync 1, 64;\nbra done;\nL:\n";
    CHECK_THAT(text(two + "bar.warp.sync 3;\ndone:", 2),
               Contains("waits in __syncwarp() for 1 thread of its warp that is in the mask 0x00000003 but never "
                        "arrives: thread (1,0,0)") &&
                   Contains("| one thread waits at"));
    CHECK_THAT(text(two + "bar.warp.sync 7;\ndone:", 3),
               Contains("for 2 threads of its warp that are in the mask 0x00000007 but never arrive, the first of them "
                        "thread (1,0,0)") &&
                   Contains("| 2 threads wait at"));
    // Two groups at one instruction wait for one lane each.
    CHECK_THAT(text("setp.ge.u32 %p1, %t, 16;\n@%p1 bra L;\nsetp.lt.u32 %p2, %t, 8;\n"
                    "selp.b32 %r1, 0x100ff, 0x2ff00, %p2;\nbar.warp.sync %r1;\nbra done;\nL: bar.sync 1, 64;\ndone:",
                    32),
               Contains("for 1 thread of its warp that is in the mask 0x000100ff but never arrives: thread (16,0,0)") &&
                   Contains("| 8 threads wait at | 16 threads wait at"));
    // One group that came in two parts.
    CHECK_THAT(text("setp.ge.u32 %p1, %t, 16;\n@%p1 bra L;\nsetp.lt.u32 %p2, %t, 8;\n@%p2 bra M;\nmov.u32 %r1, 0;\n"
                    "bar.warp.sync 0xff00;\nM: bar.warp.sync 0x1ffff;\nbra done;\nL: bar.sync 1, 64;\ndone:",
                    32),
               Contains("in the mask 0x0001ffff but never arrives: thread (16,0,0)") &&
                   Catch::Matchers::EndsWith("| 16 threads wait at"));
    CHECK_THAT(text("bar.sync 2, 96;", 64), Contains("waits at barrier 2, which 64 of 96 threads have reached"));
    // Lanes that wait for others of their warp are told first, though others come before them.
    CHECK_THAT(
        text("setp.lt.u32 %p1, %t, 32;\n@%p1 bra L;\nsetp.lt.u32 %p2, %t, 48;\n@%p2 bra M;\nbar.sync 1, 96;\n"
             "M: bar.warp.sync 0xffffffff;\nbra done;\nL: bar.sync 2, 96;\ndone:",
             64),
        Contains("waits in __syncwarp() for 16 threads") && Contains("first of them thread (48,0,0)") &&
            Catch::Matchers::EndsWith("[thread (32,0,0) of block (0,0,0)] | 32 threads wait at | 16 threads wait at"));
    // No more than eight places are told.
    std::string branches, barriers;
    for (int i = 0; i < 12; ++i) {
        const std::string number = std::to_string(i), next = std::to_string(i + 1);
        branches += "setp.eq.u32 %p1, %t, " + number + ";\n@%p1 bra L" + number + ";\n";
        barriers += "L" + number + ": bar.sync " + next + ", 64;\nbra done;\n";
    }
    std::string seven;
    for (int i = 0; i < 7; ++i) seven += " | one thread waits at";
    CHECK_THAT(
        text(branches + "bra done;\n" + barriers + "done:", 12),
        Contains("which 1 of 64 threads have reached") && Catch::Matchers::EndsWith("of block (0,0,0)]" + seven));
}
