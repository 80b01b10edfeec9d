// What a load takes that waits for the one before, by the level in which it finds its data.
#include "judge/catch.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/model/profile.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

using Words = std::vector<std::uint32_t>;

std::string loop_of(const std::string& name, const std::string& loads) {
    return ".visible .entry " + name +
           "(.param .u64 a, .param .u64 n)\n{\n.reg .b64 %d<9>;\n.reg .b32 %r<9>;\n.reg .pred %p;\n"
           "ld.param.u64 %d1, [a];\nld.param.u64 %d2, [n];\nmov.u32 %r1, 0;\nmov.u32 %r7, %tid.x;\nshl.b32 %r2, %r7, "
           "5;\nshl.b32 %r8, %r7, 7;\n"
           "L: " +
           loads +
           "add.u32 %r1, %r1, 1;\ncvt.u64.u32 %d5, %r1;\nsetp.lt.u64 %p, %d5, %d2;\n@%p bra L;\n"
           "st.global.u32 [%d1], %r2;\nret;\n}\n";
}

const std::string ptx =
    ".version 8.6\n.target sm_90\n.address_size 64\n" +
    loop_of("chain", "mul.wide.u32 %d3, %r2, 4;\nadd.s64 %d4, %d1, %d3;\nld.global.u32 %r2, [%d4];\n") +
    loop_of("array", "mul.wide.u32 %d3, %r1, 128;\nadd.s64 %d4, %d1, %d3;\nld.global.u32 %r2, [%d4];\n") +
    loop_of("swaps", "add.u32 %r3, %r2, 1;\natom.global.cas.b32 %r2, [%d1], %r2, %r3;\n") +
    ".shared .align 4 .b32 near[1024];\n" +
    loop_of("shared",
            "and.b32 %r2, %r2, 0;\nmov.u32 %r4, near;\nadd.u32 %r4, %r4, %r8;\nadd.u32 %r3, %r4, %r2;\nld.shared.u32 "
            "%r2, [%r3];\n");

struct Chaser : Machine {
    explicit Chaser(const char* profile) : Machine(1, ptx, 200'000'000, profile) {}
    // Cycles that each of `loads` takes in a ring of lines of 128 bytes, without what the launch takes.
    double cycles(const char* kernel, std::uint32_t lines, std::uint64_t loads, std::uint32_t threads = 1) {
        Words ring(std::size_t{lines} * 32);
        for (std::uint32_t i = 0; i < lines; ++i) ring[i * 32ull] = (i + 1) % lines * 32;
        const auto memory = upload(ring);
        const double all = launch(kernel, {1}, {threads}, memory, loads).duration_ns;
        gpu->write(memory.address, std::as_bytes(std::span(ring)));  // the kernel wrote its result there
        const std::uint64_t half = loads / 2;
        const double some = launch(kernel, {1}, {threads}, memory, half).duration_ns;
        return (all - some) * gpu->properties().clock_ghz / static_cast<double>(loads - half);
    }
};

}  // namespace

TEST_CASE("a chain takes the latency of the level in which its loads find their data") {
    const vgpu::Profile h100 = vgpu::find_profile("h100");
    const auto a_little_above = [](double cycles, double latency) { return cycles > latency && cycles < latency + 15; };
    Chaser m("h100");
    const double in_l1 = m.cycles("chain", 64, 4096), in_l2 = m.cycles("chain", 8192, 4096);
    CAPTURE(in_l1, in_l2);
    CHECK(a_little_above(in_l1, h100.l1_latency));
    CHECK(a_little_above(in_l2, h100.l2_latency));
    m.may_be_wrong = true;  // loads from shared memory in which nobody has written
    CHECK(a_little_above(m.cycles("shared", 1, 4096), h100.shared_latency));
    CHECK(a_little_above(m.cycles("swaps", 1, 4096), h100.l2_latency));
    // 1 MiB of sectors, of which the L2 of one multiprocessor holds less than half.
    Chaser one("h100:1");
    const double in_dram = one.cycles("chain", 1 << 15, 1 << 15);
    CAPTURE(in_dram);
    CHECK(in_dram > h100.l2_latency + 0.5 * (h100.dram_latency - h100.l2_latency));
    CHECK(in_dram < h100.dram_latency + 15);
}

TEST_CASE("a chain waits for the last of its lanes' sectors and wavefronts") {
    Chaser m("h100");
    m.may_be_wrong = true;
    const double sectors = m.cycles("chain", 1 << 16, 1024, 32) - m.cycles("chain", 1 << 16, 1024);
    CAPTURE(sectors);
    CHECK((sectors > 80 && sectors < 100));
    const double wavefronts = m.cycles("shared", 32, 4096, 32) - m.cycles("shared", 32, 4096);
    CAPTURE(wavefronts);
    CHECK((wavefronts > 30 && wavefronts < 40));
}

TEST_CASE("loads at addresses that the loop computes overlap") {
    Chaser m("h100");
    CHECK(m.cycles("array", 8192, 4096) < 0.7 * vgpu::find_profile("h100").l2_latency);
}

TEST_CASE("lanes that compare and swap one word wait a fourth of the way to L2 for each other") {
    Chaser m("h100");
    m.may_be_wrong = true;  // all lanes store their result
    const double further = m.cycles("swaps", 1, 1024, 32) - m.cycles("swaps", 1, 1024);
    CAPTURE(further);
    CHECK((further > 1900 && further < 2150));
}

TEST_CASE("each half of L2 holds what its multiprocessors use, so there is room for half as much") {
    // 20 MiB twice. Just more than half of the multiprocessors have 25 MiB of L2, of which each half holds half as
    // much; half of them lie in one half.
    Chaser half("h100:67"), whole("h100:66");
    const auto fetched = [](Chaser& m) {
        constexpr std::uint32_t lines = 20 << 13;
        Words ring(std::size_t{lines} * 32);
        for (std::uint32_t i = 0; i < lines; ++i) ring[i * 32ull] = (i + 1) % lines * 32;
        return m.launch("chain", {1}, {1}, m.upload(ring), std::uint64_t{2 * lines}).counters.dram_read_sectors;
    };
    CHECK(fetched(half) > 1.9 * (20 << 13));
    CHECK(fetched(whole) < 1.1 * (20 << 13));
}
