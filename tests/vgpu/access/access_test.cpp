// What one warp-level access touches, compared with the definitions: any shape, any mask, any size.
#include "vgpu/access/access.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "judge/catch.hpp"
#include "vgpu/access/lines.hpp"
#include "vgpu/access/site.hpp"
#include "vgpu/access/site_match.hpp"

using namespace warpgrade::vgpu;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Lanes {
    alignas(64) u64 address[warp_size];
    u32 mask;
    unsigned bytes;

    [[nodiscard]] Access access() const {
        Access x;
        x.collect(address, 0, mask, bytes);
        return x;
    }
    // Calls f(lane, address) for the lanes that take part.
    template <class F>
    void each(F&& f) const {
        for (unsigned l = 0; l < warp_size; ++l)
            if (mask >> l & 1) f(l, address[l]);
    }
};

// Calls f for shapes as programs form them, and some that none forms, with all kinds of masks.
void for_many(const std::function<void(const Lanes&)>& f) {
    std::mt19937 random(11);
    const auto any = [&] { return static_cast<u32>(random()); };
    const u32 masks[] = {~0u,         1u,          0x80000000u, 0xffffu,     0xffff0000u,
                         0xffffff00u, 0x00ff00ffu, 0x55555555u, 0x7fffffffu, 6u};
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
        for (const u32 chosen : masks) {
            for (int shape = 0; shape < 21; ++shape) {
                Lanes lanes{{}, shape > 17 ? any() | 1 : chosen, bytes};
                const u64 base = u64{0x10000} + bytes * (any() % (384 / bytes));
                for (unsigned l = 0; l < warp_size; ++l) {
                    const unsigned element[] = {l,
                                                0,
                                                31 - l,
                                                2 * l,
                                                l / 2,
                                                32 * l,
                                                33 * l,
                                                l ^ 5,
                                                l % 8,
                                                l / 8,
                                                l / 8 * 32,
                                                l + l / 16,
                                                l == 31 ? 90 : l,
                                                l % 8 + l / 8 * 24,
                                                l % 8 + l / 8 * 39,
                                                l % 8 + (3 - l / 8) * 24,
                                                l < 8    ? 0
                                                : l < 16 ? 33
                                                         : l - 16,
                                                8 * l,
                                                l ^ 8,
                                                any() % 64,
                                                any() % 700};
                    lanes.address[l] = base + u64{element[shape]} * bytes;
                }
                CAPTURE(bytes, lanes.mask, shape, base);
                f(lanes);
            }
        }
    }
}

std::vector<std::pair<std::int64_t, unsigned>> pairs(const LinePart* begin, const LinePart* end) {
    std::vector<std::pair<std::int64_t, unsigned>> list;
    for (; begin != end; ++begin) list.emplace_back(begin->line, static_cast<unsigned>(begin->sectors));
    std::ranges::sort(list);
    return list;
}

// The lines of the addresses plus `shift`, with their sectors.
std::vector<std::pair<std::int64_t, unsigned>> lines_of(const Lanes& lanes, u64 shift) {
    std::map<std::int64_t, unsigned> touched;
    lanes.each([&](unsigned, u64 a) {
        const auto at = static_cast<std::int64_t>(a + shift);
        const std::int64_t line = (at - ((at % 128) + 128) % 128) / 128;
        touched[line] |= 1u << (at - line * 128) / 32;
    });
    return {touched.begin(), touched.end()};
}

}  // namespace

TEST_CASE("an access knows its bounds and sectors") {
    for_many([](const Lanes& lanes) {
        u64 low = ~0ULL, high = 0;
        std::set<u64> sectors;
        lanes.each([&](unsigned, u64 a) { low = std::min(low, a), high = std::max(high, a), sectors.insert(a / 32); });
        const Access x = lanes.access();
        REQUIRE((x.low == low && x.high == high && x.misaligned == 0));
        REQUIRE(x.sectors(lanes.bytes) == sectors.size());
    });
}

TEST_CASE("an address that is no multiple of its size is seen, whichever lane has it") {
    for_many([](const Lanes& even) {
        if (even.bytes == 1) return;
        Lanes lanes = even;
        const auto odd = 31u - static_cast<unsigned>(std::countl_zero(lanes.mask));
        lanes.address[odd] += lanes.bytes / 2;
        REQUIRE(lanes.access().misaligned != 0);
        lanes = even;
        for (u64& a : lanes.address) a += 1;
        REQUIRE(lanes.access().misaligned != 0);
    });
}

// In a wavefront, each bank delivers one word. A warp's accesses of 8 bytes are done in two halves, those of 16 bytes
// in four quarters; two of these together if all of their lanes that are neighbours, or all that are two apart, want
// the same. The ideal is what as many lanes need side by side.
TEST_CASE("wavefronts are the most words of a bank, of full warps and of parts of them") {
    for_many([](const Lanes& lanes) {
        const unsigned words = (lanes.bytes + 3) / 4, size = 32 / words;
        const auto most = [&](unsigned first, unsigned count) {
            std::set<u64> banks[32];
            lanes.each([&](unsigned l, u64 a) {
                if (l < first || l >= first + count) return;
                for (unsigned i = 0; i < words; ++i) banks[(a / 4 + i) % 32].insert(a / 4 + i);
            });
            std::size_t worst = 0;
            for (const auto& bank : banks) worst = std::max(worst, bank.size());
            return static_cast<u32>(worst);
        };
        const auto in_pairs = [&](unsigned first, unsigned apart) {
            bool same = true;
            lanes.each([&](unsigned l, u64 a) {
                lanes.each([&](unsigned other, u64 b) {
                    if (l / (2 * size) == first / (2 * size) && other == (l ^ apart)) same = same && a == b;
                });
            });
            return same;
        };
        u32 total = words == 1 ? most(0, 32) : 0;
        for (unsigned first = 0; words > 1 && first < 32; first += 2 * size)
            total += in_pairs(first, 1) || in_pairs(first, 2) ? most(first, 2 * size)
                                                              : most(first, size) + most(first + size, size);
        const auto active = static_cast<unsigned>(std::popcount(lanes.mask));
        const u32 ideal = words == 1 ? 1 : std::min(total, (active * words + 31) / 32);
        const auto found = lanes.access().wavefronts(lanes.bytes);
        REQUIRE(found.total == total);
        REQUIRE(found.ideal == ideal);
    });
}

TEST_CASE("an access lists the lines that it touches, each once") {
    for_many([](const Lanes& lanes) {
        const Access x = lanes.access();
        for (u64 shift = 0; shift <= 128; shift += lanes.bytes) {
            const LineParts parts(x, shift, lanes.bytes);
            REQUIRE(pairs(parts.begin(), parts.end()) == lines_of(lanes, shift));
        }
    });
}

// Lines that are 2^32 apart have one place in the table in which lanes look for each other.
TEST_CASE("an access lists the lines of irregular lanes in the order of the lanes that touch them first") {
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        const u64 near = 1 + random() % 40, far = 1 + random() % 4;
        Lanes lanes{{}, random() % 2 ? ~0u : static_cast<u32>(random()) | 1, 4};
        for (u64& a : lanes.address) a = ((random() % far << 32) + random() % near) * 128 + random() % 32 * 4;
        std::vector<std::pair<std::int64_t, unsigned>> expected;
        lanes.each([&](unsigned, u64 a) {
            const auto line = static_cast<std::int64_t>(a / 128);
            auto known = std::ranges::find(expected, line, &std::pair<std::int64_t, unsigned>::first);
            if (known == expected.end()) known = expected.insert(known, {line, 0});
            known->second |= 1u << a % 128 / 32;
        });
        u32 sectors = 0;
        for (const auto& [line, bits] : expected) sectors += static_cast<u32>(std::popcount(bits));
        const LineParts parts(lanes.access(), 0, 4);
        REQUIRE(std::ranges::equal(parts, expected, [](const LinePart& part, const auto& other) {
            return part.line == other.first && part.sectors == other.second;
        }));
        REQUIRE(parts.sectors() == sectors);
    }
}

// L1 looks up ten lines in three cycles, and its banks deliver a word each in one.
TEST_CASE("L1 takes the cycles of the lines or of the busiest bank, whichever are more") {
    std::mt19937 random(4);
    for (int round = 0; round < 2000; ++round) {
        const u32 banks = 1 + random() % 32, rows = 1 + random() % 40;
        Lanes lanes{{}, ~0u, 4};
        for (u64& a : lanes.address) a = random() % rows * 128 + random() % banks * 4;
        std::set<u64> words[32];
        lanes.each([&](unsigned, u64 a) { words[a / 4 % 32].insert(a); });
        std::size_t busiest = 0;
        for (const auto& bank : words) busiest = std::max(busiest, bank.size());
        for (const std::size_t lines : {1u, 5u, 12u, 32u})
            REQUIRE(lanes.access().l1_cycles(4, lines) ==
                    std::max((3 * lines + 5) / 10, std::max<std::size_t>(busiest, 1)));
    }
}

// Local memory is interleaved by lane: word i of all lanes is a row of 128 bytes.
TEST_CASE("a local access touches its lanes' words in rows") {
    for_many([](const Lanes& lanes) {
        u32 total = 0;
        for (unsigned i = 0; i < (lanes.bytes + 3) / 4; ++i) {
            std::set<u64> sectors;
            lanes.each([&](unsigned l, u64 a) { sectors.insert((a / 4 + i) * 4 + l / 8); });
            total += static_cast<u32>(sectors.size());
        }
        REQUIRE(local_sectors(lanes.access(), lanes.bytes) == total);
        if (lanes.address[std::countr_zero(lanes.mask)] % 4 != 0) return;
        Pattern p;
        p.learn(lanes.access(), lanes.bytes);
        REQUIRE(p.local_sectors_anywhere() == total);
        REQUIRE(p.local_sectors_anywhere() == total);  // from memory this time
    });
}

TEST_CASE("a shape that is known again costs what its addresses cost") {
    Pattern p;  // one for all: nothing of the earlier shape may remain
    for_many([&](const Lanes& lanes) {
        const Access x = lanes.access();
        p.learn(x, lanes.bytes);
        REQUIRE(p.is(x, lanes.bytes));
        REQUIRE_FALSE(p.is(x, lanes.bytes * 2));
        REQUIRE(p.matches(lanes.address));
        for (const u64 shift : {u64{0}, u64{16}, u64{48}, u64{96}, ~u64{15}}) {
            Lanes moved = lanes;
            for (u64& a : moved.address) a += shift;
            const Access there = moved.access();
            const u64 first = moved.address[std::countr_zero(lanes.mask)];
            REQUIRE(p.matches(moved.address));
            u32 narrow[warp_size];
            for (unsigned l = 0; l < warp_size; ++l) narrow[l] = static_cast<u32>(moved.address[l]);
            REQUIRE(p.matches(narrow));
            const Access placed = p.at(first);
            REQUIRE((placed.low == there.low && placed.high == there.high && placed.mask == there.mask));
            REQUIRE(p.sectors_at(first) == there.sectors(lanes.bytes));
            const auto waves = p.wavefronts_anywhere(), right = there.wavefronts(lanes.bytes);
            if (first % 4 == 0) REQUIRE((waves.total == right.total && waves.ideal == right.ideal));
            // Constant memory delivers one word at a time, of four bytes or as large as what a lane loads.
            std::set<u64> words;
            moved.each([&](unsigned, u64 a) { words.insert(a / std::max(lanes.bytes, 4u)); });
            REQUIRE(p.words_at(first) == words.size());
            if (first % 4 == 0) REQUIRE(p.local_sectors_anywhere() == local_sectors(there, lanes.bytes));
            if (lanes.bytes >= 4) {
                GranuleShape granules;
                granules.learn(there, lanes.bytes, 2);
                const GranuleShape& known = p.granules(2);
                REQUIRE((known.who == granules.who && known.overlap == granules.overlap));
                REQUIRE(std::ranges::equal(known.runs, granules.runs, [](const auto& a, const auto& b) {
                    return a.begin == b.begin && a.count == b.count && a.who == b.who;
                }));
            }
            // Line numbers relative to the line of `first`.
            const auto& parts = p.lines_at(first).parts;
            REQUIRE(pairs(parts.data(), parts.data() + parts.size()) == lines_of(moved, 0 - first / 128 * 128));
        }
        // A lane at another address makes another shape, unless the lane does not take part.
        for (const unsigned l : {0u, 5u, 31u}) {
            Lanes other = lanes;
            other.address[l] += 64;
            const bool alone = lanes.mask == 1u << l;
            REQUIRE(p.matches(other.address) == (alone || !(lanes.mask >> l & 1)));
        }
    });
}

TEST_CASE("shapes that share a place in the pool replace each other") {
    PatternPool pool;
    for_many([&](const Lanes& lanes) {
        Pattern* const p = pool.find(lanes.access(), lanes.bytes);
        REQUIRE(p->matches(lanes.address));
        REQUIRE(pool.find(lanes.access(), lanes.bytes) == p);
    });
}

TEST_CASE("words are loaded together for the lanes that take part") {
    alignas(32) std::byte memory[4096];
    for (u32 i = 0; i < 1024; ++i) std::memcpy(memory + 4 * i, &i, 4);
    std::map<Pattern::Words, unsigned> seen;
    for_many([&](const Lanes& lanes) {
        if (lanes.bytes != 4) return;
        Pattern p;
        p.learn(lanes.access(), 4);
        ++seen[p.words];
        if (p.words == Pattern::Words::Apart) return;
        const u64 base = *std::ranges::min_element(lanes.address), first = lanes.address[p.leader];
        if (lanes.access().high - base + 64 > sizeof memory) return;
        u64 reach = 0;
        for (const u64 window : p.window)
            reach = std::max(reach, window + first + (p.words == Pattern::Words::One ? 4 : 32));
        REQUIRE(p.reach + first == reach);
        alignas(32) u32 d[warp_size];
        std::ranges::fill(d, 7777u);
        load_words(d, memory + (first - base), p);
        for (unsigned l = 0; l < warp_size; ++l)
            REQUIRE(d[l] == (lanes.mask >> l & 1 ? (lanes.address[l] - base) / 4 : 7777u));
    });
    for (const auto words : {Pattern::Words::Windows, Pattern::Words::Adjacent, Pattern::Words::One})
        CHECK(seen[words] > 0);
}

TEST_CASE("words that are farther apart than 2 GiB are loaded") {
    constexpr u64 apart = u64{100} << 20;
    const HostPages memory(warp_size * apart);
    alignas(32) u32 d[warp_size];
    alignas(64) u64 address[warp_size];
    for (const u32 mask : {full_mask, 0x7ffffffeu}) {
        for (u32 l = 0; l < warp_size; ++l) {
            address[l] = l * apart;
            std::memcpy(memory.data() + address[l], &l, sizeof l);
        }
        Access x;
        x.collect(address, 0, mask, 4);
        Pattern p;
        p.learn(x, 4);
        std::ranges::fill(d, 7777u);
        load_words(d, memory.data() + address[p.leader], p);
        for (u32 l = 0; l < warp_size; ++l) REQUIRE(d[l] == (mask >> l & 1 ? l : 7777u));
    }
}

TEST_CASE("no two lines have one hash, and lines that are any power of two apart are spread") {
    for (unsigned bit = 0; bit < 64; ++bit) CHECK(hash_of_line(u64{1} << bit) != hash_of_line(0));
    for (unsigned log = 0; log <= 40; ++log) {
        CAPTURE(log);
        std::set<u64> places;
        for (u64 i = 0; i < 64; ++i) places.insert(hash_of_line(i << log) >> 58);
        CHECK(places.size() >= 16);
    }
}
