// The cache model: what hits where, from first principles.
#include "vgpu/access/caches.hpp"

#include <random>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// Each thread adds up `count` words, `step` apart, `rounds` times over.
constexpr const char* walk = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry walk(.param .u64 data, .param .u32 step, .param .u32 count, .param .u32 rounds, .param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [step];
    ld.param.u32 %r2, [count];
    ld.param.u32 %r3, [rounds];
    ld.param.u64 %rd2, [out];
    mov.u32 %r4, %tid.x;
    mov.u32 %r9, %ctaid.x;
    mov.u32 %r10, %ntid.x;
    mad.lo.s32 %r4, %r9, %r10, %r4;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    mov.u32 %r5, 0;
round:
    mov.u32 %r6, 0;
    mov.u64 %rd4, %rd1;
next:
    ld.global.u32 %r7, [%rd4];
    add.s32 %r5, %r5, %r7;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd4, %rd4, %rd5;
    add.s32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, %r2;
    @%p1 bra next;
    sub.s32 %r3, %r3, 1;
    setp.ne.s32 %p2, %r3, 0;
    @%p2 bra round;
    st.global.u32 [%rd2], %r5;
    ret;
})";

struct Walk {
    unsigned blocks = 1, threads = 32, step = 32, count = 1, rounds = 1;
};

device::Counters run(const Walk& w, const std::string& ptx = walk, unsigned host_threads = 1,
                     const char* profile = "h100") {
    Machine m(host_threads, ptx, 200'000'000, profile);
    const std::size_t lanes = std::size_t{w.blocks} * w.threads;
    const auto data = m.upload(std::vector<unsigned>(lanes + std::size_t{w.step} * w.count, 1));
    const auto out = m.upload(std::vector<unsigned>(lanes));
    const auto record = m.launch("walk", {w.blocks}, {w.threads}, data, w.step, w.count, w.rounds, out);
    CHECK(m.download(out) == std::vector<unsigned>(lanes, w.count * w.rounds));
    return record.counters;
}

std::string with(std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

}  // namespace

TEST_CASE("a stream of new data misses everywhere") {
    const auto c = run({.blocks = 8, .threads = 256});
    CHECK(c.global_load_sectors == 8 * 256 / 8);
    CHECK(c.global_load_l1_hits == 0);
    CHECK(c.l2_read_sectors == c.global_load_sectors);
    CHECK(c.l2_read_hits == 0);
    CHECK(c.dram_read_sectors == c.global_load_sectors);
    CHECK(c.l2_write_sectors == c.global_store_sectors);
    CHECK(c.dram_write_sectors == 0);  // it stays in L2
}

TEST_CASE("what fits into L1 is read once") {
    const auto c = run({.step = 32, .count = 64, .rounds = 5});  // 64 lines of 128 bytes
    CHECK(c.global_load_sectors == 64 * 4 * 5);
    CHECK(c.global_load_l1_hits == 64 * 4 * 4);
    CHECK(c.l2_read_sectors == 64 * 4);
}

TEST_CASE("warps of a block find each other's lines, turn by turn") {
    // Two warps, one line apart, walk line by line: the other warp has read every line before, except the very first.
    const auto c = run({.threads = 64, .step = 32, .count = 3000});
    CHECK(c.global_load_sectors == 2 * 3000 * 4);
    CHECK(c.l2_read_sectors == 3001 * 4);
}

TEST_CASE("what does not fit into L1 comes from L2") {
    const auto c = run({.step = 32, .count = 4096, .rounds = 2});  // 512 KiB through 256 KiB
    CHECK(c.global_load_l1_hits < 4096);
    CHECK(c.l2_read_sectors == c.global_load_sectors - c.global_load_l1_hits);
    CHECK(c.dram_read_sectors == 4096 * 4);
    CHECK(c.l2_read_hits == c.l2_read_sectors - 4096 * 4);
}

TEST_CASE("what does not fit into L2 comes from the device's memory again") {
    // K20X: 1.5 MiB of L2 for 14 multiprocessors, here one of them.
    const auto c = run({.step = 32, .count = 4096, .rounds = 2}, walk, 1, "k20x:1");
    CHECK(c.dram_read_sectors > 4096 * 4 * 3 / 2);
}

TEST_CASE("misses that are too many to be kept are counted") {
    const auto c = run({.threads = 1, .step = 32, .count = 4096, .rounds = 520});  // of 2^21 that are kept
    CHECK(c.l2_read_sectors == c.global_load_sectors - c.global_load_l1_hits);
    CHECK(c.l2_read_sectors > 1 << 21);
}

TEST_CASE("loads past L1 and atomics go to L2 each time") {
    const auto past = run({.count = 8, .rounds = 3}, with(walk, "ld.global.u32", "ld.global.cg.u32"));
    CHECK(past.global_load_l1_hits == 0);
    CHECK(past.l2_read_sectors == 8 * 4 * 3);
    CHECK(past.l2_read_hits == 8 * 4 * 2);
    const auto atomic = run({.count = 8, .rounds = 3},
                            with(walk, "st.global.u32 [%rd2], %r5;", "atom.global.add.u32 %r8, [%rd2], %r5;"));
    CHECK(atomic.atomic_sectors == 4);
    CHECK(atomic.l2_write_sectors == 0);
    CHECK(atomic.dram_read_sectors == 8 * 4 + 4);
}

TEST_CASE("blocks have an L1 of their own, and share L2") {
    // Neighbouring blocks read the same lines, except the first.
    const auto c = run({.blocks = 2, .threads = 32, .step = 32, .count = 10});
    CHECK(c.global_load_l1_hits == 0);
    CHECK(c.l2_read_sectors == 2 * 10 * 4);
    CHECK(c.dram_read_sectors == 11 * 4);
}

TEST_CASE("cache counters do not depend on host threads") {
    const Walk w{.blocks = 300, .threads = 64, .step = 96, .count = 40, .rounds = 3};
    const auto one = run(w, walk, 1, "k20x:2");
    CHECK(one.l2_read_hits > 0);
    for (const unsigned threads : {2u, 3u, 8u}) CHECK(run(w, walk, threads, "k20x:2") == one);
}

TEST_CASE("a block's share of L1") {
    CHECK(vgpu::l1_share(256 << 10, 0, 1) == 256 << 10);
    CHECK(vgpu::l1_share(256 << 10, 0, 8) == 32 << 10);
    CHECK(vgpu::l1_share(256 << 10, 16 << 10, 8) == 16 << 10);
    CHECK(vgpu::l1_share(256 << 10, 1 << 20, 1) == 0);
    CHECK(vgpu::l1_share(256 << 10, 0, 0) == 256 << 10);
}

// Random lists of lines, read repeatedly, with atomics and single lines in between.
TEST_CASE("the memo in front of L1 counts as the plain model does, and misses the same in the same order") {
    using vgpu::LinePart;
    using Miss = std::pair<std::uint64_t, unsigned>;
    const auto bytes = GENERATE(0u, 4096u, 16384u, 262144u);
    std::mt19937_64 random(bytes + 1);
    const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
    vgpu::L1Cache plain, behind_memo;
    vgpu::L1Memo memo;
    std::uint64_t hits = 0, misses = 0;
    for (std::uint64_t phase = 1; phase <= 300; ++phase) {
        if (phase % 20 == 1) plain.begin(bytes), behind_memo.begin(bytes);  // the next block
        std::vector<std::vector<LinePart>> lists(1 + up_to(4));
        for (auto& list : lists) {
            // Each line once, as in LineParts.
            const auto stride = static_cast<std::int64_t>(1 + up_to(3)),
                       begin = static_cast<std::int64_t>(up_to(8)) - 4;
            const auto size = static_cast<std::int64_t>(2 + up_to(up_to(9) == 0 ? 62 : 6));
            list.resize(static_cast<std::size_t>(size));
            for (std::int64_t i = 0; LinePart & part : list) {
                part.line = begin + i++ * stride;
                part.sectors = 1 + up_to(14);
            }
        }
        for (int access = 0; access < 100; ++access) {
            const std::uint64_t line = 1000 + 8 * up_to(up_to(1) ? 3 : 40);
            const auto number = static_cast<std::uint32_t>(up_to(lists.size() - 1));
            const auto one = static_cast<unsigned>(1 + up_to(14));
            if (up_to(15) == 0) {
                plain.forget(line, one), behind_memo.forget(line, one);
            } else if (up_to(7) == 0) {
                CHECK(plain.read(line, one) == behind_memo.read(line, one));
            } else {
                std::uint64_t expected = 0;
                std::vector<Miss> expected_misses, missed;
                for (const LinePart& part : lists[number]) {
                    const std::uint64_t wanted = line + static_cast<std::uint64_t>(part.line);
                    const unsigned there = plain.read(wanted, part.sectors);
                    expected += static_cast<unsigned>(std::popcount(there));
                    if (there != part.sectors)
                        expected_misses.emplace_back(wanted, static_cast<unsigned>(part.sectors) & ~there);
                }
                const auto got =
                    memo.read(behind_memo, line, {phase, number, lists[number]},
                              [&](std::uint64_t at, unsigned sectors) { missed.emplace_back(at, sectors); });
                REQUIRE(got == expected);
                REQUIRE(missed == expected_misses);
                hits += got, misses += missed.size();
            }
        }
    }
    CHECK(hits > 1'000);
    CHECK(misses > 1'000);
}
