// What each kind of instruction counts, at its own line and in the sum, for two blocks of two warps.
#include <map>

#include "judge/catch.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::Counters;
using vgpu::test::Machine;

namespace {

constexpr device::Checks no_checks{false, false, false, false};

struct Counted {
    std::map<std::uint32_t, Counters> lines;
    Counters all;
};

Counted count(const std::string& lines, unsigned threads = 1, device::Dim3 grid = {2}, device::Dim3 block = {64}) {
    Machine m(threads, vgpu::test::snippet(lines), 1'000'000, "h100", no_checks);
    const auto a = m.upload(std::vector<std::uint32_t>(256)), b = m.upload(std::vector<std::uint32_t>(256));
    const auto record = m.launch("k", grid, block, a, b);
    Counted counted;
    counted.all = record.counters;
    for (const auto& line : record.lines) {
        CHECK(line.file == "k.cu");
        counted.lines[line.line] = line.counters;
    }
    return counted;
}

// A line's counters without those that depend on the caches.
Counters without_caches(Counters c) {
    c.global_load_l1_hits = 0;
    c.l2_read_sectors = c.l2_read_hits = c.l2_write_sectors = c.dram_read_sectors = c.dram_write_sectors = 0;
    return c;
}

Counters executed(std::uint64_t warps, std::uint64_t threads) {
    Counters c;
    c.inst_executed = warps, c.thread_inst_executed = threads;
    return c;
}

}  // namespace

TEST_CASE("each line counts what its instruction does, and nothing else") {
    const auto found = count(
        "ld.global.u32 %r1, [%pa];\nst.global.u32 [%pb], %r1;\nst.local.u32 [own], %r1;\nld.local.u32 %r2, [own];\n"
        "atom.global.add.u32 %r3, [%pa+512], 1;\nmov.u32 %r5, first;\nmad.lo.u32 %r6, %t, 8, %r5;\n"
        "st.shared.u32 [first], %r1;\nld.shared.u32 %r7, [first];\natom.shared.add.u32 %r8, [first], 1;\nbar.sync 0;\n"
        "red.global.add.u32 [%pa+512], 1;\nmov.u32 %r1, 0;");
    const auto with = [&](auto&& change) {
        Counters c = executed(4, 128);
        change(c);
        return c;
    };
    const std::vector<Counters> expected = {
        with([](Counters& c) { c.global_load_requests = 4, c.global_load_sectors = 16; }),
        with([](Counters& c) { c.global_store_requests = 4, c.global_store_sectors = 16; }),
        with([](Counters& c) { c.local_store_requests = 4, c.local_store_sectors = 16; }),
        with([](Counters& c) { c.local_load_requests = 4, c.local_load_sectors = 16; }),
        with([](Counters& c) { c.atomic_requests = 4, c.atomic_sectors = c.atomic_cycles = 16; }),
        with([](Counters&) {}),
        with([](Counters&) {}),
        with([](Counters& c) { c.shared_store_requests = c.shared_store_wavefronts = 4; }),
        with([](Counters& c) { c.shared_load_requests = c.shared_load_wavefronts = 4; }),
        with([](Counters& c) { c.shared_atomic_requests = c.shared_atomic_wavefronts = 4; }),
        with([](Counters& c) { c.barriers = 4; }),
        with([](Counters& c) { c.atomic_requests = 4, c.atomic_sectors = c.atomic_cycles = 16; }),
    };
    for (std::uint32_t line = 1; line <= expected.size(); ++line) {
        CAPTURE(line);
        REQUIRE(found.lines.contains(line));
        CHECK((without_caches(found.lines.at(line)) == expected[line - 1]));
    }
    CHECK(found.all.warps_launched == 4);
    CHECK(found.all.blocks_launched == 2);
    CHECK(found.all.global_load_requests == 4);
    CHECK(found.all.atomic_requests == 8);
    CHECK(found.all.barriers == 4);
    CHECK(found.all.shared_atomic_requests == 4);
}

TEST_CASE(
    "what lines count is what the launch counts, whatever counter it is and however many host threads there are") {
    const std::string lines =
        "ld.global.u32 %r1, [%pa];\nadd.u32 %r1, %r1, %t;\nst.global.u32 [%pb], %r1;\nsetp.lt.u32 %p1, %t, 5;\n"
        "@%p1 bra L;\nst.global.u32 [%pa+512], %r1;\nL: red.global.add.u32 [%b+516], 1;\nbar.sync 0;\n"
        "ld.global.u32 %r2, [%pa];\nmov.u32 %r5, first;\nmad.lo.u32 %r6, %t, 4, %r5;\nst.shared.u32 [%r6], %r2;";
    const auto serial = count(lines);
    Counters sum;
    for (const auto& [line, counters] : serial.lines) sum += counters;
    // The instructions before the first line load the arguments.
    const auto before = serial.all.inst_executed - sum.inst_executed;
    CHECK((before > 0 && before % 4 == 0));
    CHECK(serial.all.thread_inst_executed - sum.thread_inst_executed == 32 * before);
    const Counters& all = serial.all;
    CHECK(sum.global_load_requests == all.global_load_requests);
    CHECK(sum.global_load_sectors == all.global_load_sectors);
    CHECK(sum.global_load_l1_hits == all.global_load_l1_hits);
    CHECK(sum.global_store_sectors == all.global_store_sectors);
    CHECK(sum.branches == all.branches);
    CHECK(sum.divergent_branches == all.divergent_branches);
    CHECK(sum.barriers == all.barriers);
    CHECK(sum.atomic_sectors == all.atomic_sectors);
    CHECK(sum.l2_read_sectors == all.l2_read_sectors);
    CHECK(sum.l2_write_sectors == all.l2_write_sectors);
    CHECK(sum.shared_store_bank_conflicts == all.shared_store_bank_conflicts);
    // The second block finds in L2 what the first one has loaded.
    const Counters& load = serial.lines.at(1);
    CHECK((load.l2_read_sectors == 16 && load.l2_read_hits == 8 && load.dram_read_sectors == 8));
    CHECK(serial.lines.at(3).l2_write_sectors == 16);
    // Each warp's second load of the same data hits L1.
    CHECK(serial.lines.at(9).global_load_l1_hits == 16);
    CHECK(serial.lines.at(1).global_load_l1_hits == 0);
    for (const unsigned threads : {2u, 5u}) CHECK((count(lines, threads, {40}).all == count(lines, 1, {40}).all));
}

TEST_CASE("branches count once for each warp, and those that part a warp as divergent") {
    const auto run = [](const std::string& condition) {
        return count("setp.lt.u32 %p1, " + condition +
                     ";\n@%p1 bra L;\nmov.u32 %r1, 1;\nL: mov.u32 %r2, 2;\nbra.uni M;\nM:")
            .lines;
    };
    auto lines = run("%t, 40");
    CHECK((lines.at(2).branches == 4 && lines.at(2).divergent_branches == 2));
    CHECK((lines.at(3).inst_executed == 2 && lines.at(3).thread_inst_executed == 48));
    CHECK((lines.at(4).inst_executed == 4 && lines.at(4).thread_inst_executed == 128));
    lines = run("%t, 32");
    CHECK((lines.at(2).branches == 4 && lines.at(2).divergent_branches == 0));
    CHECK((lines.at(3).inst_executed == 2 && lines.at(3).thread_inst_executed == 64));
    lines = run("%t, 64");
    CHECK((lines.at(2).branches == 4 && lines.at(2).divergent_branches == 0));
    CHECK(lines.at(4).inst_executed == 4);
    if (lines.contains(5)) CHECK(lines.at(5).branches == 0);  // it does not branch
    if (lines.contains(3)) CHECK(lines.at(3).inst_executed == 0);
}

TEST_CASE("bank conflicts are those of the line that has them") {
    const auto found = count(
        "mov.u32 %r5, first;\nand.b32 %r6, %t, 1;\nmad.lo.u32 %r6, %r6, 128, %r5;\nst.shared.u32 [%r6], %t;\n"
        "ld.shared.u32 %r7, [%r6];\nst.shared.u32 [%r5], %t;");
    CHECK((found.lines.at(4).shared_store_wavefronts == 8 && found.lines.at(4).shared_store_bank_conflicts == 4));
    CHECK((found.lines.at(5).shared_load_wavefronts == 8 && found.lines.at(5).shared_load_bank_conflicts == 4));
    CHECK((found.lines.at(4).shared_load_bank_conflicts == 0 && found.lines.at(5).shared_store_bank_conflicts == 0));
    CHECK((found.lines.at(6).shared_store_wavefronts == 4 && found.lines.at(6).shared_store_bank_conflicts == 0));
    CHECK((found.all.shared_store_bank_conflicts == 4 && found.all.shared_load_bank_conflicts == 4));
}
