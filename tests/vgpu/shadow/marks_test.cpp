// The marks of racecheck, and the written bytes that initcheck knows.
#include "vgpu/shadow/marks.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/memory/defined.hpp"
#include "vgpu/shadow/findings.hpp"

using namespace warpgrade::vgpu;

namespace {

// One warp's view of 64 words.
struct Words {
    std::vector<Mark> writes = std::vector<Mark>(72), reads = std::vector<Mark>(72);
    [[nodiscard]] MarkedMemory memory() { return {writes.data(), reads.data()}; }
};

Observer observer(std::uint64_t now, std::uint64_t bound, unsigned warp = 0, std::uint64_t warp_bound = 0) {
    Observer o;
    o.me = mark::at_time(now) | mark::of_site(7) | Mark{warp} << 5;
    o.bound = mark::at_time(bound);
    o.warp_bound = mark::at_time(std::max(bound, warp_bound));
    return o;
}

GranuleShape shape(const std::vector<std::uint64_t>& addresses, unsigned bytes = 4, unsigned shift = 2) {
    Access x;
    for (unsigned l = 0; l < warp_size; ++l) x.address[l] = addresses[l % addresses.size()];
    x.mask = addresses.size() >= warp_size ? full_mask : (1u << addresses.size()) - 1;
    GranuleShape s;
    s.learn(x, bytes, shift);
    return s;
}
GranuleShape row() {
    std::vector<std::uint64_t> a(warp_size);
    for (unsigned l = 0; l < warp_size; ++l) a[l] = 4 * l;
    return shape(a);
}

}  // namespace

TEST_CASE("a shape lists each granule once, with its lanes") {
    const auto all = row();
    REQUIRE(all.runs.size() == 1);
    CHECK(all.runs[0].count == 32);
    CHECK_FALSE(all.overlap);
    CHECK(all.who[5] == 5);
    const auto same = shape({8, 8, 8, 16});
    REQUIRE(same.runs.size() == 2);
    CHECK(same.overlap);
    CHECK(same.who == std::vector<Mark>{0 | mark::several_lanes, 3});
    CHECK(same.runs[1].begin == 2);
    const auto wide = shape({0, 16}, 16);  // two float4
    REQUIRE(wide.runs.size() == 1);
    CHECK(wide.who == std::vector<Mark>{0, 0, 0, 0, 1, 1, 1, 1});
    const auto backwards = shape({16, 8, 4, 8});
    REQUIRE(backwards.runs.size() == 2);
    CHECK(backwards.runs[0].begin == -3);
    CHECK(backwards.who == std::vector<Mark>{2, 1 | mark::several_lanes, 0});
    const auto bytes = shape({0, 1, 2}, 1, 0);
    CHECK(bytes.who == std::vector<Mark>{0, 1, 2});
}

TEST_CASE("a barrier orders, a moment alone does not") {
    Words words;
    const auto all = row();
    CHECK(note_store(words.memory(), all, 0, observer(5, 1)));
    CHECK(note_load(words.memory(), all, 0, observer(6, 1), 1));               // each lane reads its own word
    CHECK_FALSE(note_load(words.memory(), all, 0, observer(6, 1, 1), 1));      // another warp
    CHECK(note_load(words.memory(), all, 0, observer(7, 6, 1), 1));            // after a barrier
    CHECK_FALSE(note_load(words.memory(), all, 1, observer(6, 1), 1));         // lane 0 reads what lane 1 wrote
    CHECK(note_load(words.memory(), shape({4}), 0, observer(7, 1, 0, 6), 1));  // after __syncwarp()
}

TEST_CASE("a store asks for all reads since the last meeting") {
    const auto all = row();
    Words one;
    CHECK(note_load(one.memory(), all, 0, observer(5, 1), 0));
    CHECK(note_store(one.memory(), all, 0, observer(5, 1)));
    Words two;
    for (const unsigned warp : {0u, 1u}) CHECK(note_load(two.memory(), all, 0, observer(5, 1, warp), 0));
    CHECK_FALSE(note_store(two.memory(), all, 0, observer(5, 1, 1)));  // the other warp read as well
    CHECK(note_store(two.memory(), all, 0, observer(7, 6, 1)));
    Words lanes;
    CHECK(note_load(lanes.memory(), shape({0, 0, 0}), 0, observer(5, 1), 0));
    CHECK_FALSE(note_store(lanes.memory(), shape({0}), 0, observer(5, 1)));  // a broadcast, then one lane
    CHECK(note_store(lanes.memory(), shape({0}), 0, observer(7, 1, 0, 6)));
}

TEST_CASE("of reads by several warps, a plain one makes all of them plain") {
    Words words;
    const auto all = row();
    for (const unsigned warp : {0u, 1u}) {
        Observer o = observer(5, 1, warp);
        o.me |= mark::atomic;
        CHECK(note_load(words.memory(), all, 0, o, 0));
    }
    CHECK((words.reads[3] & mark::kind) == mark::atomic);
    CHECK(note_load(words.memory(), all, 0, observer(5, 1, 2), 0));
    for (unsigned i = 0; i < warp_size; ++i) CHECK((words.reads[i] & mark::kind) == mark::plain);
}

TEST_CASE("marks of other blocks have no order, unless it is settled") {
    Words words;
    const auto all = row();
    Observer first = observer(5, 5);
    first.turn = mark::at_time(5);
    first.settled = mark::at_time(1);
    CHECK(note_store(words.memory(), all, 0, first));
    Observer second = observer(9, 9);
    second.turn = mark::at_time(9);
    second.settled = mark::at_time(1);
    CHECK_FALSE(note_load(words.memory(), all, 0, second, 0));
    second.settled = mark::at_time(8);  // it waited for a flag of the first one
    CHECK(note_load(words.memory(), all, 0, second, 0));
    // An interrupted turn is still this block's.
    TurnLog turns;
    turns.begin(5, 0), turns.begin(7, 1), turns.begin(9, 0);
    Observer again = observer(9, 8);
    again.turn = mark::at_time(9);
    again.settled = mark::at_time(1);
    CHECK_FALSE(is_ordered(mark::at_time(5), again, 0));
    again.turns = &turns;
    CHECK(is_ordered(mark::at_time(5), again, 0));
    CHECK_FALSE(is_ordered(mark::at_time(7), again, 0));
}

// Loads and stores check four granules at a time where they can. The result must be that of checking them one by one.
TEST_CASE("four marks are judged as each of them alone is") {
    std::mt19937_64 random(7);
    const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
    const auto all = row();
    GranuleShape each = all;
    each.runs.clear();
    for (std::uint32_t i = 0; i < warp_size; ++i) each.runs.push_back({all.runs[0].begin + i, 1, all.runs[0].who + i});
    unsigned ordered = 0;
    constexpr unsigned rounds = 100'000;
    for (unsigned round = 0; round < rounds; ++round) {
        // Turns of three blocks; the last one's turn is in progress.
        const std::uint64_t times = 20, now = times;
        TurnLog turns;
        std::uint64_t turn = 0;
        for (std::uint64_t t = 1; t <= now; t += 1 + up_to(8)) turns.begin(t, up_to(2)), turn = t;
        const std::uint64_t bound = up_to(now);
        Observer o = observer(now, bound, static_cast<unsigned>(up_to(2)), up_to(now));
        o.me |= up_to(2) << mark::kind_shift;
        o.turn = up_to(3) ? mark::at_time(turn) : 0;
        o.settled = std::min(o.turn, mark::at_time(up_to(now)));
        o.settled_reads = mark::at_time(up_to(now));
        if (up_to(1)) o.turns = &turns;
        const Mark since = up_to(3) ? 0 : mark::at_time(up_to(4));
        Words four, one;
        // In some rounds all marks are new, in some all are old, and in some all are from this turn.
        const std::uint64_t oldest = up_to(1) ? mark::time_of(o.turn) : up_to(now);
        const std::uint64_t newest = std::max(oldest, up_to(2) ? std::max<std::uint64_t>(bound, 1) - 1 : now);
        const bool copies = up_to(7) == 0;
        for (std::size_t i = 0; i < warp_size; ++i) {
            const auto any = [&] {
                return mark::at_time(oldest + up_to(newest - oldest)) | mark::of_site(3) |
                       up_to(2) << mark::kind_shift | up_to(2) << 5 | (up_to(1) ? i : up_to(31)) |
                       (up_to(3) ? 0 : mark::several_lanes);
            };
            one.writes[i] = copies && up_to(20) == 0 ? mark::in_progress : any();
            one.reads[i] = any() | (up_to(1) ? mark::several_warps : 0);
            if (one.reads[i] < o.turn && up_to(3) == 0) one.reads[i] |= mark::several_blocks;
        }
        four = one;
        INFO("round " << round);
        if (up_to(1)) {
            const bool fine = note_load(one.memory(), each, 0, o, since);
            REQUIRE(note_load(four.memory(), all, 0, o, since) == fine);
            REQUIRE(four.reads == one.reads);
            ordered += fine;
        } else {
            const bool fine = note_store(one.memory(), each, 0, o);
            REQUIRE(note_store(four.memory(), all, 0, o) == fine);
            if (fine) REQUIRE(four.writes == one.writes);
            ordered += fine;
        }
    }
    CHECK(ordered > rounds / 20);
    CHECK(ordered < rounds - rounds / 20);
}

TEST_CASE("a granule that was not written since is no defined one") {
    Words words;
    CHECK_FALSE(note_load(words.memory(), row(), 0, observer(5, 3), mark::at_time(3)));
    CHECK(note_store(words.memory(), row(), 0, observer(5, 3)));
    CHECK(note_load(words.memory(), row(), 0, observer(5, 3), mark::at_time(3)));
    CHECK_FALSE(note_load(words.memory(), row(), 0, observer(8, 7), mark::at_time(7)));  // written by the block before
}

TEST_CASE("bytes are defined one by one, and a launch can be undone") {
    DefinedBytes bytes(200);
    CHECK_FALSE(bytes.complete());
    bytes.define(0, 130);
    CHECK(bytes.all(60, 70));
    CHECK_FALSE(bytes.all(60, 71));
    std::byte saved[32];
    bytes.save(0, 200, saved);
    bytes.define(130, 70);
    CHECK(bytes.complete());
    bytes.undefine(64, 1);
    CHECK_FALSE(bytes.all(0, 128));
    DefinedBytes other(16);
    other.copy(0, &bytes, 60, 8);
    CHECK(other.all(0, 4));
    CHECK_FALSE(other.all(4, 1));
    CHECK(other.all(5, 3));
    bytes.restore(0, 200, saved);
    CHECK(bytes.all(0, 130));
    CHECK_FALSE(bytes.all(130, 1));
    bytes.define(130, 70);
    CHECK(bytes.complete());
}

TEST_CASE("many mistakes of one kind hide no other kind") {
    namespace rules = warpgrade::device::rules;
    Findings first, second;
    for (std::uint32_t insn = 0; insn < 100'000; ++insn)
        CHECK((first.add(rules::uninitialized_global, 0, insn) != nullptr) == (insn < Findings::max_noted));
    CHECK(first.add(rules::race_global, 1, 7));
    CHECK_FALSE(first.add(rules::race_global, 1, 8));  // full, and a finding of this kind is there
    CHECK(second.add(rules::race_shared, 2, 7));
    Findings* parts[] = {&first, &second};
    const auto found = Findings::merge(parts);
    CHECK(found.size() == Findings::max_findings);
    const auto count = [&](const warpgrade::device::Rule& rule) {
        return std::ranges::count(found, &rule, &warpgrade::device::Diagnostic::rule);
    };
    CHECK(count(rules::race_global) == 1);
    CHECK(count(rules::race_shared) == 1);
    CHECK(count(rules::uninitialized_global) == Findings::max_findings - 2);
}

// Four granules at a time, and those that are left one by one.
TEST_CASE("an access of any number of granules asks these and marks these, and none beside them") {
    const Mark old = mark::at_time(1) | 7, recent = mark::at_time(5) | mark::of_site(7),
               foreign = mark::at_time(5) | Mark{3} << 5;
    const Observer o = observer(6, 4);
    for (const bool is_load : {true, false})
        for (const bool is_old : {true, false})
            for (std::uint32_t count = 1; count <= warp_size; ++count) {
                CAPTURE(is_load, is_old, count);
                std::vector<std::uint64_t> addresses(count);
                for (std::uint32_t l = 0; l < count; ++l) addresses[l] = 4 * l;
                const auto some = shape(addresses);
                const auto access = [&](Words& words) {
                    return is_load ? note_load(words.memory(), some, 20, o, 0)
                                   : note_store(words.memory(), some, 20, o);
                };
                Words words;
                for (std::size_t i = 0; i < words.writes.size(); ++i) {
                    const bool own = i >= 20 && i < 20 + count;
                    words.writes[i] = words.reads[i] = own ? (is_old ? old : recent | (i - 20)) : foreign;
                }
                const Words before = words;
                CHECK(access(words));
                auto& marked = is_load ? words.reads : words.writes;
                for (std::size_t i = 0; i < words.writes.size(); ++i)
                    CHECK((marked[i] != (is_load ? before.reads : before.writes)[i]) == (i >= 20 && i < 20 + count));
                CHECK((is_load ? words.writes : words.reads) == (is_load ? before.writes : before.reads));
                // Any one of them may be the one that another warp has written.
                for (std::uint32_t l = 0; l < count; ++l) {
                    words = before;
                    words.writes[20 + l] = foreign;
                    CHECK_FALSE(access(words));
                }
            }
}
