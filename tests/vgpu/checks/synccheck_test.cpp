// synccheck: barriers in divergent code and unsuitable masks are found; legal ones are not reported.
#include <algorithm>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::Diagnostic;
using vgpu::test::Machine;
using vgpu::test::read_text;

namespace {

Machine synccheck(const char* architecture, unsigned threads = 1, device::Checks checks = {}) {
    return Machine(threads, read_text(std::string(WG_TEST_SYNCCHECK) + architecture), 3'000'000, "h100", checks);
}

// The line of synccheck.cu with "place N".
std::uint32_t place(int number) {
    const std::string source = read_text(WG_TEST_SOURCES "/synccheck.cu");
    const auto at = source.find("// place " + std::to_string(number) + "\n");
    REQUIRE(at != std::string::npos);
    return static_cast<std::uint32_t>(
        std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
}

std::vector<int> ints(int n) { return std::vector<int>(static_cast<std::size_t>(n)); }

// The findings of synccheck.
std::vector<Diagnostic> of_synccheck(std::vector<Diagnostic> found) {
    std::erase_if(found, [](const Diagnostic& d) { return !std::string(d.rule->id).starts_with("synccheck/"); });
    return found;
}

// One diagnostic of a launch with 64 blocks, the same for any number of host threads and both front ends.
template <class F>
void expect_one(const std::string& kernel, unsigned block, F&& check) {
    for (const char* architecture : {".sm_80", ".sm_100"})
        for (const unsigned threads : {1u, 3u}) {
            INFO(kernel << architecture << ", " << threads << " host threads");
            Machine m = synccheck(architecture, threads);
            const auto found = of_synccheck(m.diagnose(kernel, {64}, {block}, m.upload(ints(256))));
            REQUIRE(found.size() == 1);
            CHECK(found[0].kernel == kernel);
            check(found[0]);
        }
}

}  // namespace

TEST_CASE("__syncthreads() in both branches of one warp") {
    expect_one("barriers_in_both_branches", 64, [](const Diagnostic& d) {
        CHECK(std::string(d.rule->id) == "synccheck/divergent-barrier");
        CHECK(d.message ==
              "waits at this __syncthreads() with 32 of the block's 64 threads; the others wait at another one");
        CHECK(d.place.line == place(1));
        CHECK(d.thread == device::ThreadPlace{{0, 0, 0}, {0, 0, 0}});
        REQUIRE(d.related.size() == 1);
        CHECK(d.related[0].role == "32 threads wait at");
        CHECK(d.related[0].place.line == place(2));
        CHECK(d.related[0].thread == device::ThreadPlace{{1, 0, 0}, {0, 0, 0}});
        CHECK(d.count == 64);
    });
}

TEST_CASE("__syncthreads() in two branches that warps take as a whole") {
    expect_one("barriers_by_warp", 128, [](const Diagnostic& d) {
        CHECK(std::string(d.rule->id) == "synccheck/divergent-barrier");
        CHECK_THAT(d.message, Contains("with 32 of the block's 128 threads"));
        CHECK(d.place.line == place(3));
        REQUIRE(d.related.size() == 1);
        CHECK(d.related[0].place.line == place(4));
        CHECK(d.related[0].thread == device::ThreadPlace{{32, 0, 0}, {0, 0, 0}});
    });
}

TEST_CASE("__syncthreads() in a loop that threads leave at different times") {
    Machine m = synccheck(".sm_80");
    const auto found = of_synccheck(m.diagnose("barrier_in_a_loop", {1}, {64}, m.upload(ints(256))));
    REQUIRE_FALSE(found.empty());
    CHECK(std::ranges::all_of(found,
                              [](const Diagnostic& d) { return std::string(d.rule->id).starts_with("synccheck/"); }));
    const auto first = std::ranges::find_if(
        found, [](const Diagnostic& d) { return std::string(d.rule->id) == "synccheck/divergent-barrier"; });
    REQUIRE(first != found.end());
    CHECK((first->place.line == place(5) || first->place.line == place(6)));
}

TEST_CASE("who waits at another barrier has no part in a finding") {
    // Warp 0 reaches barrier 0 in two branches while warp 1 waits at barrier 1, which warp 0 reaches later.
    vgpu::test::Snippet s(
        "setp.ge.u32 %p1, %t, 32;\n@%p1 bra ONE;\nsetp.ge.u32 %p2, %t, 16;\n@%p2 bra HIGH;\n"
        "bar.sync 0, 32;\nbra ONE;\nHIGH: bar.sync 0, 32;\nONE: bar.sync 1;");
    const auto found = s.diagnose({1}, {64});
    REQUIRE(found.size() == 1);
    CHECK(found[0].message ==
          "waits at this barrier 0 with 16 of the block's 32 threads; the others wait at another one");
    CHECK(found[0].place.line == 5);
    REQUIRE(found[0].related.size() == 1);
    CHECK(found[0].related[0].role == "16 threads wait at");
    CHECK(found[0].related[0].place.line == 7);
}

TEST_CASE("who waits at another barrier does not make its warp meet this one at two places") {
    // The lower halves of warps 0 and 1 meet at barrier 1, each at a place of its own, while the upper halves wait for
    // warp 2 at barrier 2.
    vgpu::test::Snippet s(
        "and.b32 %r1, %t, 16; setp.eq.u32 %p1, %r1, 0; setp.ge.u32 %p2, %t, 32; setp.ge.u32 %p3, %t, 64;\n"
        "@%p3 bra TWO;\n@%p2 bra ONE;\n@%p1 bra A;\nbar.sync 2, 64;\nbra DONE;\nA: bar.sync 1, 32;\nbra DONE;\n"
        "ONE: @%p1 bra B;\nbar.sync 2, 64;\nbra DONE;\nB: bar.sync 1, 32;\nbra DONE;\nTWO: bar.sync 2, 64;\nDONE:");
    CHECK(of_synccheck(s.diagnose({1}, {96})).empty());
}

TEST_CASE("barriers that count count as barriers") {
    expect_one("count_in_branches", 64, [](const Diagnostic& d) {
        CHECK(std::string(d.rule->id) == "synccheck/divergent-barrier");
        REQUIRE(d.related.size() == 1);
        const std::vector<std::uint32_t> lines = {d.place.line, d.related[0].place.line};
        CHECK(std::ranges::count(lines, place(7)) == 1);
        CHECK(std::ranges::count(lines, place(8)) == 1);
    });
}

TEST_CASE("a lane that its own mask does not name") {
    expect_one("not_in_own_mask", 32, [](const Diagnostic& d) {
        CHECK(std::string(d.rule->id) == "synccheck/lane-mask");
        CHECK(d.message ==
              "calls __shfl_down_sync() with the mask 0x0000ffff, which does not name its own lane 16; "
              "15 more threads of its warp do the same");
        CHECK(d.place.line == place(9));
        CHECK(d.thread == device::ThreadPlace{{16, 0, 0}, {0, 0, 0}});
        CHECK(d.count == 64);
    });
    expect_one("syncwarp_without_self", 32, [](const Diagnostic& d) {
        CHECK(d.message == "calls __syncwarp() with the mask 0x00000007, which does not name its own lane 3");
        CHECK(d.place.line == place(10));
    });
}

TEST_CASE("a deadlock names all places where threads wait, and for whom") {
    Machine m = synccheck(".sm_80");
    const auto found = of_synccheck(m.diagnose("mask_names_lanes_elsewhere", {1}, {64}, m.upload(ints(256))));
    REQUIRE(found.size() == 1);
    const Diagnostic& d = found[0];
    CHECK(std::string(d.rule->id) == "synccheck/deadlock");
    CHECK(d.message ==
          "waits in __shfl_down_sync() for 24 threads of its warp that are in the mask 0xffffffff but "
          "never arrive, the first of them thread (8,0,0)");
    CHECK(d.place.line == place(11));
    CHECK(d.thread == device::ThreadPlace{{0, 0, 0}, {0, 0, 0}});
    REQUIRE(d.related.size() == 1);
    CHECK(d.related[0].role == "56 threads wait at");
    CHECK(d.related[0].place.line == place(12));
    CHECK(d.related[0].thread == device::ThreadPlace{{8, 0, 0}, {0, 0, 0}});
}

TEST_CASE("what is legal raises no alarm") {
    for (const char* architecture : {".sm_80", ".sm_100"}) {
        Machine m = synccheck(architecture);
        const auto out = m.upload(ints(256)), flag = m.upload(ints(1));
        const auto quiet = [&](const std::string& kernel, unsigned block, const auto&... args) {
            INFO(kernel << architecture);
            CHECK_NOTHROW(m.launch(kernel, {1}, {block}, out, args...));
        };
        quiet("early_return", 128, 77);
        quiet("early_return_and_loop", 128, 77);
        quiet("uniform_branches", 96, 2);
        quiet("uniform_branches", 96, 5);
        quiet("late_lanes", 32, flag);
        quiet("group_syncs_apart", 64);
        quiet("tiles_and_masks", 128);
        quiet("named_barriers", 64);
    }
}

TEST_CASE("threads that pass a barrier or a call by, and exit") {
    expect_one("barrier_passed_by", 64, [](const Diagnostic& d) {
        CHECK(std::string(d.rule->id) == "synccheck/divergent-barrier");
        CHECK(d.message ==
              "waits at this __syncthreads(), but 40 threads of the block skipped it and have left the kernel");
        CHECK(d.place.line == place(13));
        CHECK(d.thread == device::ThreadPlace{{40, 0, 0}, {0, 0, 0}});
        REQUIRE(d.related.size() == 1);
        CHECK(d.related[0].thread == device::ThreadPlace{{0, 0, 0}, {0, 0, 0}});
    });
    expect_one("shuffle_passed_by", 32, [](const Diagnostic& d) {
        CHECK(std::string(d.rule->id) == "synccheck/lane-mask");
        CHECK(d.message ==
              "calls __shfl_sync() with the mask 0xffffffff, which names 16 threads of its warp that "
              "skipped the call");
        CHECK(d.place.line == place(14));
        REQUIRE(d.related.size() == 1);
        CHECK(d.related[0].thread == device::ThreadPlace{{16, 0, 0}, {0, 0, 0}});
    });
}

TEST_CASE("threads of a later warp that pass a call by have their own numbers") {
    vgpu::test::Snippet s(
        "setp.ge.u32 %p1, %t, 48;\n@%p1 bra ELSE;\nshfl.sync.idx.b32 %r1, %t, 0, 31, 0xffffffff;\nbra DONE;\n"
        "ELSE: add.u32 %r1, %t, 1;\nDONE: add.u32 %r2, %r1, 1;");
    const auto found = s.diagnose({1}, {64});
    REQUIRE(found.size() == 1);
    CHECK(found[0].thread == device::ThreadPlace{{32, 0, 0}, {0, 0, 0}});
    REQUIRE(found[0].related.size() == 1);
    CHECK(found[0].related[0].thread == device::ThreadPlace{{48, 0, 0}, {0, 0, 0}});
}

TEST_CASE("lanes of one warp at two barriers: wrong if one of them is for whole warps") {
    const auto count = [](const std::string& one, const std::string& other) {
        vgpu::test::Snippet s("setp.ge.u32 %p1, %t, 16;\n@%p1 bra HIGH;\n" + one +
                              " 1, 32;\nbra DONE;\nHIGH: " + other + " 1, 32;\nDONE:");
        return of_synccheck(s.diagnose()).size();
    };
    CHECK(count("bar.sync", "bar.sync") == 1);
    CHECK(count("bar.sync", "barrier.sync") == 1);
    CHECK(count("barrier.sync", "bar.sync") == 1);
    CHECK(count("barrier.sync", "barrier.sync") == 0);
}

TEST_CASE("threads that leave a loop right behind its barrier have passed that of the next round by") {
    vgpu::test::Snippet s(
        "setp.lt.u32 %p1, %t, 32; mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3;\nbar.sync 0;\n"
        "@%p1 exit;\n@%p2 bra L;");
    const auto found = of_synccheck(s.diagnose({1}, {64}));
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0].message, Contains("but 32 threads of the block skipped it and have left the kernel"));
    CHECK(found[0].place.line == 3);
    REQUIRE(found[0].related.size() == 1);
    CHECK(found[0].related[0].place.line == 2);
}

// Threads below `until` go past the barrier to what comes after it; those from there to 31 leave at once.
TEST_CASE("where some lanes have been is not said of those that they meet") {
    const auto count = [](const std::string& until) {
        vgpu::test::Snippet s("setp.ge.u32 %p1, %t, 32;\n@%p1 bra BAR;\nsetp.ge.u32 %p2, %t, " + until +
                              ";\n@%p2 bra OUT;\nbra.uni AFTER;\nBAR: bar.sync 0;\nAFTER: add.u32 %r1, %t, 1;\n"
                              "st.global.u32 [%pb], %r1;\nOUT:");
        return of_synccheck(s.diagnose({1}, {64})).size();
    };
    CHECK(count("32") == 1);
    CHECK(count("16") == 0);
}

TEST_CASE("switched off, synccheck says nothing") {
    Machine m = synccheck(".sm_80", 1, {.sync = false});
    const auto out = m.upload(ints(256));
    for (const char* kernel : {"barriers_in_both_branches", "not_in_own_mask"})
        CHECK(of_synccheck(m.diagnose(kernel, {1}, {32}, out)).empty());
}
