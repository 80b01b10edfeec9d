// The caches, request by request: what each finds, keeps, evicts and writes back.
#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/access/cache_replay.hpp"
#include "vgpu/access/site.hpp"

using namespace warpgrade::vgpu;

namespace {

using Kind = LineRequest::Kind;

Access row(std::uint64_t address, std::uint32_t mask = ~0u) {
    alignas(64) std::uint64_t a[warp_size];
    for (unsigned l = 0; l < warp_size; ++l) a[l] = address + 4 * l;
    Access x;
    x.collect(a, 0, mask, 4);
    return x;
}

// A block whose accesses happen one by one.
struct Block {
    explicit Block(std::uint64_t bytes = 1 << 15, std::uint32_t warps = 1) {
        l1.begin_block(bytes, warps, stats, beyond);
    }
    // Returns the hits of an access. missed() then counts the sectors that reached L2.
    std::uint64_t hits(Kind kind, std::uint64_t line, std::uint32_t mask = ~0u) {
        const auto before = stats[3].l1_hits;
        l1.misses.clear();
        l1.access(0, row(128 * line, mask), 4, 3, kind);
        l1.at_barrier();
        return stats[3].l1_hits - before;
    }
    [[nodiscard]] unsigned missed() const {
        unsigned sectors = 0;
        for (const auto& m : l1.misses)
            sectors += static_cast<unsigned>(std::popcount(static_cast<unsigned>(m.sectors)));
        return sectors;
    }
    std::vector<MemorySite> stats = std::vector<MemorySite>(4);
    std::vector<L1Misses> beyond = std::vector<L1Misses>(4);
    BlockL1 l1;
};

// One set of sixteen lines.
struct OneSet {
    // All of one block.
    CacheStats request(std::span<const LineRequest> requests) {
        CacheStats stats;
        l2.request(requests, {&stats, 1});
        return stats;
    }
    CacheStats request(Kind kind, std::uint64_t line, unsigned sectors = 15) {
        const LineRequest only = LineRequest::of(line, sectors, kind, 0);
        return request({&only, 1});
    }
    L2Cache l2{16 * 128};
};

}  // namespace

TEST_CASE("L1 keeps what was loaded until an atomic takes it") {
    Block b;
    CHECK(b.hits(Kind::Read, 10) == 0);
    CHECK(b.missed() == 4);
    CHECK(b.hits(Kind::Read, 10) == 4);
    CHECK(b.missed() == 0);
    for (const Kind store : {Kind::Write, Kind::WritePart}) {  // written through to L2, and L1 still has it
        CHECK(b.hits(store, 10) == 0);
        CHECK(b.missed() == 4);
    }
    CHECK(b.hits(Kind::Read, 10) == 4);
    CHECK(b.hits(Kind::ReadPastL1, 10) == 0);
    CHECK(b.missed() == 4);
    CHECK(b.hits(Kind::Read, 10) == 4);
    CHECK(b.hits(Kind::Atomic, 10, 0xff00u) == 0);  // the second sector
    CHECK(b.missed() == 1);
    CHECK(b.hits(Kind::Read, 10) == 3);
    CHECK(b.missed() == 1);
    CHECK(b.l1.misses[0].sectors == 2);
    CHECK(b.hits(Kind::Read, 10) == 4);
    for (const Kind passes : {Kind::WritePart, Kind::Atomic, Kind::ReadPastL1}) {
        CHECK(b.hits(passes, 20) == 0);
        CHECK(b.hits(Kind::Read, 20, 0xffu) == 0);  // none of them fills it
        CHECK(b.hits(Kind::Atomic, 20) == 0);
    }
}

TEST_CASE("a store that fills sectors leaves them in L1, and any store takes room there") {
    Block b(4 * 128);  // one set of four lines
    CHECK(b.hits(Kind::Write, 1, 0xffffu) == 0);
    CHECK(b.missed() == 2);
    CHECK(b.hits(Kind::Read, 1) == 2);
    CHECK(b.missed() == 2);
    for (const std::uint64_t line : {2, 3, 4}) b.hits(Kind::WritePart, line);
    CHECK(b.hits(Kind::Read, 1) == 4);
    b.hits(Kind::WritePart, 5);  // instead of the second line
    CHECK(b.hits(Kind::Read, 1) == 4);
    for (const std::uint64_t line : {6, 7, 8, 9}) b.hits(Kind::Write, line);
    CHECK(b.hits(Kind::Read, 1) == 0);
    // As ncu counts on an H100: partly written sectors that others were loaded into stay (h100.md, "stores in L1").
    b.hits(Kind::WritePart, 1);
    CHECK(b.hits(Kind::Read, 1) == 4);
}

TEST_CASE("a store fills its sectors if each eight of its lanes follow each other, or all 32 do") {
    const auto fills = [](unsigned bytes, std::uint32_t mask, auto address) {
        alignas(64) std::uint64_t a[warp_size];
        for (unsigned l = 0; l < warp_size; ++l) a[l] = 4096 + address(l);
        Access x;
        x.collect(a, 0, mask, bytes);
        return x.fills_sectors(bytes);
    };
    for (const unsigned bytes : {1, 2, 4, 8, 16}) {
        CHECK(fills(bytes, ~0u, [&](unsigned l) { return bytes * l; }));
        CHECK_FALSE(fills(bytes, ~0u, [&](unsigned l) { return 2 * bytes * l; }));
        CHECK_FALSE(fills(bytes, ~0u, [](unsigned) { return 0; }));
        CHECK_FALSE(fills(bytes, 1, [&](unsigned l) { return bytes * l; }));
        const auto rows = [&](unsigned l) { return l / 8 * 1024 + bytes * (l % 8); };
        CHECK(fills(bytes, ~0u, rows) == (bytes >= 4));
        CHECK(fills(bytes, 0xff00ff00u, rows) == (bytes >= 4));
        CHECK_FALSE(fills(bytes, 0xff00ff01u, rows));
    }
}

TEST_CASE("an atomic on several lines takes all of them from L1") {
    Block b;
    const auto spread = [&](Kind kind) {
        alignas(64) std::uint64_t a[warp_size];
        for (unsigned l = 0; l < warp_size; ++l) a[l] = 128 * l;
        Access x;
        x.collect(a, 0, ~0u, 4);
        const auto before = b.stats[1].l1_hits;
        b.l1.misses.clear();
        b.l1.access(0, x, 4, 1, kind);
        b.l1.at_barrier();
        return b.stats[1].l1_hits - before;
    };
    CHECK(spread(Kind::Read) == 0);
    CHECK(spread(Kind::Read) == 32);
    for (const Kind store : {Kind::Write, Kind::WritePart}) {
        CHECK(spread(store) == 0);
        CHECK(b.missed() == 32);
        CHECK(spread(Kind::Read) == 32);
    }
    CHECK(spread(Kind::Atomic) == 0);
    CHECK(b.missed() == 32);
    CHECK(spread(Kind::Read) == 0);
}

TEST_CASE("what L2 sees of a miss says which instruction asked, how, and for what") {
    Block b;
    for (const Kind kind : {Kind::Read, Kind::ReadPastL1, Kind::Write, Kind::WritePart, Kind::Atomic}) {
        b.hits(kind, 77, 0x00ffff00u);
        REQUIRE(b.l1.misses.size() == 1);
        const LineRequest& m = b.l1.misses[0];
        CHECK((m.line == 77 && m.sectors == 6 && m.kind == static_cast<std::uint64_t>(kind) && m.slot == 3));
        b.hits(Kind::Atomic, 77);
    }
}

TEST_CASE("instructions beyond those that can be numbered share the last number") {
    Block b;
    b.stats.resize(65'536);
    b.beyond.resize(65'536);
    for (const std::uint32_t slot : {65'534u, 65'535u, 65'536u, 70'000u}) {
        b.l1.misses.clear();
        b.l1.access(0, row(128 * slot), 4, slot, Kind::Read);
        b.l1.at_barrier();
        REQUIRE(b.l1.misses.size() == 1);
        CHECK(b.l1.misses[0].slot == std::min(slot, 65'535u));
    }
}

TEST_CASE("blocks that know a shape of several lines each ask for all of them") {
    Block first, second;
    ShapeLines shape{{{0, 15}, {3, 1}}};
    for (Block* b : {&first, &second, &first}) {
        for (int i = 0; i < 2; ++i) b->l1.access(0, shape, 1280, 3, Kind::Write);
        b->l1.at_barrier();
    }
    for (const Block* b : {&first, &second}) {
        REQUIRE(b->l1.misses.size() == (b == &first ? 8 : 4));
        for (std::size_t i = 0; i < b->l1.misses.size(); ++i) {
            const LineRequest& m = b->l1.misses[i];
            CHECK((m.line == (i % 2 ? 13 : 10) && m.sectors == (i % 2 ? 1 : 15) && m.slot == 3));
        }
    }
}

TEST_CASE("an empty L1 begins with each block, as large as it is said to be") {
    Block b(4 * 128);  // four lines: one set
    for (const std::uint64_t line : {1, 2, 3, 4}) CHECK(b.hits(Kind::Read, line) == 0);
    CHECK(b.hits(Kind::Read, 1) == 4);
    CHECK(b.hits(Kind::Read, 5) == 0);  // replaces line 2, which was used least recently
    CHECK(b.hits(Kind::Read, 1) == 4);
    CHECK(b.hits(Kind::Read, 3) == 4);
    CHECK(b.hits(Kind::Read, 4) == 4);
    CHECK(b.hits(Kind::Read, 2) == 0);
    b.l1.begin_block(4 * 128, 1, b.stats, b.beyond);
    CHECK(b.hits(Kind::Read, 1) == 0);
}

TEST_CASE("what a block left behind when its launch was given up is not the next block's") {
    Block b;
    b.l1.access(0, row(128), 4, 0, Kind::Write);
    b.l1.begin_block(1 << 15, 1, b.stats, b.beyond);
    b.l1.at_barrier();
    CHECK(b.l1.misses.empty());
}

TEST_CASE("warps take turns at L1, an instruction each") {
    Block b(1 << 15, 3);
    for (const std::uint64_t line : {1, 2, 3}) b.l1.access(0, row(128 * line), 4, 0, Kind::Write);
    b.l1.access(2, row(128 * 9), 4, 0, Kind::Write);
    b.l1.access(1, row(128 * 5), 4, 0, Kind::Write);
    b.l1.access(1, row(128 * 6), 4, 0, Kind::Write);
    CHECK(b.l1.misses.empty());
    b.l1.at_barrier();
    std::vector<std::uint64_t> lines;
    for (const auto& m : b.l1.misses) lines.push_back(m.line);
    CHECK(lines == std::vector<std::uint64_t>{1, 5, 9, 2, 6, 3});
    b.l1.at_barrier();
    CHECK(b.l1.misses.size() == 6);
}

TEST_CASE("a warp that never comes to a barrier has its turn after 32768 instructions") {
    Block b(1 << 15, 2);
    b.l1.access(1, row(128 * 9), 4, 0, Kind::Write);
    for (int i = 0; i < 32'767; ++i) b.l1.access(0, row(128), 4, 0, Kind::Write);
    CHECK(b.l1.misses.empty());
    b.l1.access(0, row(128), 4, 0, Kind::Write);
    CHECK(b.l1.misses.size() == 32'769);
}

TEST_CASE("misses beyond what is kept are counted by what they are") {
    Block b;
    b.l1.misses.resize(2'097'151);
    const auto access = [&](Kind kind, std::uint32_t mask) {
        b.l1.access(0, row(1280, mask), 4, 0, kind);
        b.l1.at_barrier();
    };
    access(Kind::WritePart, ~0u);
    CHECK((b.l1.lost_reads == 0 && b.l1.lost_writes == 0));
    access(Kind::Read, 0xffu);
    access(Kind::ReadPastL1, 0xffffu);
    CHECK((b.l1.lost_reads == 3 && b.l1.lost_writes == 0));
    access(Kind::Write, 0xffffffu);
    access(Kind::Atomic, ~0u);
    CHECK((b.l1.lost_reads == 3 && b.l1.lost_writes == 7));
    CHECK(b.l1.misses.size() == 2'097'152);
    CacheReplay replay(1 << 20, 1, {1});
    b.l1.misses.clear();
    BlockRun run;
    run.add(0, b.l1, {}, replay.sets());
    replay.finish(run);
    const auto& lost = replay.lost();
    CHECK((lost.l2_reads == 3 && lost.dram_reads == 3 && lost.l2_writes == 7 && lost.dram_writes == 7));
    CHECK(lost.l2_read_hits == 0);
    b.l1.begin_block(1 << 15, 1, b.stats, b.beyond);
    CHECK((b.l1.lost_reads == 0 && b.l1.lost_writes == 0));
}

TEST_CASE("a load waits for L2 if it misses, or if what it wants is on the way to another warp at that turn") {
    Block b(1 << 15, 3);
    const auto load = [&](std::uint32_t warp, std::uint64_t line, std::uint32_t mask = ~0u) {
        b.l1.access(warp, row(128 * line, mask), 4, 3, Kind::Read);
    };
    std::uint64_t lines = 0;
    const auto waits = [&] {
        b.l1.at_barrier();
        lines = b.beyond[3].lines;
        return std::exchange(b.beyond[3], {}).waits;
    };
    for (const std::uint32_t warp : {0, 1, 2}) load(warp, 10);
    CHECK(waits() == 3);  // all three at one turn
    CHECK(lines == 1);
    for (const std::uint32_t warp : {0, 1, 2}) load(warp, 10);
    CHECK(waits() == 0);
    load(0, 20), load(0, 20);
    CHECK(waits() == 1);  // the second one at the next turn
    load(0, 30, 0xff), load(1, 30), load(2, 10);
    CHECK(waits() == 2);  // of line 30 only a sector is there after the first
    b.l1.access(0, row(128 * 50), 4, 2, Kind::Write);
    load(1, 10);
    b.l1.access(2, row(128 * 10), 4, 2, Kind::ReadPastL1);
    CHECK(waits() == 0);
    CHECK((b.beyond[2].waits == 1 && b.beyond[2].lines == 1));
    SECTION("loads of several lines, whether their shape is known or not") {
        alignas(64) std::uint64_t a[warp_size];
        for (unsigned l = 0; l < warp_size; ++l) a[l] = 128 * (40 + l % 2);
        Access two;
        two.collect(a, 0, ~0u, 4);
        load(0, 41);
        b.l1.access(1, two, 4, 3, Kind::Read);
        CHECK(waits() == 2);
        b.l1.access(0, two, 4, 3, Kind::Read);
        b.l1.access(1, two, 4, 3, Kind::Read);
        CHECK(waits() == 0);
        Pattern shape;
        shape.learn(two, 4);
        for (const bool known : {false, true}) {
            b.l1.begin_block(1 << 15, 3, b.stats, b.beyond);
            load(0, 41);
            if (known)
                b.l1.access(1, shape.lines_at(two.address[0]), two.address[0], 3, Kind::Read);
            else
                b.l1.access(1, two, 4, 3, Kind::Read);
            load(2, 40);
            CHECK(waits() == 3);
            CHECK(lines == 3);  // the last wants sectors that the second did not
        }
    }
}

TEST_CASE("L2 reads what it lacks, and keeps what is written") {
    OneSet set;
    const auto is = [](const CacheStats& s, std::uint64_t reads, std::uint64_t hits, std::uint64_t writes,
                       std::uint64_t dram_reads, std::uint64_t dram_writes) {
        return s.l2_reads == reads && s.l2_read_hits == hits && s.l2_writes == writes && s.dram_reads == dram_reads &&
               s.dram_writes == dram_writes;
    };
    CHECK(is(set.request(Kind::Read, 5, 3), 2, 0, 0, 2, 0));
    CHECK(is(set.request(Kind::ReadPastL1, 5, 7), 3, 2, 0, 1, 0));
    CHECK(is(set.request(Kind::Write, 5, 12), 0, 0, 2, 0, 0));
    CHECK(is(set.request(Kind::Read, 5), 4, 4, 0, 0, 0));
    CHECK(is(set.request(Kind::Atomic, 6, 3), 0, 0, 0, 2, 0));  // an atomic works on the sectors that are there
    CHECK(is(set.request(Kind::Atomic, 6, 7), 0, 0, 0, 1, 0));
    CHECK(is(set.request(Kind::Read, 6), 4, 3, 0, 1, 0));
    for (std::uint64_t line = 100; line < 114; ++line) CHECK(is(set.request(Kind::Read, line), 4, 0, 0, 4, 0));
    // Two dirty sectors of line 5, then three of line 6, are written back when other lines replace theirs.
    CHECK(is(set.request(Kind::Read, 200), 4, 0, 0, 4, 2));
    CHECK(is(set.request(Kind::Write, 201, 1), 0, 0, 1, 0, 3));
    CHECK(is(set.request(Kind::Read, 202), 4, 0, 0, 4, 0));
}

TEST_CASE("device memory sends 64 bytes at a time: half a line for each sector whose neighbour L2 lacks too") {
    OneSet set;
    CHECK(set.request(Kind::Read, 5, 1).fetched_sectors == 2);
    CHECK(set.request(Kind::Read, 5, 2).fetched_sectors == 0);  // came with its neighbour
    CHECK(set.request(Kind::Read, 5, 8).fetched_sectors == 2);
    CHECK(set.request(Kind::Read, 6, 6).fetched_sectors == 4);
    CHECK(set.request(Kind::Read, 7, 15).fetched_sectors == 4);
    CHECK(set.request(Kind::Read, 7, 15).fetched_sectors == 0);
    CHECK(set.request(Kind::Write, 8, 1).fetched_sectors == 0);
}

TEST_CASE("L2 throws out what was used least recently") {
    OneSet set;
    for (std::uint64_t line = 0; line < 16; ++line) set.request(Kind::Read, line);
    for (const std::uint64_t line : {0, 2, 3}) CHECK(set.request(Kind::Read, line).l2_read_hits == 4);
    set.request(Kind::Read, 16);
    for (const std::uint64_t line : {0, 2, 3, 4, 15, 16}) CHECK(set.request(Kind::Read, line).l2_read_hits == 4);
    CHECK(set.request(Kind::Read, 1).l2_read_hits == 0);
    // The next launch begins with an empty cache.
    OneSet next;
    CHECK(next.request(Kind::Read, 15).l2_read_hits == 0);
}

TEST_CASE("lines spread over the sets of L2") {
    L2Cache l2(2 * 16 * 128);
    CacheStats stats;
    for (int round = 0; round < 2; ++round)
        for (std::uint64_t line = 0; line < 32; ++line) {
            const LineRequest r = LineRequest::of(line, 15, Kind::Read, 0);
            l2.request({&r, 1}, {&stats, 1});
        }
    CHECK(stats.l2_read_hits == 32 * 4);
}
