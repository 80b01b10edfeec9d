// Which accesses of a launch are recorded for pictures, and that recording them changes nothing.
#include "judge/catch.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::AccessTrace;
using device::TracedAccess;
using vgpu::test::Machine;

namespace {

struct TracedMachine : Machine {
    TracedMachine(const std::string& lines, bool traced, unsigned threads = 1, const device::Checks& checks = {})
        : Machine(threads, vgpu::test::snippet(lines), 1'000'000, "h100", checks) {
        const auto ptx = vgpu::test::snippet(lines);
        gpu = vgpu::make_virtual_gpu("h100", {threads, 1'000'000, 0, checks, false, traced});
        analysis = gpu->analysis();
        module = gpu->load_module(std::as_bytes(std::span(ptx.data(), ptx.size())));
        may_be_wrong = true;
    }
};

struct Run {
    std::optional<AccessTrace> trace;
    device::Counters counters;
    double duration_ns = 0;
    std::vector<std::uint32_t> out;
};

Run run(const std::string& lines, bool traced, device::Dim3 grid = {1}, device::Dim3 block = {32}, unsigned threads = 1,
        const device::Checks& checks = {}) {
    TracedMachine m(lines, traced, threads, checks);
    const auto a = m.upload(std::vector<std::uint32_t>(2048)), b = m.upload(std::vector<std::uint32_t>(2048));
    const auto record = m.launch("k", grid, block, a, b);
    return {record.trace, record.counters, record.duration_ns, m.download(b)};
}

AccessTrace trace(const std::string& lines, device::Dim3 grid = {1}, device::Dim3 block = {32}, unsigned threads = 1) {
    return run(lines, true, grid, block, threads).trace.value();
}

std::vector<std::uint64_t> strided(std::uint64_t first, std::uint64_t step) {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t lane = 0; lane < 32; ++lane) offsets.push_back(first + lane * step);
    return offsets;
}

const std::string strided_load = "mul.wide.u32 %l1, %t, 128;\nadd.s64 %l1, %l1, %a;\nld.global.u32 %r1, [%l1];";

}  // namespace

TEST_CASE("an access is recorded with its line, array, lanes and sectors") {
    const auto found = trace(strided_load + "\nsetp.lt.u32 %p1, %t, 3;\n@%p1 st.global.u32 [%pb+88], %r1;");
    REQUIRE(found.accesses.size() == 2);
    const auto &load = found.accesses[0], &store = found.accesses[1];
    CHECK(load.kind == TracedAccess::Kind::load);
    CHECK(load.space == TracedAccess::Space::global);
    CHECK(load.bytes == 4);
    CHECK(load.mask == 0xffffffff);
    CHECK(load.units == 32);
    CHECK(load.offsets == strided(0, 128));
    CHECK(found.lines.at(load.line).line == 3);
    CHECK(found.lines.at(load.line).file == "k.cu");
    CHECK(found.arrays.at(load.array).memory.bytes == 8192);
    CHECK(store.kind == TracedAccess::Kind::store);
    CHECK(store.mask == 7);
    CHECK(store.units == 2);
    CHECK(store.offsets == std::vector<std::uint64_t>{88, 92, 96});
    CHECK(found.lines.at(store.line).line == 5);
    CHECK(store.array != load.array);
}

TEST_CASE("accesses of shared memory are recorded with their wavefronts and conflicts") {
    // The first at once in all 32 banks, the second of words of two banks.
    const auto checks = GENERATE(device::Checks{}, device::Checks{false, false, false, false});
    const auto found = run("st.shared.u32 [second], %t;\nmov.u32 %r2, second;\nshl.b32 %r3, %t, 6;\n"
                           "and.b32 %r3, %r3, 255;\nadd.u32 %r2, %r2, %r3;\nld.shared.u32 %r1, [%r2];\n"
                           "mov.u32 %r4, second;\nadd.u32 %r4, %r4, %i;\nst.shared.u32 [%r4], %r1;",
                           true, {1}, {32}, 1, checks)
                           .trace.value();
    REQUIRE(found.accesses.size() == 3);
    const auto &load = found.accesses[1], &store = found.accesses[2];
    CHECK(load.space == TracedAccess::Space::shared);
    CHECK(load.units == 2);
    CHECK(load.conflicts == 1);
    CHECK(load.offsets[5] == 64);
    CHECK(store.units == 1);
    CHECK(store.conflicts == 0);
    CHECK(store.offsets == strided(0, 4));
    CHECK(found.arrays.at(load.array).memory.name == "second");
    CHECK(found.arrays.at(load.array).begin % 16 == 0);
}

TEST_CASE("three warps are recorded, the first accesses of each line, whatever the number of host threads") {
    const std::string loop =
        "mov.u32 %r1, 0;\nagain: ld.global.u32 %r2, [%pa];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 50;\n"
        "@%p1 bra again;\nst.global.u32 [%pb], %r2;";
    const auto found = trace(loop, {8}, {128});
    std::vector<std::pair<std::uint64_t, std::uint32_t>> warps;
    for (const auto& one : found.accesses) {
        const std::pair<std::uint64_t, std::uint32_t> warp{one.block, one.warp};
        if (warps.empty() || warps.back() != warp) warps.push_back(warp);
    }
    CHECK(warps == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{0, 0}, {0, 1}, {4, 0}});
    CHECK(found.accesses.size() == 3 * (AccessTrace::max_repeats + 1));
    const auto again = trace(loop, {8}, {128}, 4);
    REQUIRE(again.accesses.size() == found.accesses.size());
    for (std::size_t i = 0; i < found.accesses.size(); ++i) {
        CHECK(again.accesses[i].offsets == found.accesses[i].offsets);
        CHECK(again.lines.at(again.accesses[i].line).line == found.lines.at(found.accesses[i].line).line);
    }
}

TEST_CASE("recording changes neither results nor counters nor times, and nothing is recorded unasked") {
    const std::string lines = strided_load + "\natom.global.add.u32 %r2, [%b], %r1;\nst.shared.u32 [first], %r2;";
    for (const auto& checks : {device::Checks{}, device::Checks{false, false, false, false}}) {
        const auto with = run(lines, true, {4}, {64}, 2, checks), without = run(lines, false, {4}, {64}, 2, checks);
        CHECK(with.trace);
        CHECK_FALSE(without.trace);
        CHECK(with.counters == without.counters);
        CHECK(with.duration_ns == without.duration_ns);
        CHECK(with.out == without.out);
    }
}

TEST_CASE("of a kernel's launches in a call the first is recorded") {
    TracedMachine m(strided_load, true);
    const auto a = m.upload(std::vector<std::uint32_t>(2048)), b = m.upload(std::vector<std::uint32_t>(2048));
    CHECK(m.launch("k", {1}, {32}, a, b).trace);
    CHECK_FALSE(m.launch("k", {1}, {32}, a, b).trace);
}
