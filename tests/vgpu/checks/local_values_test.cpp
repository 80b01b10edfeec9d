// initcheck in local memory across calls: what a function finds in its own variables and in its parameters.
#include "judge/catch.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Found;
using vgpu::test::Snippet;
using Findings = std::vector<Found>;

namespace {

// hold(x, fill) writes x to its array if fill is not 0, meets the other lanes, and returns the array's element.
const std::string hold =
    ".func (.param .b32 r) hold(.param .b32 x, .param .b32 fill) {\n.reg .b32 %v;\n.reg .pred %p;\n.reg .b64 %l;\n"
    ".local .align 8 .b8 its[16];\nmov.u64 %l, its;\nld.param.u32 %v, [fill];\nsetp.ne.u32 %p, %v, 0;\n"
    "ld.param.u32 %v, [x];\n@%p st.local.u32 [%l+4], %v;\nbar.warp.sync 0xffffffff;\nld.local.u32 %v, [%l+4];\n"
    "st.param.b32 [r], %v;\nret;\n}\n";

std::string call_hold(const std::string& x, const std::string& fill = "1") {
    return "{ .param .b32 x; .param .b32 f; .param .b32 r; st.param.b32 [x], " + x + "; st.param.b32 [f], " + fill +
           "; call.uni (r), hold, (x, f); ld.param.b32 %r2, [r]; }\n";
}

}  // namespace

TEST_CASE("a call of some lanes forgets nothing of what the others hold in their own call") {
    for (const std::string who : {"%t, 16", "%t, 4", "%t, 28", "%r3, 1"})
        for (const std::string when : {"@%p1", "@!%p1"}) {
            CAPTURE(who, when);
            const auto found = Snippet("ld.global.u32 %r1, [%pa];\nand.b32 %r3, %t, 1; setp.lt.u32 %p1, " + who +
                                           ";\n" + when + " bra L;\n" + call_hold("%r1") + "bra M;\nL:\n" +
                                           call_hold("%r1") + "M:\nadd.u32 %r4, %r2, 1;",
                                       hold)
                                   .run();
            REQUIRE_FALSE(found.empty());
            for (const Found& f : found) CHECK((f.rule == "initcheck/global" && f.line == 9 && f.other == 1));
        }
}

TEST_CASE("an element that a call left undefined is only unwritten in the next call") {
    const std::string use = "add.u32 %r4, %r2, 1;\nst.global.u32 [%pb], %r4;";
    const auto run = [&](const std::string& calls) {
        return Snippet("ld.global.u32 %r1, [%pa];\n" + calls + use, hold).run();
    };
    CHECK(run(call_hold("%r1")) == Findings{{"initcheck/global", 3, 1, 0, 1}});
    const auto again = run(call_hold("%r1") + call_hold("%t", "0"));
    REQUIRE(again.size() == 1);
    CHECK((again[0].rule == "initcheck/local" && again[0].line == 4));
    // Only the upper lanes call again; what the lower ones were given keeps its origin.
    CHECK(run(call_hold("%r1") + "setp.lt.u32 %p1, %t, 16;\n@%p1 bra M;\nM:\n" + call_hold("%t")).empty());
}

TEST_CASE("a function reads each of its parameters through its address, of any size, and all are written") {
    const std::string all =
        ".func (.param .b64 r) all(.param .b8 a, .param .b16 b, .param .b32 c, .param .b64 d, "
        ".param .align 4 .b8 e[12]) {\n.reg .b64 %l, %v, %s;\nmov.b64 %l, a;\nld.local.u8 %s, [%l];\n"
        "mov.b64 %l, b;\nld.local.u16 %v, [%l];\nmad.lo.u64 %s, %s, 100, %v;\n"
        "mov.b64 %l, c;\nld.local.u32 %v, [%l];\nmad.lo.u64 %s, %s, 100, %v;\n"
        "mov.b64 %l, d;\nld.local.u64 %v, [%l];\nmad.lo.u64 %s, %s, 100, %v;\n"
        "mov.b64 %l, e;\nld.local.u32 %v, [%l];\nmad.lo.u64 %s, %s, 100, %v;\n"
        "ld.local.u32 %v, [%l+8];\nmad.lo.u64 %s, %s, 100, %v;\nst.param.b64 [r], %s;\nret;\n}\n";
    Snippet k(
        "cvt.u16.u32 %h1, %t; add.u32 %r1, %t, 1; cvt.u16.u32 %h2, %r1; add.u32 %r2, %t, 2; add.u32 %r3, %t, 3; "
        "cvt.u64.u32 %l1, %r3; add.u32 %r4, %t, 4; add.u32 %r5, %t, 5;\n"
        "{ .param .b8 a; .param .b16 b; .param .b32 c; .param .b64 d; .param .align 4 .b8 e[12]; .param .b64 r; "
        "st.param.b8 [a], %h1; st.param.b16 [b], %h2; st.param.b32 [c], %r2; st.param.b64 [d], %l1; "
        "st.param.b32 [e], %r4; st.param.b32 [e+4], 0; st.param.b32 [e+8], %r5; call.uni (r), all, (a, b, c, d, e); "
        "ld.param.b64 %l2, [r]; }\nadd.s64 %l3, %pb, %o;\nst.global.u64 [%l3], %l2;",
        all);
    CHECK(k.run().empty());
    const auto words = k.result();
    for (std::uint64_t t = 0; t < 32; ++t) {
        std::uint64_t expected = 0;
        for (const std::uint64_t part : {0, 1, 2, 3, 4, 5}) expected = expected * 100 + t + part;
        CHECK((words[2 * t] | std::uint64_t{words[2 * t + 1]} << 32) == expected);
    }
}
