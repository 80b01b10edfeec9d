// racecheck of asynchronous copies: until the thread that copies has waited, nobody may touch what it copies to.
#include "judge/catch.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Found;
using vgpu::test::Snippet;
using Findings = std::vector<Found>;
using Lines = std::vector<std::uint32_t>;

namespace {

const std::string shared = "racecheck/shared", warp = "racecheck/warp";
// Line 1: %r5 is the address of the thread's word of `first`, %r6 that of its neighbour, %r7 that 32 positions away.
const std::string places =
    "mov.u32 %r4, first; add.u32 %r5, %r4, %i; xor.b32 %r6, %i, 4; add.u32 %r6, %r6, %r4; xor.b32 %r7, %i, 128; "
    "add.u32 %r7, %r7, %r4;\n";
const std::string copy = "cp.async.ca.shared.global [%r5], [%pb], 4;\n";

Findings run(const std::string& lines, std::uint32_t threads = 32) {
    return Snippet(places + lines).run({1}, {threads});
}
// The lines of the accesses that race with a copy.
std::vector<std::uint32_t> racing(const std::string& lines, std::uint32_t threads = 32) {
    std::vector<std::uint32_t> at;
    for (const Found& f : run(lines, threads)) {
        CHECK(f.rule.starts_with("racecheck/"));
        at.push_back(f.line);
    }
    return at;
}

}  // namespace

TEST_CASE("a copy's target is the copying thread's after its wait, and the others' after they have met") {
    const std::string wait = "cp.async.wait_all;\n", own = "ld.shared.u32 %r1, [%r5];",
                      next = "ld.shared.u32 %r1, [%r6];", far = "ld.shared.u32 %r1, [%r7];";
    CHECK(racing(copy + own) == Lines{3});
    CHECK(racing(copy + "bar.sync 0;\n" + own) == Lines{4});
    CHECK(run(copy + wait + own).empty());
    CHECK(run(copy + wait + next) == Findings{{warp, 4, 2, 0, 32}});
    CHECK(run(copy + wait + "bar.warp.sync 0xffffffff;\n" + next).empty());
    CHECK(run(copy + wait + "bar.sync 0;\n" + far, 64).empty());
    CHECK(racing(copy + "bar.sync 0;\n" + wait + far, 64) == Lines{5});
    CHECK(racing(copy + "st.shared.u32 [%r5], 7;") == Lines{3});
}

TEST_CASE("a wait for groups leaves the latest ones under way") {
    const std::string two = copy + "cp.async.commit_group;\ncp.async.ca.shared.global [%r5+128], [%pb], 4;\n" +
                            "cp.async.commit_group;\n",
                      older = "ld.shared.u32 %r1, [%r5];\n", later = "ld.shared.u32 %r1, [%r5+128];";
    CHECK(run(two + "cp.async.wait_group 0;\n" + older + later).empty());
    CHECK(racing(two + "cp.async.wait_group 1;\n" + older + later) == Lines{8});
    CHECK(racing(two + "cp.async.wait_group 2;\n" + older + later) == Lines{7, 8});
    CHECK(racing(two + "cp.async.wait_group 3;\n" + older + later) == Lines{7, 8});
    // What is in no group yet is not waited for by a number of groups.
    CHECK(racing(copy + "cp.async.wait_group 0;\n" + older) == Lines{4});
}

TEST_CASE("a wait ends no copy of another warp, though both copy to one place") {
    const auto found = [](const std::string& who) {
        return run(
            "setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32; setp.lt.u32 %p3, %t, 32;\n"
            "@%p1 cp.async.ca.shared.global [first], [%pb], 4;\nbar.sync 0;\n"
            "@%p2 cp.async.ca.shared.global [first], [%pb], 4;\nbar.sync 0;\n" +
                who + " bra L;\ncp.async.wait_all;\nL: bar.sync 0;\n@%p1 ld.shared.u32 %r1, [first];",
            64);
    };
    CHECK(found("@%p3") == Findings{{shared, 5, 3, 32, 1}});                          // the later copy's warp waits
    CHECK(found("@!%p3") == Findings{{shared, 5, 3, 32, 1}, {shared, 10, 5, 0, 1}});  // the other one
}
