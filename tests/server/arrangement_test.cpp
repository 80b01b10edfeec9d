// Arrangement of copies: which bytes are joined and replaced, and its limits.
#include "server/arrangement.hpp"

#include <algorithm>
#include <deque>
#include <initializer_list>

#include "judge/catch.hpp"

using namespace warpgrade::server;

TEST_CASE("an arrangement keeps what copies replace, and joins what lies side by side") {
    std::deque<std::vector<std::byte>> kept;
    const auto bytes = [&](std::initializer_list<int> values) {
        for (auto& all = kept.emplace_back(); const int value : values) all.push_back(static_cast<std::byte>(value));
        return std::span(kept.back());
    };
    const auto holds = [&](const Arrangement::Run& run, std::uint64_t address, std::initializer_list<int> values) {
        return run.address == address && std::ranges::equal(run.bytes, bytes(values));
    };
    Arrangement arrangement;
    CHECK(arrangement.add(wire::Region::range(100, 6), bytes({1, 2, 3, 4, 5, 6})));
    CHECK(arrangement.add(wire::Region::range(102, 2), bytes({7, 8})));
    CHECK(arrangement.add(wire::Region::range(106, 1), bytes({9})));
    CHECK(arrangement.add({110, 4, 1, 2}, bytes({10, 11})));
    CHECK(arrangement.add(wire::Region::range(99, 1), bytes({0})));
    CHECK(arrangement.add(wire::Region::range(107, 3), bytes({20, 21, 22})));
    CHECK(arrangement.add(wire::Region::range(106, 3), bytes({30, 31, 32})));
    const auto runs = arrangement.take();
    REQUIRE(runs.size() == 7);
    CHECK(holds(runs[0], 100, {1, 2, 3, 4, 5, 6}));
    CHECK(holds(runs[1], 106, {9, 20, 21, 22}));
    CHECK(holds(runs[2], 99, {0}));
    CHECK(holds(runs[3], 102, {7, 8}));
    CHECK(holds(runs[4], 106, {30, 31, 32}));
    CHECK(holds(runs[5], 110, {10}));
    CHECK(holds(runs[6], 114, {11}));
    CHECK(arrangement.take().empty());
}

TEST_CASE("many remains of replaced copies are part of an arrangement, few are not") {
    const std::vector<std::byte> two(2), one(1, std::byte{1});
    for (const std::size_t copies : {Arrangement::max_remains, Arrangement::max_remains + 1}) {
        Arrangement arrangement;
        for (std::size_t i = 0; i < copies; ++i) {
            arrangement.add(wire::Region::range(10 * i, 2), two);
            arrangement.add(wire::Region::range(10 * i, 1), one);
        }
        const auto runs = arrangement.take();
        REQUIRE(runs.size() == 2 * copies);  // those that were replaced, and the last
        CHECK(runs.front().bytes.size() == 2);
        CHECK(runs.back().bytes.size() == (copies == Arrangement::max_remains ? 1 : 2));
    }
}

TEST_CASE("data that is sent again changes nothing") {
    const std::vector<std::byte> four{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    const auto part = [&](std::size_t from, std::size_t count) { return std::span(four).subspan(from, count); };
    Arrangement arrangement;
    for (int time = 0; time < 2; ++time)
        for (std::size_t i = 0; i < 4; i += 2) arrangement.add(wire::Region::range(10 + i, 2), part(i, 2));
    arrangement.add(wire::Region::range(12, 1), part(2, 1));
    auto runs = arrangement.take();
    REQUIRE(runs.size() == 1);
    CHECK((runs[0].address == 10 && std::ranges::equal(runs[0].bytes, four)));
    // Other data there, and data that goes on where a run ends, are changes.
    arrangement.add(wire::Region::range(10, 4), four);
    arrangement.add(wire::Region::range(11, 1), part(0, 1));
    CHECK(arrangement.take().size() > 1);
    arrangement.add(wire::Region::range(10, 2), part(0, 2));
    arrangement.add(wire::Region::range(11, 2), part(1, 2));
    runs = arrangement.take();
    CHECK(runs.back().bytes.size() == 2);
}

TEST_CASE("an arrangement leaves long copies as they are") {
    const std::vector<std::byte> all(4096);
    Arrangement arrangement;
    CHECK(arrangement.add(wire::Region::range(0, all.size()), all));
    CHECK(arrangement.add(wire::Region::range(2 * all.size(), all.size()), all));
    CHECK(arrangement.add(wire::Region::range(all.size(), all.size()), all));
    auto runs = arrangement.take();
    REQUIRE(runs.size() == 3);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        CHECK(runs[i].address == i * all.size());
        CHECK(runs[i].bytes.data() == all.data());
    }
    CHECK(arrangement.add(wire::Region::range(0, all.size()), all));
    CHECK(arrangement.add(wire::Region::range(all.size(), all.size() - 1), std::span(all).subspan(1)));
    const std::vector<std::byte> ones(8, std::byte{1});
    CHECK(arrangement.add(wire::Region::range(8, 8), ones));
    runs = arrangement.take();
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].bytes.size() == 2 * all.size() - 1);
    CHECK(runs[1].address == 8);
}

TEST_CASE("an arrangement whose joined copies are cut for ever has an end") {
    Arrangement arrangement;
    const std::vector<std::byte> large(1 << 20), small(1, std::byte{1});
    arrangement.add(wire::Region::range(0, large.size()), large);
    bool all = true;
    for (std::uint64_t i = 0; i < 4000 && all; ++i) {
        arrangement.add(wire::Region::range(large.size(), 1), small);
        all = arrangement.add(wire::Region::range(500'000 + i, 1), small);
    }
    CHECK_FALSE(all);
}

TEST_CASE("an arrangement holds a million pieces, and takes no more") {
    Arrangement arrangement;
    const std::vector<std::byte> small[] = {{std::byte{0}}, {std::byte{1}}};
    std::size_t taken = 1;
    const auto add = [&] { return arrangement.add(wire::Region::range(100, 1), small[taken % 2]); };
    while (add() && taken < 1 << 21) ++taken;
    CHECK(taken == 1 << 20);  // replaced runs count
    ++taken;
    CHECK_FALSE(add());
    CHECK(arrangement.take().size() == taken - 1);
    CHECK(add());
}
