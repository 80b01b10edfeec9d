// Barriers of a block, one instruction at a time: which threads they wait for, and what they count.
#include <functional>

#include "support/contains.hpp"
#include "vgpu/instruction.hpp"

using namespace warpgrade;
using vgpu::test::apply;
using vgpu::test::message_of;
using u32 = std::uint32_t;

namespace {

// Of n threads, the first `exited` exit. The others run `red`, with %t true where `holds`.
std::vector<u32> reduced(const std::string& red, u32 n, u32 exited, const std::function<bool(u32)>& holds) {
    std::vector<u32> a(n);
    for (u32 t = 0; t < n; ++t) a[t] = holds(t);
    return apply<u32, u32>(
        "setp.ne.u32 %t, %a, 0; setp.lt.u32 %u, %i, " + std::to_string(exited) + "; @%u exit; " + red, a);
}

}  // namespace

TEST_CASE("__syncthreads_count, _and and _or ask the threads that are there") {
    for (const auto& [n, exited] : std::vector<std::pair<u32, u32>>{
             {1, 0}, {31, 0}, {32, 0}, {33, 0}, {40, 0}, {64, 0}, {95, 0}, {128, 0}, {40, 35}, {96, 32}, {96, 50}}) {
        const std::function<bool(u32)> all = [](u32) { return true; }, none = [](u32) { return false; },
                                       third = [](u32 t) { return t % 3 == 0; },
                                       but_last = [last = n - 1](u32 t) { return t != last; },
                                       last = [last = n - 1](u32 t) { return t == last; };
        for (const auto* holds : {&all, &none, &third, &but_last, &last}) {
            for (const bool negated : {false, true}) {
                CAPTURE(n, exited, negated, (*holds)(0), (*holds)(1), (*holds)(n - 1));
                u32 count = 0;
                for (u32 t = exited; t < n; ++t) count += (*holds)(t) != negated;
                const std::string p = negated ? "!%t" : "%t", truth = " selp.u32 %d, 1, 0, %u;";
                const auto expect = [&](u32 result) {
                    std::vector<u32> v(n, result);
                    std::fill_n(v.begin(), exited, 0);
                    return v;
                };
                CHECK(reduced("bar.red.popc.u32 %d, 0, " + p + ";", n, exited, *holds) == expect(count));
                CHECK(reduced("bar.red.and.pred %u, 0, " + p + ";" + truth, n, exited, *holds) ==
                      expect(count == n - exited));
                CHECK(reduced("barrier.red.or.pred %u, 0, " + p + ";" + truth, n, exited, *holds) == expect(count > 0));
            }
        }
    }
}

// A barrier for a number of threads counts whole warps, but only the predicates of existing threads.
TEST_CASE("a barrier for 64 threads is met by a warp that is not full") {
    const auto yes = [](u32) { return true; };
    CHECK(reduced("bar.red.popc.u32 %d, 1, 64, %t;", 40, 0, yes) == std::vector<u32>(40, 40));
    CHECK(reduced("bar.red.and.pred %u, 1, 64, %t; selp.u32 %d, 1, 0, %u;", 40, 0, yes) == std::vector<u32>(40, 1));
    CHECK(reduced("bar.red.and.pred %u, 1, 64, %t; selp.u32 %d, 1, 0, %u;", 40, 0, [](u32 t) { return t != 39; }) ==
          std::vector<u32>(40, 0));
}

TEST_CASE("threads that exit while all others wait release them, at whichever barrier") {
    for (const u32 staying : {1u, 31u, 32u, 40u, 64u})
        for (const std::string barrier : {"0", "15"}) {
            CAPTURE(staying, barrier);
            std::vector<u32> expected(96);
            std::fill_n(expected.begin(), staying, staying);
            CHECK(apply<u32, u32>("setp.ne.u32 %t, %a, 0; setp.ge.u32 %u, %i, " + std::to_string(staying) +
                                      "; @!%u bra WAIT; exit; WAIT: bar.red.popc.u32 %d, " + barrier + ", %t;",
                                  std::vector<u32>(96, 1)) == expected);
        }
}

// The second warp waits only when it is asked to: barrier 3 is for the first warp alone.
TEST_CASE("barriers of other numbers and of fewer threads are apart") {
    std::vector<u32> expected(64, 2);
    std::fill_n(expected.begin(), 32, 32);
    CHECK(apply<u32, u32>("setp.lt.u32 %t, %i, 32; mov.b32 %d, 2; @%t bar.red.popc.u32 %d, 3, 32, %t; bar.sync 0;",
                          std::vector<u32>(64)) == expected);
}

TEST_CASE("what no barrier can be is refused") {
    const auto message = [](const std::string& body) {
        return message_of([&] { apply<u32, u32>(body + " mov.b32 %d, 0;", std::vector<u32>(32, 15)); },
                          device::error::illegal_instruction);
    };
    CHECK_THAT(message("add.u32 %a, %a, 1; bar.sync %a;"), Contains("waits at barrier 16, but a block has only 16"));
    CHECK_THAT(message("bar.sync 1, 48;"), Contains("48 threads, which is not a positive multiple of 32"));
    CHECK_THAT(message("bar.sync 1, 0;"), Contains("which is not a positive multiple of 32"));
    CHECK(message("bar.sync %a;") == "the launch did not fail");
}
