// What a launch without findings says of launches with other data.
#include <string>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using Words = std::vector<std::uint32_t>;

namespace {

// k(to, from, n): %i is the thread's number and %v its word of `from`, whose address is %f; all threads share `to`.
std::string kernel(const std::string& body) {
    return ".version 8.6\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
           ".visible .entry k(.param .u64 to, .param .u64 from, .param .u32 n) {\n"
           ".reg .b32 %r<9>, %i, %v, %n, %s;\n.reg .b64 %d<9>, %t, %f;\n.reg .pred %p<4>;\n"
           ".shared .align 4 .b8 tile[16];\n"
           "ld.param.u64 %t, [to];\nld.param.u64 %f, [from];\nld.param.u32 %n, [n];\nmov.u32 %i, %tid.x;\n"
           "mul.wide.u32 %d1, %i, 4;\nadd.s64 %f, %f, %d1;\nld.global.u32 %v, [%f];\nmov.u32 %s, tile;\n" +
           body + "ret;\n}\n";
}

struct Run {
    std::optional<device::AnyData> proof;
    std::size_t findings = 0;
};

Run run(const std::string& body, std::uint32_t threads = 64, const device::Checks& checks = {}, unsigned blocks = 1) {
    Machine machine(1, kernel(body), 1'000'000, "h100", checks);
    machine.may_be_wrong = true;
    const auto from = machine.upload(Words(threads, 5)), to = machine.upload(Words(64, 0));
    const auto record = machine.launch("k", {blocks, 1, 1}, {threads, 1, 1}, to, from, 9u);
    return {record.any_data, machine.analysis->take_diagnostics().size()};
}

std::string why_not(const Run& found) {
    REQUIRE(found.findings == 0);
    REQUIRE(found.proof);
    return found.proof->holds ? "holds" : found.proof->because;
}

}  // namespace

TEST_CASE("a launch without findings whose accesses no data decide holds for any data") {
    CHECK(why_not(run("add.u32 %r1, %v, 1;\nst.global.u32 [%f], %r1;\n")) == "holds");
    CHECK(why_not(run("mul.wide.u32 %d2, %v, 4;\nadd.s64 %d2, %t, %d2;\nld.global.u32 %r1, [%d2];\n")) == "address");
    CHECK(why_not(run("setp.eq.u32 %p1, %v, 5;\n@%p1 bra END;\nst.global.u32 [%f], %n;\nEND:\n")) == "branch");
    CHECK(why_not(run("membar.gl;\nst.global.u32 [%f], %n;\n")) == "order");
}

TEST_CASE("threads that store the same in one place do so with any data only if it is none") {
    CHECK(why_not(run("st.global.u32 [%t], 1;\n")) == "holds");
    CHECK(why_not(run("st.global.u32 [%t], %n;\n")) == "holds");
    CHECK(why_not(run("st.global.u32 [%t], %v;\n")) == "value");
    CHECK(why_not(run("st.global.u32 [%t], %v;\n", 32)) == "value");  // lanes of one warp
    CHECK(why_not(run("st.shared.u32 [%s], %v;\n")) == "value");
    CHECK(why_not(run("st.shared.u32 [%s], %n;\n")) == "holds");
    CHECK(why_not(run("st.global.u32 [%t], %v;\n", 32, {}, 2)) == "value");
    // The other warp's store is one of data.
    CHECK(why_not(run("setp.lt.u32 %p1, %i, 1;\nsetp.eq.u32 %p2, %i, 32;\n@%p1 st.global.u32 [%t], %v;\n"
                      "@%p2 st.global.u32 [%t], 5;\n")) == "value");
    // A thread reads what another one leaves as it was.
    CHECK(why_not(run("setp.eq.u32 %p1, %i, 0;\nsetp.eq.u32 %p2, %i, 32;\n@%p1 ld.global.u32 %r1, [%t];\n"
                      "@%p2 st.global.u32 [%t], 0;\n")) == "value");
}

TEST_CASE("the store that is named is the first in the code, whichever comes first") {
    const Run found =
        run("setp.lt.u32 %p1, %i, 32;\n@%p1 bra BEHIND;\n.loc 1 3 0\nst.global.u32 [%t], %v;\n"
            "BEHIND:\n.loc 1 4 0\n@%p1 st.global.u32 [%t+4], %v;\n");
    CHECK(why_not(found) == "value");
    CHECK(found.proof->place.line == 3);
    const Run turned =
        run("setp.ge.u32 %p1, %i, 32;\n@%p1 bra BEHIND;\n.loc 1 3 0\nst.global.u32 [%t], %v;\n"
            "BEHIND:\n.loc 1 4 0\n@%p1 st.global.u32 [%t+4], %v;\n");
    CHECK(why_not(turned) == "value");
    CHECK(turned.proof->place.line == 3);
}

TEST_CASE("nothing is said where there are findings, or where some were not looked for") {
    const std::string race = "st.global.u32 [%t], %i;\n";
    const Run found = run(race);
    CHECK(found.findings == 1);
    CHECK_FALSE(found.proof);
    const std::string right = "st.global.u32 [%f], %n;\n";
    CHECK(run(right).proof);
    device::Checks fewer;
    SECTION("races") { fewer.race = false; }
    SECTION("values that nobody wrote") { fewer.init = false; }
    SECTION("barriers") { fewer.sync = false; }
    CHECK_FALSE(run(right, 64, fewer).proof);
}

TEST_CASE("nothing is said of a sample") {
    vgpu::VirtualGpuOptions options;
    options.threads = 1;
    options.sample_blocks = 1;
    Machine machine(options, kernel("st.shared.u32 [%s], %n;\n"));
    const auto from = machine.upload(Words(64, 5)), to = machine.upload(Words(64, 0));
    CHECK_FALSE(machine.launch("k", {4, 1, 1}, {32, 1, 1}, to, from, 9u).any_data);
}
