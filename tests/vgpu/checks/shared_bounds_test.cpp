// Variables of shared memory have their own bounds, and keep their banks, their alignment and their cost.
#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::Diagnostic;
using vgpu::test::Snippet;

namespace {

Diagnostic fault_of(const std::string& lines, const std::string& functions = "") {
    const auto found = Snippet(lines, functions).diagnose();
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].rule == &device::rules::out_of_bounds);
    return found[0];
}

const std::string dynamic = ".extern .shared .align 16 .b8 all[];\n";

}  // namespace

TEST_CASE("an index beyond a shared variable is found though the next one begins there") {
    auto d = fault_of("st.shared.u32 [first+256], %t;");
    CHECK(d.message ==
          "writes 4 bytes directly past the end of {memory} in shared memory; 31 more threads of its warp do "
          "the same");
    CHECK(d.memory.value().name == "first");
    CHECK(d.memory.value().bytes == 256);
    d = fault_of("ld.shared.u32 %r1, [second+-4];");
    CHECK_THAT(d.message, Contains("reads 4 bytes, 4 bytes before {memory} in shared memory"));
    CHECK(d.memory.value().name == "second");
    CHECK_THAT(fault_of("ld.shared.u32 %r1, [first+-8];").message,
               Contains("8 bytes before {memory} in shared memory"));
    // The last byte of an element counts as well.
    d = fault_of(
        "mov.u32 %r1, first;\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r1+240];\nmov.u32 %r1, first;\n"
        "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r1+256];");
    CHECK(d.place.line == 4);
    CHECK_THAT(fault_of("atom.shared.add.u32 %r1, [second+256], 1;").message,
               Contains("updates 4 bytes directly past"));
    CHECK_THAT(fault_of("cvta.shared.u64 %l1, 0;\nst.u32 [%l1+300], %t;").message,
               Contains("writes 4 bytes, 44 bytes past the end of {memory} in shared memory"));
}

TEST_CASE("the variable that an access leaves is the one that its thread's neighbours are in") {
    // Lanes 0 to 15 are in `second`; the others are far behind it, where `first` is not nearer.
    const auto d = fault_of(
        "mov.u32 %r1, second;\nadd.u32 %r1, %r1, %i;\nsetp.ge.u32 %p1, %t, 16;\n"
        "@%p1 sub.u32 %r1, %r1, 1024;\nst.shared.u32 [%r1], %t;");
    CHECK(d.memory.value().name == "second");
    CHECK(d.thread.value().thread[0] == 16);
    CHECK_THAT(d.message, Contains("960 bytes before {memory}"));
}

TEST_CASE("lanes of one access may be in several variables") {
    Snippet k(
        "mov.u32 %r1, second;\nmov.u32 %r2, first;\nsetp.ge.u32 %p1, %t, 16;\nselp.u32 %r1, %r1, %r2, %p1;\n"
        "add.u32 %r1, %r1, %i;\nst.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%pb], %r3;");
    CHECK(k.run().empty());
    CHECK(k.result()[31] == 31);
    // One instruction goes back and forth, as with two buffers that are swapped.
    Snippet two(
        "mov.u32 %r1, first; mov.u32 %r2, second;\nmov.u32 %r4, 0;\n"
        "L: add.u32 %r5, %r1, %i;\nst.shared.u32 [%r5], %r4;\nmov.u32 %r6, %r1;\nmov.u32 %r1, %r2;\n"
        "mov.u32 %r2, %r6;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 20;\n@%p1 bra L;\n"
        "add.u32 %r5, %r1, %i;\nld.shared.u32 %r3, [%r5];\nst.global.u32 [%pb], %r3;");
    CHECK(two.run().empty());
    CHECK(two.result()[5] == 18);
}

TEST_CASE("gaps change neither banks nor alignment, and cost nothing") {
    Snippet k(
        "mov.u32 %r1, first;\nmov.u32 %r2, second;\nmov.u32 %r3, all;\nmov.u32 %r4, %total_smem_size;\n"
        "st.global.u32 [%b], %r1;\nst.global.u32 [%b+4], %r2;\nst.global.u32 [%b+8], %r3;\n"
        "st.global.u32 [%b+12], %r4;\nst.shared.u32 [all+96], %t;",
        dynamic);
    k.machine.launch_shared("k", {1}, {1}, 100, k.a, k.b);
    const auto at = k.result();
    CHECK(at[0] == 0);
    CHECK(at[1] % 1024 == 256);
    CHECK(at[1] >= 256 + 1024);
    CHECK(at[2] % 1024 == 512);
    CHECK(at[2] >= at[1] + 256 + 1024);
    CHECK(at[3] == 612);
    CHECK(k.machine.gpu->function_info(k.machine.gpu->find_function(k.machine.module, "k")).static_shared_bytes == 512);
}

TEST_CASE("the dynamic part has bounds of its own") {
    auto d = fault_of("st.shared.u32 [all], %t;", dynamic);
    CHECK_THAT(d.message, Contains("writes 4 bytes of dynamic shared memory, but the launch gives the block none") &&
                              Contains("third argument"));
    Snippet k("st.shared.u32 [all+100], %t;", dynamic);
    k.machine.may_be_wrong = true;
    CHECK_THROWS(k.machine.launch_shared("k", {1}, {1}, 100, k.a, k.b));
    d = k.machine.analysis->take_diagnostics().at(0);
    CHECK(d.message == "writes 4 bytes directly past the end of the block's 100 bytes of dynamic shared memory");
    CHECK_FALSE(d.memory);
}

TEST_CASE("a kernel with very many shared variables takes no more memory than it says") {
    std::string variables, lines;
    for (int i = 0; i < 2000; ++i) variables += ".shared .align 4 .b8 v" + std::to_string(i) + "[4];\n";
    for (int i = 0; i < 2000; ++i) lines += "st.shared.u32 [v" + std::to_string(i) + "], %t; ";
    Snippet k(lines +
                  "\nld.shared.u32 %r1, [v1999];\nst.global.u32 [%pb], %r1;\nmov.u32 %r2, v1999;\n"
                  "st.global.u32 [%b], %r2;",
              variables);
    CHECK(k.run({1}, {1}).empty());
    CHECK(k.result()[0] < 512 * 1024);
}

TEST_CASE("local variables end where the running function's end, however deep the stack is") {
    CHECK_THAT(fault_of("st.local.u32 [own+128], %t;").message,
               Contains("writes 4 bytes outside the thread's local arrays"));
    const std::string callee =
        ".func f(.param .b32 x) {\n.reg .b64 %l;\n.local .align 4 .b8 its[20];\nmov.u64 %l, its;\n"
        "st.local.u32 [%l+16], 1;\nst.local.u32 [0], 1;\nret;\n}\n";
    const std::string call = "{ .param .b32 x; st.param.b32 [x], %t; call.uni f, (x); }\n";
    CHECK(Snippet(call, callee).run().empty());
    CHECK(fault_of(call + "st.local.u32 [own+128], %t;", callee).place.line == 2);
    std::string beyond = callee;
    beyond.replace(beyond.find("[%l+16]"), 7, "[%l+20]");
    CHECK_THAT(fault_of(call, beyond).message, Contains("outside the thread's local arrays"));
}
