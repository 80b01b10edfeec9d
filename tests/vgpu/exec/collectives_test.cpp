// Shuffles, votes and similar wait for the lanes in the mask; cooperative groups are built from them.
#include <array>
#include <numeric>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;
using vgpu::test::read_text;

namespace {

constexpr std::array architectures{"sm_80", "sm_100"};

Machine collectives(const std::string& architecture, unsigned threads = 1) {
    return Machine(threads, read_text(WG_TEST_COLLECTIVES "." + architecture));
}

// What a kernel with one output array of `n` ints writes.
std::vector<int> run(const std::string& kernel, const std::string& architecture, int n = 32, bool wrong = false) {
    Machine m = collectives(architecture);
    m.may_be_wrong = wrong;
    const auto out = m.upload(std::vector<int>(static_cast<std::size_t>(std::max(n, 96))));
    m.launch(kernel, {1}, {static_cast<std::uint32_t>(n)}, out);
    auto v = m.download(out);
    v.resize(static_cast<std::size_t>(n));
    return v;
}

template <class F>
std::vector<int> each(int n, F&& f) {
    std::vector<int> v(static_cast<std::size_t>(n));
    std::iota(v.begin(), v.end(), 0);
    for (int& i : v) i = f(i);
    return v;
}

}  // namespace

TEST_CASE("lanes that come to a collective in different branches exchange with each other") {
    for (const char* a : architectures) {
        CHECK(run("shuffle_in_two_branches", a) ==
              each(32, [](int t) { return t < 16 ? t + 16 + 1000 : (t - 16) * 2; }));
        for (const int odd_first : {0, 1}) {
            Machine m = collectives(a);
            const auto out = m.upload(std::vector<unsigned>(96));
            m.launch("vote_in_two_branches", {1}, {32}, out, odd_first);
            unsigned expected = 0;
            for (int t = 0; t < 32; ++t)
                if (t % 2 == odd_first ? t > 7 : t <= 20) expected |= 1u << t;
            for (unsigned t = 0; t < 32; ++t) CHECK(m.download(out)[t] == expected);
        }
        const auto m = run("match_in_calls", a);
        const auto value = [](int t) { return t % 3 + (t == 31 ? 100 : 0); };
        for (int t = 0; t < 32; ++t) {
            unsigned same = 0;
            for (int u = 0; u < 32; ++u) same |= unsigned{value(u) == value(t)} << u;
            CHECK(static_cast<unsigned>(m[static_cast<std::size_t>(t)]) == same);
        }
    }
}

TEST_CASE("only the lanes of the mask are awaited, and exited ones are not") {
    for (const char* a : architectures) {
        CHECK(run("masks_by_branch", a) == each(32, [](int t) { return t < 8 ? 28 : t >= 24 ? 31 : -1; }));
        CHECK(run("exited_lanes_are_not_awaited", a) == each(32, [](int t) { return t < 20 ? 120 : 0; }));
        Machine m = collectives(a);
        const auto out = m.upload(std::vector<int>(32)), flag = m.upload(std::vector<int>(1));
        m.may_be_wrong = true;  // the flag is not atomic
        m.launch("lane_leaves_while_others_wait", {1}, {32}, out, flag);
        CHECK(m.download(out) == each(32, [](int t) { return t < 31 ? 10 : 0; }));
    }
}

TEST_CASE("a lane outside its own mask gets what the members get") {
    CHECK(run("not_in_its_mask", "sm_80", 32, true) == std::vector<int>(32, 120));
}

TEST_CASE("a shuffle from a lane that is elsewhere gives 0") {
    for (const char* a : architectures) {
        Machine m = collectives(a);
        const auto out = m.upload(std::vector<float>(32));
        m.may_be_wrong = true;
        m.launch("sum_with_a_partial_mask", {1}, {32}, out);
        CHECK(m.download(out)[0] == 36);
        CHECK(m.download(out)[8] == 9);
    }
}

TEST_CASE("a mask that cannot be met is a deadlock that names mask, lanes and places") {
    Machine m = collectives("sm_80");
    const auto out = m.upload(std::vector<int>(64));
    auto text = message_of([&] { m.launch("never_met", {1}, {64}, out); }, device::error::launch_timeout);
    CHECK_THAT(text, Contains("waits in __shfl_down_sync() for 16 threads of its warp that are in the mask 0xffffffff "
                              "but never arrive, the first of them thread (16,0,0)") &&
                         Contains("; 48 threads wait at ") && Contains("collectives.cu:"));
    text = message_of([&] { m.launch("different_masks", {1}, {32}, out); }, device::error::launch_timeout);
    CHECK_THAT(text, Contains("waits in __syncwarp() for 16 threads of its warp that are in the mask 0xffffffff"));
}

TEST_CASE("__syncwarp lets half a warp produce for the other") {
    for (const char* a : architectures)
        CHECK(run("producer_consumer_in_a_warp", a) ==
              each(32, [](int t) { return t < 16 ? 0 : 45 * 16 + 10 * (t * 3 % 16); }));
}

TEST_CASE("tiles of a warp, coalesced and labelled groups") {
    for (const char* a : architectures) {
        CHECK(run("tiles", a) ==
              each(32, [](int t) { return (t % 8 == 7 ? t : t + 1) + 100 * (t < 8) + 4000 + 10000 * (t / 8); }));
        CHECK(run("tiles_in_divergent_code", a) == each(32, [](int t) {
                  const int first = t / 4 * 4;
                  return t / 4 % 2 ? 4 * first + 6 : t % 4 + 1;
              }));
        Machine m = collectives(a);
        const auto out = m.upload(std::vector<int>(32)), counter = m.upload(std::vector<int>(1, 50));
        m.launch("coalesced", {1}, {32}, out, counter);
        CHECK(m.download(out) == each(32, [](int t) { return t % 3 ? 0 : 50 + t / 3 + 11000; }));
        CHECK(m.download(counter)[0] == 61);
        CHECK(run("labelled", a) == each(32, [](int t) {
                  int sum = 0, size = 0;
                  for (int u = t % 5; u < 32; u += 5) sum += u, ++size;
                  return sum * 100 + size + 1000000 * (t < 9 ? t : t - 9);
              }));
    }
}

TEST_CASE("tiles of several warps") {
    for (const char* a : architectures)
        CHECK(run("tiles_of_several_warps", a, 256) ==
              each(256, [](int t) { return t < 128 ? 127 * 64 : 127 * 64 + 128 * 128 + 1; }));
}

TEST_CASE("grid.sync: all blocks of a cooperative launch wait for each other (trap 8)") {
    for (const char* a : architectures)
        for (const unsigned threads : {1u, 3u}) {
            Machine m = collectives(a, threads);
            const int n = 12 * 96, rounds = 6;
            auto expected = each(n, [](int i) { return i * i % 1001; });
            const auto values = m.upload(expected), out = m.upload(std::vector<int>(static_cast<std::size_t>(n)));
            m.cooperative = true;
            m.launch("grid_rounds", {4, 3}, {96}, values, out, rounds);
            for (int r = 0; r < rounds; ++r) {
                auto next = expected;
                for (int i = 0; i < n; ++i)
                    next[static_cast<std::size_t>(i)] = expected[static_cast<std::size_t>((i + n / 2 + 1) % n)] + 1;
                expected = next;
            }
            CHECK(m.download(values) == expected);
            m.launch("grid_arrive_wait", {5}, {32}, values, out);
            auto v = m.download(out);
            v.resize(160);
            CHECK(v == each(160, [](int i) { return i + (159 - i) * 2; }));
            m.launch("grid_is_valid", {1}, {1}, out);
            CHECK(m.download(out)[0] == 1);
            m.cooperative = false;
            m.launch("grid_is_valid", {1}, {1}, out);
            CHECK(m.download(out)[0] == 0);
        }
}

TEST_CASE("grid.sync needs a cooperative launch, and one that fits") {
    Machine m = collectives("sm_80");
    const auto values = m.upload(std::vector<int>(64)), out = m.upload(std::vector<int>(64));
    CHECK_THAT(message_of([&] { m.launch("grid_rounds", {2}, {32}, values, out, 1); }, device::error::launch_failure),
               Contains("cudaLaunchCooperativeKernel"));
    m = collectives("sm_80");
    m.cooperative = true;
    CHECK_THAT(message_of([&] { m.launch("grid_is_valid", {100000}, {1024}, out); },
                          device::error::cooperative_launch_too_large),
               Contains("the cooperative launch has 100000 blocks"));
}

// The upper half has two masks at each of two instructions; it has not come when the lower half is complete.
TEST_CASE("groups of a warp meet in two branches each, also where one takes the opposite of its predicate") {
    const auto half = [](const std::string& name, const std::string& mask) {
        return "@%p2 bra " + name + "ODD;\nvote.sync.ballot.b32 %r2, %p3, " + mask +
               ";\nshfl.sync.idx.b32 %r3, %t, %r5, 0x1f, " + mask + ";\nbra DONE;\n" + name +
               "ODD: vote.sync.ballot.b32 %r2, !%p3, " + mask + ";\nshfl.sync.idx.b32 %r3, %r6, %r5, 0x1f, " + mask +
               ";\nbra DONE;\n";
    };
    vgpu::test::Snippet s(
        "setp.ge.u32 %p1, %t, 16;\nand.b32 %r1, %t, 1;\nsetp.ne.u32 %p2, %r1, 0;\nrem.u32 %r1, %t, 3;\n"
        "setp.eq.u32 %p3, %r1, 0;\nxor.b32 %r5, %t, 3;\nadd.u32 %r6, %t, 100;\nsetp.lt.u32 %p4, %t, 24;\n"
        "selp.b32 %r4, 0xff0000, 0xff000000, %p4;\n@%p1 bra UPPER;\n" +
        half("LOWER", "0xffff") + "UPPER:\n" + half("UPPER", "%r4") +
        "DONE: bar.warp.sync 0xffffffff;\nst.global.u32 [%pb], %r2;\nst.global.u32 [%pb+128], %r3;");
    CHECK(s.run().empty());
    const auto found = s.result();
    for (unsigned t = 0; t < 32; ++t) {
        CAPTURE(t);
        const unsigned members = t < 16 ? 0xffffu : t < 24 ? 0xff0000u : 0xff000000u, from = t ^ 3;
        unsigned expected = 0;
        for (unsigned u = 0; u < 32; ++u) expected |= unsigned{(u % 3 == 0) != (u % 2 == 1)} << u;
        CHECK(found[t] == (expected & members));
        CHECK(found[32 + t] == (from % 2 ? from + 100 : from));
    }
}

TEST_CASE("tiles that shuffle at the same instruction see each other's lanes") {
    vgpu::test::Snippet s(
        "setp.lt.u32 %p1, %t, 16;\nselp.b32 %r4, 0xffff, 0xffff0000, %p1;\nxor.b32 %r5, %t, 16;\nmad.lo.u32 %r1, %t, "
        "3, "
        "5;\nshfl.sync.idx.b32 %r2, %r1, %r5, 31, %r4;\nst.global.u32 [%pb], %r2;");
    CHECK(s.run().empty());
    for (unsigned t = 0; t < 32; ++t) CHECK(s.result()[t] == (t ^ 16) * 3 + 5);
}
