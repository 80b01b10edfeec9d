// The caches against plain lists of lines, the last used one first: random accesses of several launches find, miss and
// write back the same.
#include <algorithm>
#include <list>
#include <random>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/access/cache_replay.hpp"
#include "vgpu/access/site.hpp"

using namespace warpgrade::vgpu;

namespace {

using Kind = LineRequest::Kind;

std::uint64_t count(unsigned sectors) { return static_cast<std::uint64_t>(std::popcount(sectors)); }

struct PlainLine {
    std::uint64_t line = 0;
    unsigned valid = 0, dirty = 0;  // sectors
};

class PlainCache {
  public:
    PlainCache(std::uint64_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}
    // The line, now the first of its set; `lost` is what it replaces there, if anything.
    PlainLine& use(std::uint64_t set, std::uint64_t line, PlainLine& lost) {
        auto& lines = sets_[set];
        const auto known = std::ranges::find(lines, line, &PlainLine::line);
        if (known != lines.end()) {
            lines.splice(lines.begin(), lines, known);
        } else {
            lines.push_front({line});
            if (lines.size() > ways_) {
                lost = lines.back();
                lines.pop_back();
            }
        }
        return lines.front();
    }
    void forget(std::uint64_t set, std::uint64_t line, unsigned sectors) {
        for (PlainLine& known : sets_[set])
            if (known.line == line) known.valid &= ~sectors;
    }

  private:
    std::vector<std::list<PlainLine>> sets_;
    std::size_t ways_;
};

struct PlainModel {
    PlainModel(std::uint64_t l1_bytes, std::uint64_t l2_bytes)
        : l1_sets(std::max<std::uint64_t>(l1_bytes / 512, 1)),
          l2_sets(std::max<std::uint64_t>(l2_bytes / 2048, 1)),
          l1(l1_sets, 4),
          l2(l2_sets, 16) {}

    void begin_block() { l1 = PlainCache(l1_sets, 4); }
    void request(std::uint64_t line, unsigned wanted, Kind kind) {
        const std::uint64_t l1_set = (hash_of_line(line) >> 32) * l1_sets >> 32;
        PlainLine lost;
        unsigned there = 0;
        if (kind == Kind::Read) {
            PlainLine& in_l1 = l1.use(l1_set, line, lost);
            there = in_l1.valid & wanted;
            in_l1.valid |= wanted;
            l1_hits += count(there);
        } else if (kind == Kind::Write) {
            l1.use(l1_set, line, lost).valid |= wanted;
        } else if (kind == Kind::WritePart) {
            l1.use(l1_set, line, lost);
        } else if (kind == Kind::Atomic) {
            l1.forget(l1_set, line, wanted);
        }
        wanted &= ~there;
        if (wanted == 0) return;
        lost = {};
        PlainLine& in_l2 = l2.use(line % l2_sets, line, lost);
        stats.dram_writes += count(lost.dirty);
        const unsigned missing = wanted & ~in_l2.valid;
        if (kind == Kind::Read || kind == Kind::ReadPastL1) {
            stats.l2_reads += count(wanted);
            stats.l2_read_hits += count(wanted & in_l2.valid);
            for (const unsigned half : {3u, 12u})
                if ((missing & half) && !(in_l2.valid & half)) stats.fetched_sectors += 2;
        } else {
            if (kind != Kind::Atomic) stats.l2_writes += count(wanted);
            if (kind != Kind::Atomic) stats.changed += count(wanted & in_l2.valid & ~in_l2.dirty);
            in_l2.dirty |= wanted;
        }
        if (kind != Kind::Write && kind != Kind::WritePart) stats.dram_reads += count(missing);
        in_l2.valid |= wanted;
    }

    std::uint64_t l1_sets, l2_sets, l1_hits = 0;
    PlainCache l1, l2;
    CacheStats stats;
};

void check_equal(const CacheStats& got, const CacheStats& expected) {
    CHECK(got.l2_reads == expected.l2_reads);
    CHECK(got.l2_read_hits == expected.l2_read_hits);
    CHECK(got.l2_writes == expected.l2_writes);
    CHECK(got.changed == expected.changed);
    CHECK(got.dram_reads == expected.dram_reads);
    CHECK(got.dram_writes == expected.dram_writes);
    CHECK(got.fetched_sectors == expected.fetched_sectors);
}

// The addresses of a warp's lanes: anywhere, near each other, or in a row.
Access random_access(std::mt19937& random, std::uint64_t words) {
    alignas(64) std::uint64_t addresses[warp_size];
    const std::uint64_t base = 0x0700'0000'0000, from = random() % words, how = random() % 4;
    for (unsigned l = 0; l < warp_size; ++l) {
        const std::uint64_t word = how == 0 ? from + l : how == 1 ? from + random() % 64 : random();
        addresses[l] = base + word % words * 4;
    }
    Access x;
    x.collect(addresses, 0, random() % 4 ? ~0u : random() | 1, 4);
    return x;
}

}  // namespace

TEST_CASE("the caches count as plain lists of lines do") {
    const auto l1_bytes = GENERATE(0u, 5'000u, 32'768u);
    const auto l2_bytes = GENERATE(2'048u, 110'000u, 1'000'000u);
    const auto words = GENERATE(2'000u, 60'000u);
    CAPTURE(l1_bytes, l2_bytes, words);
    std::mt19937 random(l1_bytes + l2_bytes + words);
    for (int launch = 0; launch < 3; ++launch) {  // the second one uses the first one's memory
        std::vector<MemorySite> sites(1);
        std::vector<L1Misses> missed(1);
        PlainModel plain(l1_bytes, l2_bytes);
        CacheReplay caches(l2_bytes, 1, {1});
        BlockL1 l1;
        BlockRun run;
        for (std::uint64_t block = 0; block < 12; ++block) {
            l1.begin_block(l1_bytes, 1, sites, missed);
            plain.begin_block();
            for (int i = 0; i < 60; ++i) {
                const Access x = random_access(random, words);
                const auto kind = random() % 2 ? Kind::Read : static_cast<Kind>(random() % 5);
                const LineParts lines(x, 0, 4);
                CHECK(lines.sectors() == x.sectors(4));
                l1.access(0, lines, 0, kind);
                for (const LinePart& part : lines)
                    plain.request(static_cast<std::uint64_t>(part.line), part.sectors, kind);
            }
            run.add(block, l1, {}, caches.sets());
            if (block % 3 == 1) caches.finish(run);
        }
        caches.finish(run);
        CHECK(sites[0].l1_hits == plain.l1_hits);
        check_equal(caches.stats(0), plain.stats);
    }
}

TEST_CASE("an L1 finds nothing of a block long ago") {
    for (const int blocks : {1, 524'286, 524'287, 524'288}) {  // their names have 19 bits
        L1Cache cache;
        cache.begin(1 << 15);
        CHECK(cache.read(77, 15) == 0);
        CHECK(cache.read(77, 15) == 15);
        for (int block = 0; block < blocks; ++block) cache.begin(1 << 15);
        CHECK(cache.read(77, 15) == 0);
    }
}

TEST_CASE("L2 tells lines apart whose signs are equal") {
    const auto sign = [](std::uint64_t line) { return hash_of_line(line) >> 48; };
    const std::uint64_t one = 1234;
    std::uint64_t other = one + 1;
    while (sign(other) != sign(one)) ++other;
    L2Cache l2(16 * 128);
    const auto hits = [&](std::uint64_t line) {
        const LineRequest request = LineRequest::of(line, 15, Kind::Read, 0);
        CacheStats stats;
        l2.request({&request, 1}, {&stats, 1});
        return stats.l2_read_hits;
    };
    CHECK(hits(one) == 0);
    CHECK(hits(other) == 0);
    CHECK(hits(one) == 4);
    CHECK(hits(other) == 4);
}

TEST_CASE("L2 knows lines that are far apart, and forgets them with the launch") {
    std::vector<LineRequest> requests;
    for (std::uint64_t i = 0; i < 3000; ++i)  // the second launch begins without what the first knew
        requests.push_back(LineRequest::of(i * 40'001 * 4096 + i, 3, Kind::Read, 0));
    for (int launch = 0; launch < 2; ++launch) {
        L2Cache l2(50 << 20);
        for (const std::uint64_t hits : {0u, 6000u}) {
            CacheStats stats;
            l2.request(requests, {&stats, 1});
            CHECK(stats.l2_read_hits == hits);
            CHECK(stats.dram_reads == 6000 - hits);
            CHECK(stats.dram_writes == 0);
        }
    }
}
