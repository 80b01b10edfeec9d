// Which atomics one lane performs for its warp, and what they cost otherwise: as ptxas compiles them for sm_90.
#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu::test;

namespace {

// The counters of one warp that executes the body. %w points to `word` of the kernel's argument, %s to a word of shared
// memory; %v is the thread's number, %x a double of it.
device::Counters run(const std::string& body) {
    Machine m(1,
              ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 word, .param .u64 at) {\n"
              ".reg .b32 %r<9>, %v, %s;\n.reg .b64 %l<9>, %w;\n.reg .f32 %f<9>;\n.reg .pred %p<9>;\n"
              ".shared .align 4 .b8 words[128];\nld.param.u64 %w, [word];\nmov.u32 %v, %tid.x;\n"
              "mov.u32 %s, words;\nst.shared.u32 [%s], 0;\ncvt.rn.f32.u32 %f1, %v;\n" +
                  body + "ret;\n}\n",
              1'000'000, "h100", device::Checks{false, false, false, false});
    const auto word = m.upload(std::vector<std::uint32_t>(64));
    return m.launch("k", {1}, {32}, word, word).counters;
}

std::uint64_t cycles(const std::string& body) { return run(body).atomic_cycles; }
std::uint64_t wavefronts(const std::string& body) { return run(body).shared_atomic_wavefronts; }

}  // namespace

TEST_CASE("one lane adds for a warp where all know that they are on one word") {
    CHECK(cycles("red.global.add.u32 [%w], 1;") == 1);
    CHECK(cycles("red.global.add.u32 [%w], %v;") == 1);
    CHECK(cycles("atom.global.add.u32 %r1, [%w], %v;\nst.global.u32 [%w], %r1;") == 1);
    CHECK(cycles("red.global.max.u32 [%w], %v;") == 1);
    CHECK(cycles("atom.global.max.u32 %r1, [%w], %v;") == 1);
    CHECK(cycles("red.global.xor.b32 [%w], %v;") == 1);
    CHECK(cycles("red.global.add.u64 [%w], 1;") == 1);
    // From what is the same for the block.
    CHECK(cycles("mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %l1, %r1, 4;\nadd.s64 %l2, %w, %l1;\n"
                 "red.global.add.u32 [%l2], 1;") == 1);
    CHECK(cycles("ld.global.u32 %r1, [%w];\nmul.wide.u32 %l1, %r1, 4;\nadd.s64 %l2, %w, %l1;\n"
                 "red.global.add.u32 [%l2], 1;") == 1);
}

TEST_CASE("each lane adds for itself where no instruction combines the values") {
    CHECK(cycles("atom.global.max.u32 %r1, [%w], %v;\nst.global.u32 [%w], %r1;") == 32);
    CHECK(cycles("red.global.inc.u32 [%w], 100;") == 32);
    CHECK(cycles("atom.global.exch.b32 %r1, [%w], %v;") == 32);
    CHECK(cycles("red.global.add.f32 [%w], %f1;") == 32);
    CHECK(cycles("cvt.u64.u32 %l1, %v;\nred.global.add.u64 [%w], %l1;") == 32);
    CHECK(cycles("red.global.min.u64 [%w], 5;") == 32);
}

TEST_CASE("each lane adds for itself where the compiler does not know that they meet") {
    // The thread's number, divided by 32, is 0 for all of them.
    const std::string of_thread = "shr.u32 %r1, %v, 5;\nmul.wide.u32 %l1, %r1, 4;\nadd.s64 %l2, %w, %l1;\n";
    CHECK(cycles(of_thread + "red.global.add.u32 [%l2], 1;") == 32);
    // What is written twice, or only by some lanes, may differ.
    CHECK(cycles("mov.u64 %l1, %w;\nadd.s64 %l1, %l1, 4;\nred.global.add.u32 [%l1], 1;") == 32);
    CHECK(cycles("setp.lt.u32 %p1, %v, 64;\n@%p1 mov.u64 %l1, %w;\nred.global.add.u32 [%l1], 1;") == 32);
}

TEST_CASE("what a thread loads from its own memory may differ, and so may what a generic address loads") {
    const std::string add_there = "mul.wide.u32 %l1, %r1, 4;\nadd.s64 %l2, %w, %l1;\nred.global.add.u32 [%l2], 1;";
    CHECK(cycles(".local .b32 own;\nst.local.u32 [own], 0;\nld.local.u32 %r1, [own];\n" + add_there) == 32);
    CHECK(cycles("ld.u32 %r1, [%w];\n" + add_there) == 32);
    CHECK(cycles("ld.volatile.global.u32 %r1, [%w];\n" + add_there) == 32);
    CHECK(cycles("ld.shared.u32 %r1, [%s];\n" + add_there) == 1);
}

TEST_CASE("an atomic on shared memory whose old value nobody reads costs less") {
    const std::string at_own = "shr.u32 %r1, %v, 5;\nadd.u32 %r2, %s, %r1;\n";
    CHECK(wavefronts(at_own + "atom.shared.add.u32 %r3, [%r2], 1;") == 1);
    CHECK(wavefronts(at_own + "atom.shared.add.u32 %r3, [%r2], 1;\nst.global.u32 [%w], %r3;") == 32);
    CHECK(wavefronts(at_own + "atom.shared.add.f32 %f2, [%r2], %f1;") == 12 * 32);
    CHECK(wavefronts("atom.shared.add.u32 %r3, [%s], %v;\nst.global.u32 [%w], %r3;") == 1);
    CHECK(wavefronts("atom.shared.add.f32 %f2, [words], %f1;") == 12 * 32);
}
