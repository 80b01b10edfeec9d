// initcheck in a warp's registers: what carries an undefined value on, what uses it, and what ends it.

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Found;
using vgpu::test::Snippet;
using Findings = std::vector<Found>;

namespace {

const std::string global = "initcheck/global";

// What is found if words 0 to `defined` - 1 of `a` are initialized.
Findings run(const std::string& lines, std::size_t defined = 0, const std::string& functions = "",
             device::Dim3 block = {32}) {
    return Snippet(lines, functions, defined).run({1}, block);
}

}  // namespace

TEST_CASE("an undefined value is reported where it is used, with the line that read it and the first such thread") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;") == Findings{{global, 2, 1, 0, 1}});
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;", 5) == Findings{{global, 2, 1, 5, 1}});
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;", 32).empty());
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.global.u32 [%pb], %r1;").empty());
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;", 5, "", {4}).empty());
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;", 33, "", {64}) == Findings{{global, 2, 1, 33, 1}});
}

TEST_CASE("all rows of an undefined array are its memory, one row of a written one is an element") {
    const std::string lines = "ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;";
    auto d = Snippet(lines).diagnose().at(0);
    CHECK(d.message == "uses {memory}, which was never written: no cudaMemcpy into it before the launch");
    CHECK(d.memory.value().bytes == 1024);
    d = Snippet(lines, "", 5).diagnose().at(0);
    CHECK(d.message == "uses an uninitialized element of {memory}");
    CHECK(d.related.at(0).role == "read");
}

TEST_CASE("a value that was reported counts as defined, in the lanes that used it") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r1, %r2;") ==
          Findings{{global, 2, 1, 0, 1}});
    CHECK(run("setp.lt.u32 %p1, %t, 7;\nld.global.u32 %r1, [%pa];\n@%p1 add.u32 %r2, %r1, 1;\nadd.u32 %r3, %r1, 2;") ==
          Findings{{global, 3, 2, 0, 1}, {global, 4, 2, 7, 1}});
}

TEST_CASE("moves carry a value on, and what overwrites it ends it, lane by lane") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nmov.u32 %r2, %r1;\nmov.b32 %f1, %r2;\nadd.f32 %f2, %f1, %f1;") ==
          Findings{{global, 4, 1, 0, 1}});
    CHECK(run("ld.global.u32 %r1, [%pa];\nmov.u32 %r1, 5;\nadd.u32 %r2, %r1, 1;").empty());
    CHECK(run("setp.lt.u32 %p1, %t, 9;\nld.global.u32 %r1, [%pa];\n@%p1 mov.u32 %r1, 5;\nadd.u32 %r2, %r1, 1;") ==
          Findings{{global, 4, 2, 9, 1}});
    CHECK(run("setp.lt.u32 %p1, %t, 9;\nmov.u32 %r2, 1;\nld.global.u32 %r1, [%pa];\n@!%p1 mov.u32 %r2, %r1;\n"
              "add.u32 %r3, %r2, 1;") == Findings{{global, 5, 3, 9, 1}});
    CHECK(run("ld.global.u32 %r1, [%pa];\nld.global.u32 %r1, [%pb];\nadd.u32 %r2, %r1, 1;").empty());
    // The result of a reported computation counts as defined.
    CHECK(run("ld.global.u32 %r1, [%pa];\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;") ==
          Findings{{global, 2, 1, 0, 1}});
}

TEST_CASE("of two undefined values each has its own origin") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nld.global.u32 %r2, [%pa+128];\nmov.u32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\n"
              "add.u32 %r4, %r1, 1;") == Findings{{global, 4, 2, 0, 1}, {global, 5, 1, 0, 1}});
}

TEST_CASE("after a value that was used, the next one is found as well, in this basic block and in the next") {
    const std::string first = "ld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;\n",
                      second = "ld.global.u32 %r3, [%pa+128];\nadd.u32 %r4, %r3, 1;";
    CHECK(run(first + second) == Findings{{global, 2, 1, 0, 1}, {global, 4, 3, 0, 1}});
    // The first value is still under way when its block ends; its use is all that it does in the next.
    CHECK(run("ld.global.u32 %r1, [%pa];\nsetp.eq.u32 %p1, %t, 99;\n@%p1 bra L;\nL: add.u32 %r2, %r1, 1;\n" + second) ==
          Findings{{global, 4, 1, 0, 1}, {global, 6, 5, 0, 1}});
    CHECK(run("setp.eq.u32 %p1, %t, 99;\nld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r1, 1;\n@%p1 bra L;\nL: " + second) ==
          Findings{{global, 3, 2, 0, 1}, {global, 6, 5, 0, 1}});
}

TEST_CASE("a selection passes on what it selects") {
    const std::string load = "setp.lt.u32 %p1, %t, 4;\nld.global.u32 %r1, [%pa];\nmov.u32 %r2, 1;\n";
    const std::string use = "\nadd.u32 %r4, %r3, 1;";
    CHECK(run(load + "selp.u32 %r3, %r1, %r2, %p1;" + use) == Findings{{global, 5, 2, 0, 1}});
    CHECK(run(load + "selp.u32 %r3, %r2, %r1, %p1;" + use) == Findings{{global, 5, 2, 4, 1}});
    CHECK(run(load + "selp.u32 %r3, %r1, %r2, %p1;" + use, 4).empty());
    CHECK(run(load + "selp.u32 %r3, %r2, %r1, %p1;" + use, 32).empty());
}

TEST_CASE("an undefined address is a use, of loads and of stores") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nld.shared.u32 %r2, [%r1];").at(1) == Found{global, 2, 1, 0, 1});
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.shared.u32 [%r1], 1;").at(1) == Found{global, 2, 1, 0, 1});
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.shared.u32 [%r1], %r1;").at(1) == Found{global, 2, 1, 0, 1});
}

TEST_CASE("a store leaves memory as undefined as the value is, lane by lane") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.global.u32 [%pa+512], %r1;\nld.global.u32 %r2, [%pa+512];\n"
              "add.u32 %r3, %r2, 1;",
              20) == Findings{{global, 4, 3, 20, 1}});
    // A later store defines the memory again.
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.global.u32 [%pa+512], %r1;\nst.global.u32 [%pa+512], %t;\n"
              "ld.global.u32 %r2, [%pa+512];\nadd.u32 %r3, %r2, 1;")
              .empty());
    // Storing a defined value leaves memory defined although another register is undefined.
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.global.u32 [%pa+512], %t;\nld.global.u32 %r2, [%pa+512];\nadd.u32 %r3, "
              "%r2, 1;")
              .empty());
}

TEST_CASE("through shared memory a value keeps its origin") {
    const std::string at = "mov.u32 %r5, first; add.u32 %r5, %r5, %i;\n";
    CHECK(run(at + "ld.global.u32 %r1, [%pa];\nst.shared.u32 [%r5], %r1;\nld.shared.u32 %r2, [%r5];\n"
                   "add.u32 %r3, %r2, 1;",
              3) == Findings{{global, 5, 2, 3, 1}});
    CHECK(run(at + "ld.shared.u32 %r2, [%r5];\nadd.u32 %r3, %r2, 1;\nst.global.u32 [%pb], %r3;") ==
          Findings{{"initcheck/shared", 3, 2, 0, 1}});
}

TEST_CASE("each element of a vector has a state of its own") {
    const std::string load =
        "shl.b32 %r9, %t, 4;\ncvt.u64.u32 %l1, %r9;\nadd.s64 %l1, %a, %l1;\n"
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%l1];\n";
    // Thread 0 has four defined words, thread 1 two: its elements 2 and 3 are undefined, and all those of later
    // threads.
    CHECK(run(load + "add.u32 %r5, %r1, 1;", 6, "", {2}).empty());
    CHECK(run(load + "add.u32 %r5, %r2, 1;", 6, "", {2}).empty());
    CHECK(run(load + "add.u32 %r5, %r3, 1;", 6, "", {2}) == Findings{{global, 5, 4, 1, 1}});
    CHECK(run(load + "add.u32 %r5, %r4, 1;", 6, "", {2}) == Findings{{global, 5, 4, 1, 1}});
}

TEST_CASE("of a vector that is stored, each element is as it was") {
    // The first element is defined, the second one is not.
    for (const std::string to : {"global", "shared", "local"}) {
        const std::string at = to == "global"   ? "add.s64 %l1, %a, 512;\n"
                               : to == "shared" ? "mov.u64 %l1, first;\n"
                                                : "mov.u64 %l1, own;\n";
        const std::string copy = at + "ld.global.v2.u32 {%r1, %r2}, [%a];\nst." + to +
                                 ".v2.u32 [%l1], {%r1, %r2};\nld." + to + ".v2.u32 {%r3, %r4}, [%l1];\n";
        CHECK(run(copy + "add.u32 %r5, %r3, 1;", 1, "", {1}).empty());
        CHECK(run(copy + "add.u32 %r5, %r4, 1;", 1, "", {1}) == Findings{{global, 5, to == "global" ? 4u : 2u, 0, 1}});
    }
}

TEST_CASE("with undefined values under way, a kernel computes what it would without") {
    // The load that finds them is in the middle of a block. The rest of the block runs once, for all lanes or for some.
    const std::string tail =
        "mov.u32 %r2, 0;\nld.global.u32 %r1, [%pa];\nadd.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 2;\n"
        "ld.global.u32 %r3, [%pa+128];\nadd.u32 %r2, %r2, 4;\nmov.u32 %r1, 0;\nmov.u32 %r3, 0;\n"
        "add.u32 %r2, %r2, 8;\nst.global.u32 [%pb], %r2;";
    Snippet all(tail);
    CHECK(all.run().empty());
    CHECK(all.result()[31] == 15);
    Snippet some("setp.ge.u32 %p1, %t, 11;\n@%p1 bra L;\n" + tail + "\nL:");
    CHECK(some.run().empty());
    CHECK(some.result()[10] == 15);
    CHECK(some.result()[11] == 0);
}

TEST_CASE("lanes that are elsewhere do not use a value") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nsetp.ge.u32 %p1, %t, 3;\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nL:", 3).empty());
    CHECK(run("ld.global.u32 %r1, [%pa];\nsetp.lt.u32 %p1, %t, 3;\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nL:", 1) ==
          Findings{{global, 4, 1, 3, 1}});
}

TEST_CASE("what is computed with an element of an array is an error once something depends on it") {
    const std::string local = "initcheck/local";
    for (const std::string space : {"local", "shared"}) {
        const std::string rule = "initcheck/" + space;
        const std::string load = std::string(space == "local" ? "mov.u64 %l1, own;\n" : "mov.u64 %l1, first;\n") +
                                 "ld." + space + ".u32 %r1, [%l1];\n";
        CHECK(run(load + "add.u32 %r2, %r1, 1;").empty());
        CHECK(run(load + "st.global.u32 [%pb], %r1;").empty());  // a copy
        CHECK(run(load + "add.u32 %r2, %r1, 1;\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%pb], %r2;") ==
              Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(load + "add.u32 %r2, %r1, 1;\nadd.u32 %r2, %r2, 1;\nst.shared.u32 [second], %r2;").at(0) ==
              Found{rule, 3, 2, 0, 1});
        CHECK(run(load + "add.u32 %r2, %r1, 1;\natom.global.add.u32 %r3, [%b], %r2;") == Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(load + "add.u32 %r2, %r1, 1;\nredux.sync.add.u32 %r3, %r2, 0xffffffff;") ==
              Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(load + "add.u32 %r2, %r1, 1;\nld.shared.u32 %r3, [%r2];").at(1) == Found{rule, 3, 2, 0, 1});
        // Branches and guards.
        CHECK(run(load + "setp.gt.u32 %p1, %r1, 5;\n@%p1 bra L;\nmov.u32 %r3, 1;\nL:") == Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(load + "setp.gt.u32 %p1, %r1, 5;\n@%p1 mov.u32 %r3, 1;") == Findings{{rule, 3, 2, 0, 1}});
        // "false and anything", "true or anything", for each lane.
        const std::string compare = load + "setp.gt.u32 %p1, %r1, 5;\nsetp.lt.u32 %p2, %t, 7;\n";
        const std::string branch = "\n@%p3 bra L;\nmov.u32 %r3, 1;\nL:";
        CHECK(run(compare + "and.pred %p3, %p1, %p2;" + branch) == Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(compare + "or.pred %p3, %p1, %p2;" + branch) == Findings{{rule, 3, 2, 7, 1}});
        CHECK(run(compare + "not.pred %p3, %p1;" + branch) == Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(compare + "setp.gt.u32 %p2, %t, 99;\nand.pred %p3, %p2, %p1;" + branch).empty());
        CHECK(run(compare + "setp.gt.u32 %p2, %t, 99;\nand.pred %p1, %p1, %p2;\nmov.pred %p3, %p1;" + branch).empty());
        CHECK(run(compare + "setp.lt.u32 %p2, %t, 99;\nor.pred %p3, %p2, %p1;" + branch).empty());
        // Selections by a compared value, and of a computed one.
        CHECK(run(load + "setp.gt.u32 %p1, %r1, 5;\nselp.u32 %r2, %t, 0, %p1;\nst.global.u32 [%pb], %r2;") ==
              Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(compare + "selp.u32 %r2, %t, 0, %p1;\nselp.u32 %r2, %r2, 0, %p2;\nst.global.u32 [%pb], %r2;") ==
              Findings{{rule, 3, 2, 0, 1}});
        CHECK(run(compare + "selp.u32 %r2, %t, 0, %p1;\nselp.u32 %r2, 0, %r2, %p2;\nst.global.u32 [%pb], %r2;") ==
              Findings{{rule, 3, 2, 7, 1}});
        CHECK(run(load + "add.u32 %r2, %r1, 1;\nsetp.gt.u32 %p2, %t, 99;\nselp.u32 %r3, %r2, 0, %p2;\n"
                         "st.global.u32 [%pb], %r3;")
                  .empty());
    }
    // With an undefined value of global memory too, it is an error at once.
    CHECK(run("ld.local.u32 %r1, [own];\nld.global.u32 %r2, [%pa];\nadd.u32 %r3, %r1, %r2;").size() == 2);
}

TEST_CASE("with an undefined predicate under way, a kernel computes what it would without") {
    Snippet k(
        "ld.local.u32 %r1, [own];\nsetp.gt.u32 %p1, %r1, 5;\nsetp.lt.u32 %p2, %t, 7;\nmov.u32 %r4, 0;\n"
        "and.pred %p1, %p1, %p2;\nsetp.lt.u32 %p3, %t, 3;\nor.pred %p4, %p3, %p2;\n@%p4 add.u32 %r4, %r4, 1;\n"
        "st.global.u32 [%pb], %r4;");
    CHECK(k.run().empty());
    CHECK(k.result()[6] == 1);
    CHECK(k.result()[7] == 0);
}

TEST_CASE("each lane has written its own elements of a local array") {
    const std::string rule = "initcheck/local", use = "add.u32 %r2, %r1, 1;\nst.global.u32 [%pb], %r2;";
    CHECK(run("st.local.u32 [own+8], %t;\nld.local.u32 %r1, [own+8];\n" + use).empty());
    CHECK(run("st.local.u32 [own+8], %t;\nld.local.u32 %r1, [own+4];\n" + use) == Findings{{rule, 3, 2, 0, 1}});
    CHECK(run("setp.lt.u32 %p1, %t, 9;\n@%p1 st.local.u32 [own], %t;\nld.local.u32 %r1, [own];\n" + use) ==
          Findings{{rule, 4, 3, 9, 1}});
    // Each lane uses its own element, then the next one, which it has not written.
    const std::string each = "mov.u64 %l1, own;\nadd.s64 %l1, %l1, %o;\nst.local.u32 [%l1], %t;\n";
    CHECK(run(each + "ld.local.u32 %r1, [%l1];\n" + use).empty());
    CHECK(run(each + "setp.ne.u32 %p1, %t, %t;\n@!%p1 ld.local.u32 %r1, [own+8];\n" + use) ==
          Findings{{rule, 6, 5, 0, 1}});
    CHECK(run(each +
              "st.local.u32 [own], %t;\nld.local.u32 %r1, [own+4];\nsetp.eq.u32 %p1, %t, 0;\n"
              "selp.u32 %r1, 0, %r1, %p1;\n" +
              use) == Findings{{rule, 8, 5, 2, 1}});
    // Repeatedly, with a known shape.
    CHECK(run("mov.u32 %r4, 0;\nL: st.local.u32 [own+4], %t;\nld.local.u32 %r1, [own+4];\nadd.u32 %r4, %r4, 1;\n"
              "setp.lt.u32 %p1, %r4, 40;\n@%p1 bra L;\n" +
              use)
              .empty());
    CHECK(run("mov.u32 %r4, 0;\nL: ld.local.u32 %r1, [own+4];\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 40;\n"
              "@%p1 bra L;\n" +
              use) == Findings{{rule, 6, 2, 0, 1}});
}

TEST_CASE("what a block wrote to a local array is not written for the next one") {
    for (const std::string at : {"own", "own+124"})
        CHECK(Snippet("mov.u32 %r3, %ctaid.x;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 st.local.u32 [" + at +
                      "], %t;\nld.local.u32 %r1, [" + at +
                      "];\nadd.u32 %r2, %r1, 1;\n"
                      "@%p1 st.global.u32 [%pb], %r2;\n@!%p1 st.global.u32 [%pb+512], %r2;")
                  .run({2}) == Findings{{"initcheck/local", 5, 4, 0, 1}});
}

TEST_CASE("an element of a local array of which a part is written counts as written") {
    const std::string rule = "initcheck/local", use =
                                                    "add.u64 %l2, %l2, 1;\nst.global.u32 [%pb], %r2;\n"
                                                    "st.global.u64 [%b], %l2;";
    CHECK(run("ld.local.u64 %l2, [own];\n" + use).at(0) == Found{rule, 2, 1, 0, 1});
    CHECK(run("st.local.u32 [own+4], %t;\nld.local.u64 %l2, [own];\n" + use, 0, "", {1}).empty());
    CHECK(run("st.local.u8 [own+8], %h1;\nld.local.v2.u32 {%r1, %r2}, [own+8];\nadd.u32 %r1, %r1, 1;\n"
              "st.global.u32 [%pb], %r1;")
              .empty());
    CHECK(run("st.local.u8 [own+8], %h1;\nld.local.v2.u32 {%r1, %r2}, [own+8];\nadd.u32 %r2, %r2, 1;\n"
              "st.global.u32 [%pb], %r2;") == Findings{{rule, 3, 2, 0, 1}});
}

TEST_CASE("what a local array is given keeps its origin, and what was computed stays computed") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nst.local.u32 [own], %r1;\nld.local.u32 %r2, [own];\nadd.u32 %r3, %r2, 1;",
              6) == Findings{{global, 4, 1, 6, 1}});
    CHECK(run("ld.local.u32 %r1, [own];\nadd.u32 %r1, %r1, 1;\nst.local.u32 [own], %r1;\nld.local.u32 %r2, [own];\n"
              "st.global.u32 [%pb], %r2;") == Findings{{"initcheck/local", 2, 1, 0, 1}});
    CHECK(run("ld.local.u32 %r1, [own];\nst.local.u32 [own], %r1;\nst.local.u32 [own], %t;\n"
              "ld.local.u32 %r2, [own];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%pb], %r2;")
              .empty());
}

TEST_CASE("an operand of a block's last instruction is used there") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nmov.u32 %r2, %r1;\nL0: ts: .branchtargets L;\nbrx.idx %r2, ts;\nL:").at(1) ==
          Found{global, 4, 1, 0, 1});
}

TEST_CASE("a shuffle hands a value to the lanes that read it") {
    const std::string load = "ld.global.u32 %r1, [%pa];\n", use = "\nadd.u32 %r3, %r2, 1;";
    CHECK(run(load + "shfl.sync.down.b32 %r2, %r1, 1, 31, 0xffffffff;" + use, 9) == Findings{{global, 3, 1, 8, 1}});
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %r1, 8, 31, 0xffffffff;" + use, 9).empty());
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %r1, 9, 31, 0xffffffff;" + use, 9) == Findings{{global, 3, 1, 0, 1}});
    // The shuffle's result replaces what the register held; the shuffle uses its other operands.
    CHECK(run(load + "mov.u32 %r2, %r1;\nshfl.sync.idx.b32 %r2, %t, 0, 31, 0xffffffff;" + use).empty());
    CHECK(run(load + "shfl.sync.idx.b32 %r3, %r1, 0, 31, 0xffffffff;\nshfl.sync.idx.b32 %r2, %t, 0, 31, 0xffffffff;" +
              use)
              .empty());
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %t, %r1, 31, 0xffffffff;") == Findings{{global, 2, 1, 0, 1}});
    CHECK(run(load + "shfl.sync.idx.b32 %r2, %t, %r1, 31, 0xffffffff;" + use, 30) == Findings{{global, 2, 1, 30, 1}});
    CHECK(run(load + "redux.sync.add.u32 %r2, %r1, 0xffffffff;") == Findings{{global, 2, 1, 0, 1}});
}

TEST_CASE("what a shuffle makes up may be moved, but neither used nor stored") {
    const std::string shuffle =
        "setp.ge.u32 %p1, %t, 16;\n@%p1 bra L;\n"
        "shfl.sync.down.b32 %r2, %t, 8, 31, 0x0000ffff;\n";
    const std::string absent = "initcheck/absent-lane";
    CHECK(run(shuffle + "L:").empty());
    CHECK(run(shuffle + "mov.u32 %r3, %r2;\nL:").empty());
    CHECK(run(shuffle + "add.u32 %r3, %r2, 1;\nL:") == Findings{{absent, 3, 4, 8, 1}});
    CHECK(run(shuffle + "mov.u32 %r3, %r2;\nst.global.u32 [%pb], %r3;\nL:") == Findings{{absent, 3, 5, 8, 1}});
    CHECK(run(shuffle + "mov.u32 %r2, 1;\nst.global.u32 [%pb], %r2;\nL:").empty());
    // It is not passed on either: the shuffle that made the value up is the mistake, and the lanes that read it later
    // are not.
    CHECK(run(shuffle + "shfl.sync.idx.b32 %r3, %r2, 15, 31, 0x0000ffff;\nadd.u32 %r3, %r3, 1;\nL:").empty());
}

namespace {

const std::string functions =
    ".func (.param .b32 r) keep(.param .b32 x) {\n.reg .b32 %v;\nld.param.u32 %v, [x];\n"
    "st.param.b32 [r], %v;\nret;\n}\n"
    ".func (.param .b32 r) drop(.param .b32 x) {\n.reg .b32 %v;\nld.param.u32 %v, [x];\nmov.u32 %v, 1;\n"
    "st.param.b32 [r], %v;\nret;\n}\n"
    ".func (.param .b32 r) pick(.param .b32 x, .param .b32 y) {\n.reg .b32 %v;\nld.param.u32 %v, [y];\n"
    "st.param.b32 [r], %v;\nret;\n}\n";

std::string call(const std::string& function, const std::string& x) {
    return "{ .param .b32 x; .param .b32 r; st.param.b32 [x], " + x + "; call.uni (r), " + function +
           ", (x); ld.param.b32 %r2, [r]; }\n";
}

}  // namespace

TEST_CASE("calls pass undefined values to a function and back") {
    const std::string load = "ld.global.u32 %r1, [%pa];\n", use = "add.u32 %r3, %r2, 1;";
    CHECK(run(load + call("keep", "%r1") + use, 6, functions) == Findings{{global, 3, 1, 6, 1}});
    CHECK(run(load + call("drop", "%r1") + use, 6, functions).empty());
    CHECK(run(load + call("keep", "%t") + use, 0, functions).empty());
    // A parameter that is written again, and a result that is returned again.
    CHECK(run(load + call("keep", "%r1") + call("keep", "%t") + use, 0, functions).empty());
    CHECK(run(load +
                  "{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; st.param.b32 [x], %t; call.uni (r), keep, "
                  "(x); ld.param.b32 %r2, [r]; }\n" +
                  use,
              0, functions)
              .empty());
    // Of two parameters, the undefined one is found.
    const auto two = [](const std::string& x, const std::string& y) {
        return "{ .param .b32 x; .param .b32 y; .param .b32 r; st.param.b32 [x], " + x + "; st.param.b32 [y], " + y +
               "; call.uni (r), pick, (x, y); ld.param.b32 %r2, [r]; }\n";
    };
    CHECK(run(load + two("%r1", "%t") + use, 0, functions).empty());
    CHECK(run(load + two("%t", "%r1") + use, 4, functions) == Findings{{global, 3, 1, 4, 1}});
}

TEST_CASE("a function's local array starts anew at each call, and its parameters are written") {
    // sum(x, fill) writes its array if fill is not 0, and adds up the array's element and x, through x's address.
    const std::string sum =
        ".func (.param .b32 r) sum(.param .b32 x, .param .b32 fill) {\n.reg .b32 %v, %w;\n.reg .pred %p;\n"
        ".reg .b64 %l;\n.local .align 8 .b8 its[16];\nmov.u64 %l, its;\nld.param.u32 %v, [fill];\n"
        "setp.ne.u32 %p, %v, 0;\n@%p st.local.u32 [%l+4], %v;\nld.local.u32 %v, [%l+4];\nmov.b64 %l, x;\n"
        "ld.local.u32 %w, [%l];\nadd.u32 %v, %v, %w;\nst.param.b32 [r], %v;\nret;\n}\n";
    const auto call_sum = [](const std::string& fill) {
        return "{ .param .b32 x; .param .b32 f; .param .b32 r; st.param.b32 [x], %t; st.param.b32 [f], " + fill +
               "; call.uni (r), sum, (x, f); ld.param.b32 %r2, [r]; }\nst.global.u32 [%pb], %r2;\n";
    };
    CHECK(run(call_sum("1"), 0, sum).empty());
    CHECK(run(call_sum("1") + call_sum("0"), 0, sum).size() == 1);
    CHECK(run(call_sum("1") + call_sum("%t"), 0, sum).at(0).thread == 0);
}

TEST_CASE("only the lanes that call pass their values") {
    CHECK(run("ld.global.u32 %r1, [%pa];\nmov.u32 %r2, 1;\nsetp.ge.u32 %p1, %t, 8;\n@%p1 bra L;\n" +
                  call("keep", "%r1") + "L: add.u32 %r3, %r2, 1;",
              5, functions) == Findings{{global, 6, 1, 5, 1}});
    CHECK(run("ld.global.u32 %r1, [%pa];\nmov.u32 %r2, 1;\nsetp.ge.u32 %p1, %t, 8;\n@%p1 bra L;\n" +
                  call("keep", "%r1") + "L: add.u32 %r3, %r2, 1;",
              8, functions)
              .empty());
}

TEST_CASE("a call finds nothing undefined in the registers that an earlier call has left") {
    // later(x, take) takes x into a register if take is not 0, and computes with that register otherwise.
    const std::string later =
        ".func later(.param .b32 x, .param .b32 take) {\n.reg .b32 %v, %w;\n.reg .pred %p;\nld.param.u32 %w, [take];\n"
        "setp.ne.u32 %p, %w, 0;\n@%p ld.param.u32 %v, [x];\n@!%p add.u32 %v, %v, 1;\nret;\n}\n";
    const auto call_later = [](const std::string& x, const std::string& take) {
        return "{ .param .b32 x; .param .b32 y; st.param.b32 [x], " + x + "; st.param.b32 [y], " + take +
               "; call.uni later, (x, y); }\n";
    };
    CHECK(run("ld.global.u32 %r1, [%pa];\n" + call_later("%r1", "1") + call_later("%t", "0"), 0, later).empty());
}

TEST_CASE("what a block left undefined in shared memory is not the next block's") {
    CHECK(Snippet("mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, 0;\n@!%p1 bra L;\nld.global.u32 %r1, [%pa];\n"
                  "st.shared.u32 [first], %r1;\nbra M;\nL:\nld.shared.u32 %r2, [first];\nadd.u32 %r3, %r2, 1;\n"
                  "st.global.u32 [%pb], %r3;\nM:")
              .run({2}, {1}) == Findings{{"initcheck/shared", 9, 8, 0, 1}});
}
