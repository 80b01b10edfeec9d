// A sample of a grid's blocks, how far a launch is, and the end of one whose time is over.
#include <set>
#include <thread>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::snippet;

namespace {

// Each block writes 1 to its own element of b, at its place in a grid of up to two dimensions.
constexpr const char* marks_its_block =
    "mov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mul.wide.u32 %l1, %r1, 4;\nadd.s64 %l1, %l1, %b;\nmov.u32 %r4, 1;\nst.global.u32 [%l1], %r4;\n";
constexpr const char* never_ends = "again:\nadd.u32 %r1, %r1, 1;\nbra again;\n";

vgpu::VirtualGpuOptions sampled(std::uint64_t blocks, unsigned threads = 1) {
    vgpu::VirtualGpuOptions options;
    options.threads = threads;
    options.sample_blocks = blocks;
    options.progress = std::make_shared<device::Progress>();
    return options;
}

struct Run {
    vgpu::test::Launched record;
    std::vector<std::uint32_t> ran;  // blocks
};

Run run(const vgpu::VirtualGpuOptions& options, device::Dim3 grid, bool cooperative = false) {
    Machine m(options, snippet(marks_its_block));
    m.cooperative = cooperative;
    const auto b = m.upload(std::vector<std::uint32_t>(grid.count()));
    Run result{m.launch("k", grid, {64}, b, b), {}};
    const auto marks = m.download(b);
    for (std::uint32_t i = 0; i < marks.size(); ++i)
        if (marks[i] == 1) result.ran.push_back(i);
    return result;
}

}  // namespace

TEST_CASE("a sample has one block of each part of the grid, not all in one column, and counts what all would") {
    const device::Dim3 grid{64, 64};
    const Run all = run({}, grid), some = run(sampled(64), grid), again = run(sampled(64, 3), grid);
    CHECK(all.record.sampled_blocks == 0);
    CHECK(all.ran.size() == 4096);
    REQUIRE(some.ran.size() == 64);
    CHECK(some.record.sampled_blocks == 64);
    std::set<std::uint32_t> columns;
    for (std::uint32_t i = 0; i < 64; ++i) {
        CHECK(some.ran[i] / 64 == i);
        columns.insert(some.ran[i] % 64);
    }
    CHECK(columns.size() > 48);
    CHECK(again.ran == some.ran);
    CHECK(again.record.counters == some.record.counters);
    CHECK(again.record.duration_ns == some.record.duration_ns);
    CHECK(some.record.counters.inst_executed == all.record.counters.inst_executed);
    CHECK(some.record.counters.global_store_sectors == all.record.counters.global_store_sectors);
    CHECK(some.record.counters.blocks_launched == 4096);
    CHECK(some.record.lines.at(0).counters.inst_executed == all.record.lines.at(0).counters.inst_executed);
    CHECK(some.record.duration_ns > all.record.duration_ns / 2);
}

TEST_CASE("a grid that is no multiple of the sample, one that is smaller, and one that is cooperative") {
    const Run uneven = run(sampled(7), {50});
    REQUIRE(uneven.ran.size() == 7);
    CHECK(uneven.record.counters.warps_launched == 100);
    CHECK(uneven.record.counters.inst_executed == run({}, {50}).record.counters.inst_executed);
    for (std::uint32_t i = 0; i < 7; ++i) CHECK((uneven.ran[i] >= i * 50 / 7 && uneven.ran[i] < (i + 1) * 50 / 7));
    for (const Run& whole : {run(sampled(200), {50}), run(sampled(7), {50}, true)}) {
        CHECK(whole.ran.size() == 50);
        CHECK(whole.record.sampled_blocks == 0);
    }
}

TEST_CASE("with a sample, initcheck is off: what nobody wrote may be what it has left out") {
    for (const std::uint64_t blocks : {0u, 2u}) {
        Machine m(sampled(blocks),
                  snippet("ld.global.u32 %r1, [%pa];\nsetp.eq.u32 %p1, %r1, 5;\n@%p1 st.global.u32 [%pb], %r1;\n"));
        const vgpu::test::Buffer<std::uint32_t> a{m.gpu->allocate(128, "cudaMalloc"), 32};
        CHECK(m.diagnose("k", {1}, {32}, a, m.upload(std::vector<std::uint32_t>(32))).empty() == (blocks != 0));
    }
}

TEST_CASE("a launch tells how far it is") {
    for (const unsigned threads : {1u, 3u}) {
        const auto options = sampled(0, threads);
        const Run whole = run(options, {100});
        const device::Progress& progress = *options.progress;
        CHECK((progress.launches == 1 && progress.running == 0 && progress.began_ns > 0));
        CHECK((progress.blocks == 100 && progress.blocks_done == 100));
        CHECK(progress.instructions > 0);
        CHECK(progress.instructions <= whole.record.counters.inst_executed);
    }
}

TEST_CASE("a launch that is told to stop ends with what it has done, and later ones do not begin") {
    const unsigned threads = GENERATE(1u, 3u);
    CAPTURE(threads);
    const auto options = sampled(0, threads);
    Machine m(options, snippet(never_ends));
    m.may_be_wrong = true;
    const auto b = m.upload(std::vector<std::uint32_t>(1));
    std::thread watcher([&] {
        while (options.progress->instructions == 0) std::this_thread::yield();
        options.progress->stop = 1;
    });
    const auto message = vgpu::test::message_of([&] { m.launch("k", {100}, {64}, b, b); }, 702);
    watcher.join();
    CHECK_THAT(message,
               Contains("k.cu:3: is still in this loop when the program's time is over; 0 of 100 blocks are done"));
    const auto found = m.analysis->take_diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(std::string(found[0].rule->id) == "launch/failed");
    CHECK(m.analysis->take_records().at(0).counters->inst_executed > 0);
    CHECK_THAT(vgpu::test::message_of([&] { m.launch("k", {1}, {32}, b, b); }, 702), Contains("0 of 1 block"));
}

TEST_CASE("a launch of blocks without loops is stopped between two of them") {
    const auto options = sampled(0, GENERATE(1u, 3u));
    options.progress->stop = 1;
    Machine m(options, snippet(marks_its_block));
    const auto b = m.upload(std::vector<std::uint32_t>(100));
    CHECK_THAT(vgpu::test::message_of([&] { m.launch("k", {100}, {64}, b, b); }, 702),
               Contains("was stopped because the program's time was over; "));
}
