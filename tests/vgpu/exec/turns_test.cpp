// How long waiting lanes and warps run before those that they wait for get a turn. Counters depend on it.
#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// The number of times that warps have run each line.
std::vector<std::uint64_t> executed(const std::string& lines, device::Dim3 block, device::Dim3 grid = {1},
                                    const std::string& functions = "") {
    constexpr device::Checks none{false, false, false, false};
    Machine m(1, vgpu::test::snippet(lines, functions), 50'000'000, "h100", none);
    const auto a = m.upload(std::vector<std::uint32_t>(256)), b = m.upload(std::vector<std::uint32_t>(256));
    std::vector<std::uint64_t> counts(20);
    for (const auto& line : m.launch("k", grid, block, a, b).lines) counts.at(line.line) = line.counters.inst_executed;
    return counts;
}

// Threads below `first` wait until one of the others has set a flag.
std::string wait(const std::string& load, unsigned first) {
    return "setp.ge.u32 %p1, %t, " + std::to_string(first) +
           ";\n@%p1 bra SET;\n"
           "WAIT: " +
           load +
           " %r2, [%a];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nbra DONE;\nSET: st.volatile.global.u32 [%a], 1;\n"
           "DONE:";
}

}  // namespace

TEST_CASE("lanes that wait for others of their warp ask 64 times, then step back") {
    CHECK(executed(wait("ld.volatile.global.u32", 16), {32})[3] == 65);
}

TEST_CASE("a warp that waits for another one asks 512 times in its turn") {
    CHECK(executed(wait("ld.volatile.global.u32", 32), {64})[3] == 513);
    // 73 times a round: after seven rounds it has asked 511 times, so its turn is one of eight.
    std::string loads;
    for (int i = 1; i < 73; ++i) loads += "ld.volatile.global.u32 %r1, [%a]; ";
    CHECK(executed(wait(loads + "ld.volatile.global.u32", 32), {64})[3] == 9 * 73);
}

TEST_CASE("a block that waits for one that has not started has 4097 turns, then others start beside it") {
    const auto counts = executed(
        "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra SET;\nWAIT: nanosleep.u32 1;\n"
        "ld.global.u32 %r2, [%a];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nbra DONE;\n"
        "SET: st.global.u32 [%a], 1;\nDONE:",
        {32}, {2});
    CHECK(counts[5] == 4097 * 512 + 1);
    CHECK(counts[9] == 1);
}

TEST_CASE("a warp that waits without synchronising has a turn of 2^20 instructions") {
    // One of three such loops is just at its end then.
    std::string before;
    for (const std::uint64_t rounds : {349'524u, 349'523u, 349'523u}) {
        const auto counts = executed(before + wait("ld.global.u32", 32), {64});
        CHECK(counts[3] == rounds);
        CHECK(counts[7] == 1);
        before += "mov.u32 %r1, 0; ";
    }
}

TEST_CASE("blocks that say nothing to each other run one after the other, however long each takes") {
    constexpr device::Checks none{false, false, false, false};
    // Block 0 counts to 2^21, then reads what block 1 writes at its beginning.
    Machine m(1,
              vgpu::test::snippet("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra COUNT;\n"
                                  "st.global.u32 [%a], 7;\nbra DONE;\nCOUNT: mov.u32 %r2, 0;\n"
                                  "MORE: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 0x200000;\n@%p2 bra MORE;\n"
                                  "ld.global.u32 %r3, [%a];\nst.global.u32 [%b], %r3;\nDONE:"),
              50'000'000, "h100", none);
    const auto a = m.upload(std::vector<std::uint32_t>{0}), b = m.upload(std::vector<std::uint32_t>{9});
    m.launch("k", {2}, {1}, a, b);
    CHECK(m.download(b)[0] == 0);
    CHECK(m.download(a)[0] == 7);
}

TEST_CASE("a turn ends in a loop, not where lanes part") {
    std::string loads;
    for (int i = 0; i < 600; ++i) loads += "ld.volatile.global.u32 %r1, [%a]; ";
    vgpu::test::Snippet s("setp.ge.u32 %p1, %t, 32;\n@%p1 bra READ;\n" + loads +
                              "\nand.b32 %r1, %t, 1;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra EVEN;\nmov.u32 %r1, 7;\n"
                              "EVEN: st.volatile.global.u32 [%a], 3;\nbra DONE;\n"
                              "READ: ld.volatile.global.u32 %r2, [%a];\nst.global.u32 [%pb], %r2;\nDONE:",
                          "", 1, {false, false, false, false});
    s.run({1}, {64});
    CHECK(s.result()[40] == 3);
}

TEST_CASE("a loop is held against the budget every 2^14 instructions") {
    Machine m(1, vgpu::test::snippet("mov.u32 %r1, 0;\nMORE: add.u32 %r1, %r1, 1;\nbra MORE;"), 200'000);
    const auto a = m.upload(std::vector<std::uint32_t>(1));
    m.analysis->take_records();
    CHECK_THAT(vgpu::test::message_of([&] { m.launch("k", {1}, {32}, a, a); }, device::error::launch_timeout),
               Contains("is still in this loop"));
    const auto executed = m.analysis->take_records().at(0).counters->inst_executed;
    CHECK(executed >= 13u << 14);
    CHECK(executed < (13u << 14) + 2 * 13);  // a round more each time
}

TEST_CASE("two waiting parts of a warp take turns, also when both have stepped back") {
    // The lower half waits for the upper one, which waits for the other warp.
    const auto counts = executed(
        "setp.ge.u32 %p1, %t, 32;\n@%p1 bra OTHER;\nsetp.ge.u32 %p1, %t, 16;\n@%p1 bra UPPER;\n"
        "LOWER: ld.volatile.global.u32 %r1, [%a];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra LOWER;\nbra DONE;\n"
        "UPPER: ld.volatile.global.u32 %r1, [%a+4];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra UPPER;\n"
        "st.volatile.global.u32 [%a], 1;\nbra DONE;\nOTHER: st.volatile.global.u32 [%a+4], 1;\nDONE:",
        {64});
    CHECK(counts[5] == 321);
    CHECK(counts[9] == 257);
}

TEST_CASE("calls and jumps by a table count towards the budget as loops do") {
    const auto message = [](const std::string& lines, const std::string& functions, std::uint64_t beyond) {
        Machine m(1, vgpu::test::snippet(lines, functions), 200'000);
        const auto a = m.upload(std::vector<std::uint32_t>(256)), b = m.upload(std::vector<std::uint32_t>(256));
        m.analysis->take_records();
        auto text = vgpu::test::message_of([&] { m.launch("k", {1}, {32}, a, b); }, device::error::launch_timeout);
        const auto instructions = m.analysis->take_records().at(0).counters->inst_executed;
        CHECK(instructions >= 13u << 14);
        CHECK(instructions < (13u << 14) + beyond);
        return text;
    };
    const auto still = Contains("is still in this loop after the kernel has executed 200,000 warp instructions");
    // The function calls itself twice, eighteen levels deep: 2^19 calls, and no backward branch.
    CHECK_THAT(message("{ .param .b32 m; st.param.b32 [m], 18; call f, (m); }",
                       ".func f(.param .b32 n) {\n.reg .b32 %n;\n.reg .pred %p;\nld.param.u32 %n, [n];\n"
                       "setp.eq.u32 %p, %n, 0;\n@%p bra DONE;\nsub.u32 %n, %n, 1;\n"
                       "{\n.param .b32 m;\nst.param.b32 [m], %n;\ncall f, (m);\n}\n"
                       "{\n.param .b32 m;\nst.param.b32 [m], %n;\ncall f, (m);\n}\nDONE:\nret;\n}\n",
                       13 * 12),  // at each of the checks, what one activation executes
               still);
    // A loop of 2^17 rounds whose only backward branch is through a table.
    CHECK_THAT(message("mov.u32 %r1, 0;\nts: .branchtargets DONE, AGAIN;\nAGAIN: add.u32 %r1, %r1, 1;\n"
                       "setp.lt.u32 %p1, %r1, 131072;\nselp.u32 %r2, 1, 0, %p1;\nbrx.idx %r2, ts;\nDONE:",
                       "", 4),  // a round has four
               still);
}

TEST_CASE("lanes in a function run before those that wait behind the call, and meet them there") {
    const std::string inner = ".func g() {\n.reg .b32 %x;\nmov.u32 %x, 1;\nret;\n}\n";
    const auto counts = executed(
        "setp.lt.u32 %p1, %t, 16;\n@%p1 bra SKIP;\ncall f, ();\nSKIP: mov.u32 %r1, 1;\nst.global.u32 [%pb], %r1;", {32},
        {1}, inner + ".func f() {\ncall g, ();\nret;\n}\n");
    CHECK(counts[4] == 1);
}
