// The order of marks against a second implementation of the words in marks.hpp, one granule at a time; and which of
// several findings are reported.
#include <algorithm>
#include <random>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/shadow/findings.hpp"
#include "vgpu/shadow/marks.hpp"

using namespace warpgrade::vgpu;
namespace device = warpgrade::device;
namespace rules = warpgrade::device::rules;

namespace {

struct Turns {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;  // when each turn began, and its block
    TurnLog log;
    void begin(std::uint64_t time, std::uint64_t block) {
        all.emplace_back(time, block);
        log.begin(time, block);
    }
    [[nodiscard]] std::optional<std::uint64_t> block_at(std::uint64_t time) const {
        std::optional<std::uint64_t> found;
        for (const auto& [from, block] : all)
            if (from <= time) found = block;
        return found;
    }
};

bool has(Mark m, Mark bits) { return (m & bits) != 0; }

// True if it is a mark of this block, as far as the observer can tell.
bool is_own(Mark m, const Observer& o, const Turns& turns) {
    if (m >= o.turn) return true;
    if (m < o.settled || has(m, mark::several_blocks) || !o.turns) return false;
    return turns.block_at(mark::time_of(m)) == turns.all.back().second;
}
bool is_own_warp(Mark m, const Observer& o) {
    return (m & mark::warp_bits) == (o.me & mark::warp_bits) && !has(m, mark::several_warps);
}
bool comes_before(Mark m, const Observer& o, Mark who, const Turns& turns) {
    if (m < o.settled) return true;
    if (!is_own(m, o, turns) || has(m, mark::several_blocks)) return false;
    if (!is_own_warp(m, o)) return m < o.bound;
    const bool own_lane = (m & mark::lane_bits) == (who & mark::lane_bits) && !has(m | who, mark::several_lanes);
    return own_lane || m < o.warp_bound;
}

class Moments {
  public:
    explicit Moments(unsigned seed) : random_(seed) {
        std::uint64_t turn = 0;
        for (std::uint64_t t = 1; t <= now; t += 1 + below(8)) turns.begin(t, below(3)), turn = t;
        o.me = mark::at_time(now) | mark::of_site(9) | below(3) << mark::kind_shift | Mark{below(3)} << 5;
        o.bound = mark::at_time(below(now + 1));
        o.warp_bound = std::max(o.bound, mark::at_time(below(now + 1)));
        o.turn = below(4) ? mark::at_time(turn) : 0;
        o.settled = std::min(o.turn, mark::at_time(below(now + 1)));
        o.settled_reads = mark::at_time(below(now + 1));
        if (below(2)) o.turns = &turns.log;
    }
    std::uint64_t below(std::uint64_t most) { return random_() % most; }
    Mark any() {
        if (below(8) == 0) return mark::at_time(1 + below(now));  // of the first thread, by the first instruction
        Mark m = mark::at_time(1 + below(now)) | mark::of_site(3) | below(4) << mark::kind_shift | below(3) << 5;
        m |= below(3);
        if (below(4) == 0) m |= mark::several_lanes;
        if (below(4) == 0) m |= mark::several_warps;
        if (m < o.turn && below(4) == 0) m |= mark::several_blocks;
        return m;
    }
    Mark who() { return below(3) | (below(4) == 0 ? mark::several_lanes : 0); }

    static constexpr std::uint64_t now = 20;
    Turns turns;
    Observer o;

  private:
    std::mt19937_64 random_;
};

GranuleShape one_granule(Mark who) {
    GranuleShape shape;
    shape.runs = {{0, 1, 0}};
    shape.who = {who};
    return shape;
}

constexpr unsigned rounds = 40'000;

}  // namespace

TEST_CASE("marks: what comes before what, as the words say") {
    unsigned ordered = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        Moments moments(round);
        const Mark m = moments.any(), who = moments.who();
        INFO("round " << round);
        REQUIRE(is_ordered(m, moments.o, who) == comes_before(m, moments.o, who, moments.turns));
        ordered += is_ordered(m, moments.o, who);
    }
    CHECK((ordered > rounds / 10 && ordered < rounds - rounds / 10));
}

TEST_CASE("marks: a load is fine after the write, and is remembered with the reads that have no order with it") {
    for (unsigned round = 0; round < rounds; ++round) {
        Moments moments(round);
        const Observer& o = moments.o;
        const Observer reading = o;
        const Mark write = moments.any(), read = moments.any(), who = moments.who();
        const Mark since = moments.below(3) ? 0 : mark::at_time(moments.below(6));
        Mark writes = write, reads = read;
        const bool fine = note_load({&writes, &reads}, one_granule(who), 0, o, since);
        INFO("round " << round);
        REQUIRE(fine == (comes_before(write, o, who, moments.turns) && write >= since));
        REQUIRE(writes == write);
        const Mark mine = who | o.me;
        if (comes_before(read, reading, who, moments.turns)) {
            REQUIRE(reads == mine);
        } else {
            // The first read with its time; how far apart the reads are; and plain if one of them is.
            REQUIRE(mark::time_of(reads) == mark::time_of(read));
            REQUIRE(mark::thread_of(reads & ~mark::several_lanes) == mark::thread_of(read & ~mark::several_lanes));
            const Mark apart = !is_own(read, o, moments.turns) ? mark::several_blocks
                               : is_own_warp(read, o)          ? mark::several_lanes
                                                               : mark::several_warps;
            REQUIRE(has(reads, apart));
            const Mark flags = mark::several_lanes | mark::several_warps | mark::several_blocks;
            REQUIRE((reads & flags & ~apart) == (read & flags & ~apart));
            REQUIRE((reads & mark::kind) == (read & o.me & mark::kind));
        }
        Mark alone = write;
        REQUIRE(note_load({&alone, nullptr}, one_granule(who), 0, o, since) == fine);
        REQUIRE(alone == write);
    }
}

TEST_CASE("marks: a store is fine after the write and all reads, and leaves its own") {
    unsigned fine_ones = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        Moments moments(round);
        const Observer& o = moments.o;
        const Mark write = moments.any(), read = moments.any(), who = moments.who();
        Mark writes = write, reads = read;
        const bool fine = note_store({&writes, &reads}, one_granule(who), 0, o);
        Observer for_reads = o;
        for_reads.settled = std::max(o.settled, o.settled_reads);
        INFO("round " << round);
        const bool expected =
            comes_before(write, o, who, moments.turns) && comes_before(read, for_reads, who, moments.turns);
        REQUIRE(fine == expected);
        REQUIRE(writes == (fine ? who | o.me : write));
        REQUIRE(reads == read);
        fine_ones += fine;
        // When forced, it always leaves its own mark, except where a weaker mark of this block must stay for others to
        // find.
        for (const bool keep_weaker : {false, true}) {
            writes = write;
            force_store({&writes, &reads}, one_granule(who), 0, o, keep_weaker);
            const bool own =
                write >= o.turn || (write >= o.settled && o.turns &&
                                    moments.turns.block_at(mark::time_of(write)) == moments.turns.all.back().second);
            const Mark kind = write & mark::kind;
            const bool kept =
                keep_weaker && own && write >= o.settled && (kind == mark::plain || kind == mark::block_scope);
            REQUIRE(writes == (kept ? write : who | o.me));
        }
    }
    CHECK(fine_ones > rounds / 20);
}

TEST_CASE("marks of shared memory: the shorter rules give what the general ones give") {
    unsigned fine_ones = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        Moments moments(round);
        BlockObserver o{moments.o};
        o.turn = o.settled = o.settled_reads = 0;
        o.turns = nullptr;
        GranuleShape shape;
        std::vector<Mark> writes, reads;
        for (std::uint32_t i = 0, count = 1 + static_cast<std::uint32_t>(moments.below(9)); i < count; ++i) {
            shape.who.push_back(moments.who());
            const bool old = moments.below(4) != 0;
            writes.push_back(old ? mark::at_time(1) : moments.any() & ~mark::several_blocks);
            reads.push_back(old ? Mark{0} : moments.any() & ~mark::several_blocks);
        }
        shape.runs = {{0, static_cast<std::uint32_t>(shape.who.size()), 0}};
        const Mark since = mark::at_time(moments.below(3));
        INFO("round " << round);
        for (const bool load : {true, false}) {
            auto short_writes = writes, short_reads = reads, long_writes = writes, long_reads = reads;
            const MarkedMemory by_short{short_writes.data(), short_reads.data()},
                by_long{long_writes.data(), long_reads.data()};
            const Observer& general = o;
            const bool fine = load ? note_load(by_short, shape, 0, o, since) : note_store(by_short, shape, 0, o);
            REQUIRE(fine ==
                    (load ? note_load(by_long, shape, 0, general, since) : note_store(by_long, shape, 0, general)));
            REQUIRE(short_writes == long_writes);
            REQUIRE(short_reads == long_reads);
            fine_ones += fine;
        }
    }
    CHECK((fine_ones > rounds / 10 && fine_ones < 2 * rounds - rounds / 10));
}

TEST_CASE("turns of blocks: whose it was at a moment, and whose the last one") {
    TurnLog turns;
    CHECK_FALSE(turns.last());
    CHECK_FALSE(turns.block_at(mark::at_time(5)));
    turns.begin(3, 7), turns.begin(5, 7), turns.begin(8, 2), turns.begin(9, 7);
    CHECK_FALSE(turns.block_at(mark::at_time(2)));
    CHECK(turns.block_at(mark::at_time(3)) == 7);
    CHECK(turns.block_at(mark::at_time(7) | mark::several_lanes) == 7);
    CHECK(turns.block_at(mark::at_time(8)) == 2);
    CHECK(turns.block_at(mark::at_time(100)) == 7);
    CHECK(turns.last() == 7);
    CHECK(turns.is_own(mark::at_time(4)));
    CHECK_FALSE(turns.is_own(mark::at_time(8)));
}

TEST_CASE("marks hold what they are made of") {
    const Mark m = mark::at_time(123) | mark::of_site(45) | mark::is_volatile | 0x2A5;
    CHECK((mark::time_of(m) == 123 && mark::site_of(m) == 45 && mark::thread_of(m) == 0x2A5));
    CHECK(mark::site_of(mark::of_site(1 << 20)) == mark::unknown_site);
    CHECK(mark::site_of(mark::of_site(mark::unknown_site - 1)) == mark::unknown_site - 1);
    CHECK_FALSE(mark::is_atomic(m));
    CHECK((mark::is_atomic(mark::block_scope) && mark::is_atomic(mark::atomic) && !mark::is_atomic(mark::plain)));
    CHECK((mark::is_block_scope(mark::block_scope) && !mark::is_block_scope(mark::atomic) && !mark::is_block_scope(m)));
}

namespace {

device::Diagnostic finding(const device::Rule& rule, std::uint32_t line, std::uint32_t other, bool known = true) {
    device::Diagnostic d;
    d.rule = &rule;
    d.place = {"k.cu", line, 0};
    d.related.push_back({"written by", {"k.cu", other, 0}, std::nullopt});
    if (known) d.related[0].thread = device::ThreadPlace{};
    return d;
}

std::vector<std::uint32_t> left(std::vector<device::Diagnostic> all) {
    tidy(all);
    std::vector<std::uint32_t> lines;
    for (const auto& d : all) lines.push_back(d.place.line);
    return lines;
}

using Lines = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("of findings that say the same the better one is told") {
    const auto unwritten = finding(rules::uninitialized_shared, 5, 4);
    CHECK(left({unwritten, finding(rules::race_shared, 4, 9)}) == Lines{4});
    CHECK(left({unwritten, finding(rules::race_shared, 9, 5)}) == Lines{9});
    CHECK(left({unwritten, finding(rules::race_warp, 9, 4)}) == Lines{9});
    CHECK(left({unwritten, finding(rules::race_shared, 9, 8)}) == Lines{5, 9});
    CHECK(left({unwritten, finding(rules::race_global, 4, 9)}) == Lines{5, 4});
    CHECK(left({unwritten, finding(rules::uninitialized_global, 4, 5)}) == Lines{5, 4});
    // A finding with an unknown party.
    const auto known = finding(rules::race_shared, 5, 4), unknown = finding(rules::race_shared, 5, 0, false);
    CHECK(left({unknown, known}) == Lines{5});
    CHECK(left({unknown}) == Lines{5});
    CHECK(left({unknown, unknown}) == Lines{5, 5});
    CHECK(left({unknown, finding(rules::race_shared, 6, 4)}) == Lines{5, 6});
    CHECK(left({unknown, finding(rules::race_global, 5, 4)}) == Lines{5, 5});
    // A race inside a warp that is also one between warps, whichever came first.
    const auto in_warp = finding(rules::race_warp, 5, 4);
    CHECK(left({in_warp, known}) == Lines{5});
    CHECK(left({in_warp, finding(rules::race_shared, 4, 5)}) == Lines{4});
    CHECK(left({in_warp, finding(rules::race_shared, 5, 3)}) == Lines{5, 5});
    CHECK(left({in_warp, finding(rules::race_global, 5, 4)}) == Lines{5, 5});
    CHECK(left({known, known}) == Lines{5, 5});
}

TEST_CASE("findings of several host threads: counted together, told as the first block has them, in their order") {
    Findings first, second;
    first.add(rules::race_shared, 5, 1, 2)->message = "block 5";
    first.add(rules::race_shared, 5, 1, 2);
    first.add(rules::race_shared, 6, 3)->message = "block 6";
    second.add(rules::race_shared, 2, 1, 2)->message = "block 2";
    CHECK_FALSE(second.add(rules::race_shared, 4, 1, 2));
    CHECK(second.add(rules::race_shared, 4, 1, 3));
    CHECK(second.add(rules::race_warp, 4, 1, 2));
    for (const bool turned : {false, true}) {
        Findings one = first, two = second;
        Findings* parts[] = {turned ? &two : &one, turned ? &one : &two};
        const auto found = Findings::merge(parts);
        REQUIRE(found.size() == 4);
        CHECK((found[0].message == "block 2" && found[0].count == 4));
        CHECK((found[1].rule == &rules::race_shared && found[1].count == 1));
        CHECK(found[2].rule == &rules::race_warp);
        CHECK(found[3].message == "block 6");
    }
}

TEST_CASE("of more findings than are told, a kind that is told gives way to none of its own, but to a new kind") {
    const auto told = [](bool with_third_kind) {
        Findings all;
        constexpr std::uint32_t room = Findings::max_findings - 1;
        for (std::uint32_t i = 0; i < room; ++i)
            all.add(rules::uninitialized_global, 0, i)->message = std::to_string(i);
        all.add(rules::race_global, 1, 1)->message = "first race";
        all.add(rules::race_global, 2, 2)->message = "second race";
        if (with_third_kind) all.add(rules::race_shared, 3, 3)->message = "third kind";
        all.add(rules::uninitialized_global, 4, room)->message = "late";
        Findings* parts[] = {&all};
        std::vector<std::string> messages;
        for (const auto& d : Findings::merge(parts)) messages.push_back(d.message);
        return messages;
    };
    std::vector<std::string> expected;
    for (std::size_t i = 0; i + 1 < Findings::max_findings; ++i) expected.push_back(std::to_string(i));
    expected.push_back("first race");
    CHECK(told(false) == expected);
    expected[Findings::max_findings - 2] = "third kind";
    CHECK(told(true) == expected);
}
