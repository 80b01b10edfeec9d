// racecheck and initcheck at memory: which accesses conflict, which are harmless after all, and the messages.
#include <set>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::Diagnostic;
using vgpu::test::Found;
using vgpu::test::in_short;
using vgpu::test::Snippet;
using Findings = std::vector<Found>;

namespace {

// Line 1: %r5 is the address of the thread's word of `first`, %r6 that of the thread 32 positions away.
const std::string own_and_other =
    "mov.u32 %r5, first; xor.b32 %r6, %i, 128; add.u32 %r6, %r6, %r5; add.u32 %r5, %r5, %i;\n";

Findings run(const std::string& lines, device::Dim3 grid = {1}, device::Dim3 block = {64}) {
    return Snippet(lines, "", 256).run(grid, block);
}
Diagnostic first_of(const std::string& lines, device::Dim3 grid = {1}, device::Dim3 block = {64}) {
    const auto found = Snippet(lines, "", 256).diagnose(grid, block);
    REQUIRE_FALSE(found.empty());
    return found[0];
}

const std::string shared = "racecheck/shared", warp = "racecheck/warp", global = "racecheck/global";

}  // namespace

TEST_CASE("a race in shared memory: both parties, what each does, and the array") {
    const std::string lines = own_and_other + "st.shared.u32 [%r5], %t;\nld.shared.u32 %r1, [%r6];";
    CHECK(run(lines) == Findings{{shared, 2, 3, 32, 32}, {shared, 3, 2, 32, 32}});
    const auto found = Snippet(lines).diagnose({1}, {64});
    REQUIRE(found.size() == 2);
    CHECK(found[0].message ==
          "writes an element of {memory} that another thread reads, with no __syncthreads() between the two");
    CHECK(found[0].related.at(0).role == "read by");
    CHECK(found[0].related.at(0).thread == device::ThreadPlace{{0, 0, 0}, {0, 0, 0}});
    CHECK(found[1].message ==
          "reads an element of {memory} that another thread writes, with no __syncthreads() between the two");
    CHECK(found[1].related.at(0).role == "written by");
    CHECK(found[1].memory.value().name == "first");
    CHECK(found[1].memory.value().bytes == 256);
    CHECK(run(own_and_other + "st.shared.u32 [%r5], %t;\nbar.sync 0;\nld.shared.u32 %r1, [%r6];").empty());
}

TEST_CASE("of several readers the first is named, unless it is the thread that writes") {
    const std::string write = "ld.global.u32 %r1, [%a];\nmov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p1, %t, 0;\n";
    const auto own = first_of(write + "@%p1 st.global.u32 [%a], 9;");
    CHECK(in_short({own}) == Findings{{warp, 4, 0, 0, 1}});
    CHECK(own.related.at(0).role == "read by");
    CHECK_FALSE(own.related.at(0).thread);
    CHECK(run(write + "setp.eq.u32 %p1, %t, 32;\n@%p1 st.global.u32 [%a], 9;") == Findings{{global, 5, 1, 32, 1}});
    // The first thread of another block is another thread.
    const auto of_block = first_of(write + "setp.eq.and.u32 %p1, %r2, 1, %p1;\n@%p1 st.global.u32 [%a], 9;", {2});
    CHECK(in_short({of_block}) == Findings{{global, 5, 1, 0, 1}});
    CHECK(of_block.thread == device::ThreadPlace{{0, 0, 0}, {1, 0, 0}});
    CHECK(of_block.related.at(0).thread == device::ThreadPlace{{0, 0, 0}, {0, 0, 0}});
}

TEST_CASE("an access that races with a write is not told to race with a read of the same place as well") {
    CHECK(run("setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32; setp.eq.u32 %p3, %t, 64;\n@%p1 st.shared.u32 [first], "
              "5;\n@%p2 ld.shared.u32 %r1, [first];\n@%p3 st.shared.u32 [first], 6;",
              {1}, {96}) == Findings{{shared, 3, 2, 32, 1}, {shared, 4, 2, 64, 1}});
}

TEST_CASE("a race says whether each party stores or is an atomic") {
    const auto messages = [](const std::string& other) {
        std::set<std::string> all;
        for (const Diagnostic& d : Snippet(own_and_other + "st.shared.u32 [%r5], %t;\n" + other).diagnose({1}, {64}))
            all.insert(d.message);
        return all;
    };
    const auto race = [](const std::string& mine, const std::string& theirs) {
        return mine + " an element of {memory} that another thread " + theirs +
               ", with no __syncthreads() between the two";
    };
    CHECK(messages("st.shared.u32 [%r6], %i;") == std::set{race("writes", "writes")});
    CHECK(messages("atom.shared.add.u32 %r2, [%r6], 1;") ==
          std::set{race("writes", "changes"), race("changes", "writes")});
}

TEST_CASE("atomics order nothing in a program without fences") {
    const std::string reads =
                          "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %t, 0;\nsetp.eq.and.u32 %p2, %r1, 0, %p1;\n"
                          "setp.eq.and.u32 %p3, %r1, 1, %p1;\n@%p2 ld.global.u32 %r2, [%a];\n",
                      writes = "@%p1 atom.global.add.u32 %r3, [%b], 1;\n@%p3 st.global.u32 [%a], 5;";
    CHECK(run(reads + writes, {2}, {32}) == Findings{{global, 7, 5, 0, 1}});
    CHECK(run(reads + "membar.gl;\n" + writes, {2}, {32}).empty());
}

TEST_CASE("a race inside a warp is one of its own") {
    const std::string lines =
        "mov.u32 %r5, first; add.u32 %r5, %r5, %i;\nst.shared.u32 [%r5], %t;\n"
        "xor.b32 %r5, %r5, 4;\n";
    CHECK(run(lines + "ld.shared.u32 %r1, [%r5];", {1}, {32}) == Findings{{warp, 4, 2, 0, 32}});
    CHECK(first_of(lines + "ld.shared.u32 %r1, [%r5];", {1}, {32}).message ==
          "reads an element of {memory} that another thread writes, with no barrier between the two");
    CHECK(run(lines + "bar.warp.sync 0xffffffff;\nld.shared.u32 %r1, [%r5];", {1}, {32}).empty());
}

TEST_CASE("a race in global memory, between blocks and inside one") {
    const std::string change = "ld.global.u32 %r1, [%a];\nst.global.u32 [%a], %i;";
    const auto found = run(change, {2}, {1});
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].rule == global);
    const auto d = first_of(
        "setp.eq.u32 %p1, %t, 0;\nmov.u32 %r2, %ctaid.x;\nadd.u32 %r2, %r2, 7;\n"
        "@%p1 st.global.u32 [%a], %r2;",
        {2}, {1});
    CHECK(d.message == "writes an element of {memory} that another thread writes, with no order between the two");
    CHECK(d.thread == device::ThreadPlace{{0, 0, 0}, {1, 0, 0}});
    CHECK(d.related.at(0).thread == device::ThreadPlace{{0, 0, 0}, {0, 0, 0}});
    CHECK(d.memory.value().bytes == 1024);
    // Of many blocks, which are tried without an order first.
    const auto of_many = first_of(
        "mov.u32 %r2, %ctaid.x;\nsetp.gt.u32 %p1, %r2, 60;\nadd.u32 %r2, %r2, %t;\nadd.u32 %r2, %r2, 7;\n"
        "@%p1 st.global.u32 [%pa], %r2;",
        {64}, {64});
    CHECK(of_many.thread == device::ThreadPlace{{0, 0, 0}, {62, 0, 0}});
    CHECK(of_many.related.at(0).thread == device::ThreadPlace{{0, 0, 0}, {61, 0, 0}});
}

TEST_CASE(
    "__syncwarp() orders the lanes of a warp, at one instruction, in tiles and in two branches; a shuffle does not") {
    const auto meet = [](const std::string& lines) {
        return run(
            "mov.u32 %r5, first; add.u32 %r5, %r5, %i; xor.b32 %r6, %r5, 4; setp.lt.u32 %p1, %t, 16;\n"
            "selp.b32 %r4, 0xffff, 0xffff0000, %p1;\nst.shared.u32 [%r5], %t;\n" +
                lines + "\nld.shared.u32 %r1, [%r6];",
            {1}, {32});
    };
    const auto in_branches = [](const std::string& line) {
        return "@%p1 bra L;\n" + line + "\nbra M;\nL: " + line + "\nM:";
    };
    const std::string sync = "bar.warp.sync 0xffffffff;", shuffle = "shfl.sync.idx.b32 %r2, %t, 0, 31, 0xffffffff;";
    for (const std::string& lines : {sync, in_branches(sync), std::string("bar.warp.sync %r4;")})
        CHECK(meet(lines).empty());
    for (const std::string& lines : {shuffle, in_branches(shuffle), std::string()}) {
        const auto found = meet(lines);
        REQUIRE(found.size() == 1);
        CHECK((found[0].rule == warp && found[0].other == 3));
    }
}

TEST_CASE("who writes what is there already disturbs nobody") {
    CHECK(run("mov.u32 %r1, 3;\nst.global.u32 [%b], %r1;", {3}, {64}).empty());
    CHECK_FALSE(run("mov.u32 %r1, 3;\nst.global.u32 [%b], %t;", {1}, {64}).empty());
    const auto overlap = first_of("shr.u32 %r1, %t, 4;\nst.global.u32 [%b], %r1;", {1}, {32});
    CHECK(overlap.message ==
          "writes an element of {memory} that other threads write at the same time, with different values");
    CHECK(overlap.rule->id == global);
    CHECK(overlap.thread.value().thread[0] == 16);
    CHECK(overlap.related.at(0).thread.value().thread[0] == 0);
    CHECK(first_of("shr.u32 %r1, %t, 4;\nst.shared.u32 [first+4], %r1;", {1}, {32}).rule->id == shared);
    // Each two lanes.
    CHECK(run("shr.u32 %r1, %t, 1;\nmul.wide.u32 %l1, %r1, 4;\nadd.s64 %l1, %l1, %b;\nst.global.u32 [%l1], %t;", {1},
              {32}) == Findings{{global, 4, 4, 1, 16}});
    CHECK(run("mov.u32 %r1, 4;\nst.shared.u32 [first+4], %r1;", {1}, {32}).empty());
}

TEST_CASE("of an instruction behind 32,767 others that access memory, a race does not tell the place") {
    std::string others = "bra HERE; ";
    for (int i = 0; i < 32'766; ++i) others += "ld.shared.u32 %r1, [first]; ";
    const auto found = run(own_and_other + others + "HERE: st.shared.u32 [%r5], %t;\nld.shared.u32 %r1, [%r6];");
    REQUIRE(found.size() == 2);
    CHECK(found[0].other == 0);
    CHECK(found[1] == Found{shared, 3, 2, 32, 32});
}

TEST_CASE("volatile and atomic accesses are no race among themselves") {
    const auto accesses = [](const std::string& store, const std::string& load) {
        return own_and_other + store + " [%r5], %t;\n" + load + " %r1, [%r6];";
    };
    CHECK(run(accesses("st.volatile.shared.u32", "ld.volatile.shared.u32")).empty());
    CHECK_FALSE(run(accesses("st.shared.u32", "ld.volatile.shared.u32")).empty());
    CHECK_FALSE(run(accesses("st.volatile.shared.u32", "ld.shared.u32")).empty());
    CHECK(run(own_and_other + "st.shared.u32 [%r5], 0;\nbar.sync 0;\natom.shared.exch.b32 %r1, [%r5], 1;\n"
                              "atom.shared.add.u32 %r2, [%r6], 1;")
              .empty());
    // Inside a warp, volatile stands for lockstep, which no longer exists.
    CHECK(run("mov.u32 %r5, first; add.u32 %r5, %r5, %i;\nst.volatile.shared.u32 [%r5], %t;\nxor.b32 %r5, %r5, 4;\n"
              "ld.volatile.shared.u32 %r1, [%r5];",
              {1}, {32}) == Findings{{warp, 4, 2, 0, 32}});
    CHECK(run("atom.global.add.u32 %r1, [%a], 1;", {4}, {64}).empty());
    const auto mixed = run("ld.global.u32 %r1, [%a];\natom.global.add.u32 %r2, [%a], 1;", {1}, {64});
    CHECK_FALSE(mixed.empty());
    CHECK_THAT(first_of("ld.global.u32 %r1, [%a];\natom.global.add.u32 %r2, [%a], 1;").message, Contains("changes an"));
}

TEST_CASE("a load whose value a compare-and-swap confirms is no race") {
    const std::string swap = "ld.global.u32 %r1, [%a];\nadd.u32 %r2, %r1, 1;\natom.global.cas.b32 %r3, [%a], %r1, %r2;";
    CHECK(run(swap, {2}, {64}).empty());
    // The same value, from another place; the same place, another value.
    CHECK(
        run("ld.global.u32 %r1, [%a];\nmov.u64 %l1, %a;\natom.global.cas.b32 %r3, [%l1], %r1, 7;", {2}, {64}).empty());
    CHECK(run("ld.global.u32 %r1, [%a];\nadd.u32 %r2, %r1, 0;\natom.global.cas.b32 %r3, [%a], %r2, 7;", {2}, {64})
              .empty());
    CHECK_FALSE(run("mov.u64 %l1, %a;\nld.global.u32 %r1, [%a];\nadd.u32 %r2, %r1, 0;\n"
                    "atom.global.cas.b32 %r3, [%l1], %r2, 7;",
                    {2}, {64})
                    .empty());
    // A plain load after it confirms nothing.
    CHECK_FALSE(run("atom.global.cas.b32 %r3, [%a], 0, 7;\nld.global.u32 %r1, [%a];", {2}, {64}).empty());
}

TEST_CASE("atomics of block scope are atomic for one block only") {
    const std::string block = "atom.global.cta.add.u32 %r1, [%a], 1;";
    CHECK(run(block, {1}, {128}).empty());
    CHECK(run(block, {2}, {1}) == Findings{{"racecheck/scope", 1, 1, 0, 1}});
    CHECK(first_of(block, {2}, {1}).message ==
          "changes an element of {memory} by an atomic of block scope, and another block changes it too");
    CHECK(run("red.global.cta.add.u32 [%a], 1;", {2}, {1}).at(0).rule == "racecheck/scope");
    CHECK(run("atom.global.gpu.add.u32 %r1, [%a], 1;", {2}, {1}).empty());
    CHECK(run("atom.global.sys.add.u32 %r1, [%a], 1;", {2}, {1}).empty());
    CHECK(run("atom.shared.cta.add.u32 %r1, [first], 1;", {2}, {64}).size() == 1);  // uninitialized
    const std::string own = "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %l1, %r1, 4;\nadd.s64 %l1, %a, %l1;\n";
    CHECK(run(own + "atom.global.cta.add.u32 %r2, [%l1], 1;", {4}, {64}).empty());
    // The first block's narrow atomic is still found after the same block has used one of device scope.
    const auto both =
        run("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 atom.global.cta.add.u32 %r2, [%a], 1;\n"
            "atom.global.add.u32 %r3, [%a], 1;",
            {2}, {1});
    CHECK(both == Findings{{"racecheck/scope", 4, 3, 0, 1}});
    CHECK(first_of("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 atom.global.cta.add.u32 %r2, [%a], 1;\n"
                   "@!%p1 atom.global.add.u32 %r3, [%a], 1;",
                   {2}, {1})
              .message == "changes an element of {memory} that another block changes by an atomic of block scope");
}

TEST_CASE("the read-only cache may be stale for what the kernel has written") {
    const std::string write = "st.global.u32 [%pa], %i;\nbar.sync 0;\n", stale = "racecheck/stale-read";
    CHECK(run(write + "ld.global.nc.u32 %r1, [%pa];", {1}, {32}) == Findings{{stale, 3, 1, 0, 32}});
    CHECK(run(write + "ld.global.u32 %r1, [%pa];").empty());
    CHECK(run(write + "ld.global.nc.u32 %r1, [%pa+512];").empty());
    CHECK(run(write + "ld.global.nc.u32 %r1, [%pa+128];") == Findings{{stale, 3, 1, 0, 32}});
    CHECK(run("ld.global.nc.u32 %r1, [%pa];\nst.global.u32 [%pa], %i;").empty());
    // What was written is just behind what is read, or just before it.
    const std::string one = "setp.eq.u32 %p1, %t, 5;\n@%p1 st.global.u32 [%a+128], %i;\nbar.sync 0;\n";
    CHECK(run(one + "ld.global.nc.u32 %r1, [%pa];", {1}, {32}).empty());
    CHECK(run(one + "ld.global.nc.u32 %r1, [%pa+132];", {1}, {32}).empty());
    CHECK(run(one + "ld.global.nc.u32 %r1, [%pa+4];", {1}, {32}) == Findings{{stale, 4, 2, 31, 1}});
    const auto d = first_of(write + "ld.global.nc.u32 %r1, [%pa+128];");
    CHECK(d.message == "reads an element of {memory} through the read-only cache, though this kernel has written it");
    CHECK(d.related.at(0).role == "written by");
    CHECK(d.related.at(0).thread == device::ThreadPlace{{32, 0, 0}, {0, 0, 0}});
    // Without order it is a race, which the message then says.
    CHECK(run("st.global.u32 [%pa], %i;\nxor.b32 %r1, %i, 128;\ncvt.u64.u32 %l1, %r1;\nadd.s64 %l1, %a, %l1;\n"
              "ld.global.nc.u32 %r1, [%l1];")
              .at(0)
              .rule == global);
    Snippet k("st.global.u32 [%pb], %i;\nld.global.nc.u32 %r1, [%pa];", "", 256);
    CHECK(k.run().empty());
    CHECK(k.run().empty());  // an earlier launch wrote it
    CHECK(Snippet(write + "ld.global.nc.u32 %r1, [%pa];", "", 256, {.race = false}).run().empty());
}

namespace {

// Block 0 writes b[4] and sets the flag b[0]; block 1 waits for the flag and reads.
std::string handed_over(const std::string& fence, const std::string& set) {
    return "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nst.global.u32 [%b+16], 5;\n" + fence +
           "\n" + set +
           "\nbra DONE;\nWAIT: ld.volatile.global.u32 %r2, [%b];\nsetp.eq.u32 %p2, %r2, 0;\n"
           "@%p2 bra WAIT;\nld.global.u32 %r3, [%b+16];\nDONE:";
}

}  // namespace

TEST_CASE("a fence and a flag order what one block writes before what another one reads") {
    CHECK(run(handed_over("membar.gl;", "st.volatile.global.u32 [%b], 1;"), {2}, {1}).empty());
    CHECK(run(handed_over("membar.gl;", "atom.global.exch.b32 %r4, [%b], 1;"), {2}, {1}).empty());
    CHECK(run(handed_over("", "st.release.gpu.global.u32 [%b], 1;"), {2}, {1}).empty());
    CHECK(
        run(handed_over("", "membar.gl;\nst.volatile.global.u32 [%b+4], 1;\nst.volatile.global.u32 [%b], 1;"), {2}, {1})
            .empty());
    CHECK(run(handed_over("", "st.volatile.global.u32 [%b], 1;\nmembar.gl;"), {2}, {1}) ==
          Findings{{global, 12, 4, 0, 1}});
    // A plain read of the flag does not show its value in order.
    auto plain = handed_over("membar.gl;", "st.volatile.global.u32 [%b], 1;");
    plain.replace(plain.find("ld.volatile"), 11, "ld");
    CHECK(run(plain, {2}, {1}) == Findings{{global, 8, 6, 0, 1}, {global, 11, 4, 0, 1}});
}

TEST_CASE("a flag in shared memory orders warps of one block") {
    const auto lines = [](const std::string& fence) {
        return "st.shared.u32 [first], 0;\nbar.sync 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p1 bra WAIT;\n"
               "st.shared.u32 [second], 7;\n" +
               fence +
               "\nst.volatile.shared.u32 [first], 1;\nbra DONE;\n"
               "WAIT: ld.volatile.shared.u32 %r2, [first];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\n"
               "ld.shared.u32 %r3, [second];\nDONE:";
    };
    CHECK(run(lines("membar.cta;")).empty());
    // Without any fence, or one of the warp that waits, nothing is ordered.
    CHECK(run(lines("")) == Findings{{shared, 12, 5, 32, 32}});
    auto theirs = lines("");
    theirs.replace(theirs.find("WAIT:"), 5, "WAIT: membar.cta;");
    CHECK(run(theirs) == Findings{{shared, 12, 5, 32, 32}});
    // A flag that the thread has set itself says nothing of others.
    const auto flags = [](const std::string& whose) {
        return "mov.u32 %r5, first; add.u32 %r5, %r5, %i; mov.u32 %r6, second; add.u32 %r6, %r6, %i;\n"
               "st.shared.u32 [%r6], %t;\nmembar.cta;\nst.volatile.shared.u32 [%r5], 1;\n"
               "xor.b32 %r4, %r5, " +
               whose +
               ";\nld.volatile.shared.u32 %r1, [%r4];\nxor.b32 %r6, %r6, 4;\n"
               "ld.shared.u32 %r2, [%r6];";
    };
    CHECK(run(flags("0"), {1}, {32}) == Findings{{warp, 8, 2, 0, 32}});
    CHECK(run(flags("4"), {1}, {32}).empty());
}

TEST_CASE("an atomic of undefined memory is a use, and defines it") {
    Snippet k("atom.global.add.u32 %r1, [%pa], 1;\nld.global.u32 %r2, [%pa];\nadd.u32 %r2, %r2, 1;", "", 5);
    CHECK(k.run() == Findings{{"initcheck/global", 1, 1, 5, 108}});
    CHECK(Snippet("st.global.u32 [%pa], %t;\nld.global.u32 %r2, [%pa];\nadd.u32 %r2, %r2, 1;").run().empty());
    // Only some lanes store, and only their words are defined.
    CHECK(Snippet("setp.lt.u32 %p1, %t, 9;\n@%p1 st.global.u32 [%pa], %t;\nld.global.u32 %r2, [%pa];\n"
                  "add.u32 %r2, %r2, 1;")
              .run() == Findings{{"initcheck/global", 4, 3, 9, 1}});
    // One written byte makes the word defined.
    CHECK(Snippet("shl.b32 %r1, %t, 2;\ncvt.u64.u32 %l1, %r1;\nadd.s64 %l1, %a, %l1;\nst.global.u16 [%l1], %h1;\n"
                  "ld.global.u32 %r2, [%l1];\nadd.u32 %r2, %r2, 1;")
              .run() == Findings{{"initcheck/global", 6, 5, 0, 1}});
    CHECK(Snippet("st.global.u16 [%pa], %h1;\nst.global.u16 [%pa+2], %h1;\nld.global.u32 %r2, [%pa];\n"
                  "add.u32 %r2, %r2, 1;")
              .run()
              .empty());
}

TEST_CASE("an atomic of shared memory that nothing wrote is a use") {
    CHECK(run("atom.shared.add.u32 %r1, [first+8], 1;", {1}, {1}) == Findings{{"initcheck/shared", 1, 1, 0, 1}});
    CHECK(run("st.shared.u32 [first+8], 0;\natom.shared.add.u32 %r1, [first+8], 1;", {1}, {1}).empty());
    // The values of an earlier block are gone.
    CHECK(run("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [first], 1;\nld.shared.u32 %r2, "
              "[first];\n"
              "add.u32 %r2, %r2, 1;\nst.shared.u32 [second], %r2;",
              {2}, {1}) == Findings{{"initcheck/shared", 5, 4, 0, 1}});
}

TEST_CASE("a copy on the device takes the state of its source along, and the finding names it") {
    Snippet k("ld.global.u32 %r1, [%pb];\nadd.u32 %r2, %r1, 1;", "", 5);
    k.machine.gpu->copy(k.b.address, k.a.address, 128, 99);
    const auto d = k.diagnose().at(0);
    CHECK(d.rule->id == std::string("initcheck/global"));
    CHECK(d.thread.value().thread[0] == 5);
    REQUIRE(d.related.size() == 2);
    CHECK(d.related[1].role == "copied");
    CHECK(d.related[1].place.code == 99);
    CHECK(d.memory.value().address == k.a.address + 20);
    Snippet apart("ld.global.u32 %r1, [%pb+64];\nadd.u32 %r2, %r1, 1;", "", 5);
    apart.machine.gpu->copy(apart.b.address + 40, apart.a.address + 12, 200);
    const auto moved = apart.diagnose().at(0);  // word 16 + t of b is word 9 + t of a
    CHECK(moved.thread.value().thread[0] == 0);
    CHECK(moved.memory.value().address == apart.a.address + 36);
}

TEST_CASE("checks that are switched off say nothing, and the others go on") {
    const auto rules = [&](const device::Checks& checks) {
        std::string text;
        for (const Found& f : Snippet(own_and_other + "st.shared.u32 [%r5], %t;\nld.shared.u32 %r1, [%r6];\n"
                                                      "ld.global.u32 %r3, [%pa];\nadd.u32 %r3, %r3, 1;",
                                      "", 0, checks)
                                  .run({1}, {64}))
            text += f.rule + " ";
        return text;
    };
    CHECK(rules({}) == "initcheck/global racecheck/shared racecheck/shared ");
    CHECK(rules({.race = false}) == "initcheck/global ");
    CHECK(rules({.init = false}) == "racecheck/shared racecheck/shared ");
    CHECK(rules({.race = false, .init = false}).empty());
    const std::string of_local = "ld.local.u32 %r1, [own];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%pb], %r2;";
    CHECK(Snippet(of_local, "", 0, {.race = false}).run().size() == 1);
    CHECK(Snippet(of_local, "", 0, {.init = false}).run().empty());
}
