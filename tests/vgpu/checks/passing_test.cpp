// initcheck where values go between functions, lanes and orders: of what is undefined, whose it is and where it came
// from.
#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Found;
using vgpu::test::Machine;
using vgpu::test::Snippet;
using Findings = std::vector<Found>;

namespace {

const std::string global = "initcheck/global";

Findings run(const std::string& lines, std::size_t defined = 0, const std::string& functions = "") {
    return Snippet(lines, functions, defined).run();
}

}  // namespace

TEST_CASE("a register that lanes have loaded at two places has an origin for each of them") {
    const std::string loads =
        "setp.lt.u32 %p1, %t, 16;\n@%p1 ld.global.u32 %r1, [%pa];\n@!%p1 ld.global.u32 %r1, [%pa+128];\n";
    CHECK(run(loads + "@!%p1 add.u32 %r2, %r1, 1;") == Findings{{global, 4, 3, 16, 1}});
    CHECK(run(loads + "@%p1 add.u32 %r2, %r1, 1;") == Findings{{global, 4, 2, 0, 1}});
    CHECK(run(loads + "@!%p1 mov.u32 %r1, %t;\nadd.u32 %r2, %r1, 1;") == Findings{{global, 5, 2, 0, 1}});
    // Through a function, and through a shuffle.
    const std::string keep =
        ".func (.param .b32 r) keep(.param .b32 x) {\n.reg .b32 %v;\nld.param.u32 %v, [x];\nst.param.b32 [r], "
        "%v;\nret;\n}\n";
    CHECK(run(loads + "{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call.uni (r), keep, (x); "
                      "ld.param.b32 %r2, [r]; }\n@!%p1 add.u32 %r2, %r2, 1;",
              0, keep) == Findings{{global, 5, 3, 16, 1}});
    CHECK(run(loads + "shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffffffff;\nadd.u32 %r2, %r2, 1;") ==
          Findings{{global, 5, 3, 0, 1}});
    CHECK(run(loads + "shfl.sync.idx.b32 %r2, %r1, 2, 31, 0xffffffff;\nadd.u32 %r2, %r2, 1;") ==
          Findings{{global, 5, 2, 0, 1}});
}

TEST_CASE("of a structure that is passed, each element is as it was") {
    const auto element = [](const std::string& type, const std::string& at) {
        return ".func (.param ." + type + " r) get(.param .align 16 .b8 x[16]) {\n.reg ." + type + " %v;\nld.param." +
               type + " %v, [x+" + at + "];\nst.param." + type + " [r], %v;\nret;\n}\n";
    };
    const auto pass = [](const std::string& store, const std::string& type, const std::string& result) {
        return "ld.global.u32 %r1, [%pa]; cvt.u64.u32 %l1, %t;\nmov.b64 %l2, {%t, %r1};\n"
               "{ .param .align 16 .b8 x[16]; .param ." +
               type + " r; " + store + " call.uni (r), get, (x); ld.param." + type + " " + result + ", [r]; }\n";
    };
    const std::string words = "st.param.v4.b32 [x], {%t, %t, %r1, %t};", longs = "st.param.v2.b64 [x], {%l1, %l2};";
    const std::string use = "add.u32 %r2, %r2, 1;", use_long = "add.u64 %l3, %l3, 1;";
    for (const std::string at : {"0", "4", "12"})
        CHECK(run(pass(words, "b32", "%r2") + use, 0, element("b32", at)).empty());
    CHECK(run(pass(words, "b32", "%r2") + use, 0, element("b32", "8")) == Findings{{global, 4, 1, 0, 1}});
    CHECK(run(pass(longs, "b64", "%l3") + use_long, 0, element("b64", "0")).empty());
    CHECK(run(pass(longs, "b64", "%l3") + use_long, 0, element("b64", "8")) == Findings{{global, 4, 1, 0, 1}});
    // Only the last element is given anew.
    CHECK(run(pass(words + " st.param.b32 [x+12], %r1;", "b32", "%r2") + use, 0, element("b32", "12")) ==
          Findings{{global, 4, 1, 0, 1}});
    CHECK(run(pass(words + " st.param.b32 [x+12], %t;", "b32", "%r2") + use, 0, element("b32", "8")) ==
          Findings{{global, 4, 1, 0, 1}});
}

TEST_CASE("what was passed stays undefined though its register is given another value") {
    const std::string take =
        ".func take(.param .b32 x) {\n.reg .b32 %v;\nld.param.u32 %v, [x];\nadd.u32 %v, %v, 1;\nret;\n}\n";
    const std::string pass =
        "ld.global.u32 %r1, [%pa];\n{ .param .b32 x; st.param.b32 [x], %r1; mov.u32 %r1, 0; call.uni take, (x); }";
    CHECK(run(pass, 7, take) == Findings{{global, 0, 1, 7, 1}});  // the function names no lines
    CHECK(run(pass, 32, take).empty());
}

TEST_CASE("tiles of a warp that shuffle side by side hand on what is undefined, and replace what was") {
    const std::string load =
        "ld.global.u32 %r1, [%pa];\nsetp.lt.u32 %p1, %t, 16;\nselp.b32 %r4, 0xffff, 0xffff0000, %p1;\n"
        "xor.b32 %r5, %t, 1;\n";
    const std::string use = "\nadd.u32 %r3, %r2, 1;";
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %r1, %r5, 31, %r4;" + use, 20) == Findings{{global, 6, 1, 20, 1}});
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %r1, %r5, 31, %r4;" + use, 31) == Findings{{global, 6, 1, 30, 1}});
    CHECK(run(load + "mov.u32 %r2, %r1;\nshfl.sync.idx.b32 %r2, %t, %r5, 31, %r4;" + use, 0).empty());
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %t, %r1, 31, %r4;", 20) == Findings{{global, 5, 1, 20, 1}});
}

TEST_CASE("in any order of warps and blocks an undefined value is found") {
    for (const auto order :
         {device::Order::forward, device::Order::reverse, device::Order::interleaved, device::Order::ahead}) {
        Machine m(1, vgpu::test::snippet("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;"), 100'000, "h100", {},
                  order);
        const vgpu::test::Buffer<std::uint32_t> a{m.gpu->allocate(1024, "cudaMalloc"), 256};
        const auto found = vgpu::test::in_short(m.diagnose("k", {2}, {64}, a, a));
        CAPTURE(static_cast<int>(order));
        REQUIRE_FALSE(found.empty());
        CHECK((found[0].rule == global && found[0].line == 2 && found[0].other == 1));
    }
}

TEST_CASE("what is said of an element of a local array") {
    Snippet s("ld.local.u32 %r1, [own+4];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%pb], %r2;");
    const auto found = s.diagnose();
    REQUIRE(found.size() == 1);
    CHECK(found[0].message == "uses an uninitialized element of one of its local arrays");
    CHECK_FALSE(found[0].memory);
    CHECK((found[0].related.size() == 1 && found[0].related[0].role == "read"));
}

TEST_CASE("an array of which one byte was written is not one that was never written") {
    Snippet s("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;");
    const std::byte first{};
    s.machine.gpu->write(s.a.address, {&first, 1});
    const auto found = s.diagnose();
    REQUIRE(found.size() == 1);
    CHECK(found[0].message == "uses an uninitialized element of {memory}");
}
