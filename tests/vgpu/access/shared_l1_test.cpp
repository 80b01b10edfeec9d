// What blocks find in L1 because another block of their multiprocessor has loaded it.
#include "vgpu/access/shared_l1.hpp"

#include <vector>

#include "judge/catch.hpp"

using namespace warpgrade::vgpu;

namespace {

constexpr std::uint64_t l1_bytes = 64 << 10;
constexpr std::uint64_t l1_lines = l1_bytes / line_bytes;

// Whole lines, one after the other, in `rounds`.
std::vector<LineRequest> lines(std::uint64_t first, std::uint64_t count, int rounds = 1,
                               LineRequest::Kind kind = LineRequest::Kind::Read) {
    std::vector<LineRequest> all;
    for (int round = 0; round < rounds; ++round)
        for (std::uint64_t i = 0; i < count; ++i) all.push_back(LineRequest::of(first + i, 15, kind, 0));
    return all;
}

}  // namespace

TEST_CASE("a block finds what one before it on the same multiprocessor has loaded") {
    SharedL1 l1({2, 1, l1_bytes}, 1);
    l1.add(0, lines(100, 64));
    CHECK(l1.found(0).found == 0);
    l1.add(1, lines(100, 64));  // on the other multiprocessor
    CHECK(l1.found(0).found == 0);
    l1.add(2, lines(100, 64));
    CHECK((l1.found(0).found == 4 * 64 && l1.found(0).asked == 3 * 4 * 64));
    l1.add(4, lines(500, 4 * l1_lines));
    l1.add(6, lines(100, 64));  // has been thrown out
    CHECK(l1.found(0).found == 4 * 64);
}

TEST_CASE("blocks that are there at the same time share L1") {
    const auto found = [](std::uint32_t at_once, bool same) {
        SharedL1 l1({1, at_once, l1_bytes, 4}, 1);
        for (std::uint64_t block = 0; block < 4; ++block) l1.add(block, lines(same ? 9 : block << 20, l1_lines / 3, 3));
        return static_cast<double>(l1.found(0).found) / static_cast<double>(l1.found(0).asked);
    };
    CHECK(found(1, false) > 0.6);  // each finds its own lines in the second and third round
    CHECK(found(4, false) < 0.1);  // four times as much does not fit
    CHECK(found(4, true) > 0.9);
}

TEST_CASE("loads that L1 may serve find what such loads brought, and what stores filled") {
    using Kind = LineRequest::Kind;
    for (const auto kind : {Kind::ReadPastL1, Kind::Write, Kind::WritePart, Kind::Atomic, Kind::Read}) {
        SharedL1 l1({1, 1, l1_bytes}, 1);
        l1.add(0, lines(7, 10, 1, kind));
        l1.add(1, lines(7, 10));
        CHECK((l1.found(0).found > 0) == (kind == Kind::Read || kind == Kind::Write));
        CHECK(l1.found(0).asked == (kind == Kind::Read ? 80u : 40u));
    }
}

TEST_CASE("of a large device a few multiprocessors stand for all") {
    const SharedL1 large({132, 1, l1_bytes}, 1), small({4, 1, l1_bytes}, 1);
    int sampled = 0;
    for (std::uint64_t block = 0; block < 132; ++block) {
        sampled += large.samples(block);
        CHECK(large.samples(block) == large.samples(block + 132));
        CHECK(small.samples(block));
    }
    CHECK((sampled >= 4 && sampled <= 8));
}

TEST_CASE("the first blocks of a long launch are enough") {
    SharedL1 l1({1, 1, l1_bytes}, 1);
    std::uint64_t block = 0;
    for (; block < 200 && l1.samples(block); ++block) l1.add(block, lines(block << 20, SharedL1::max_requests));
    CHECK((block > 2 && block < 100));
    const std::uint64_t asked = l1.found(0).asked;
    l1.add(block, lines(0, 10));  // was on its way when the last one came
    CHECK(l1.found(0).asked == asked);
}

TEST_CASE("each multiprocessor has enough by itself, and looks up what it has when its last block comes") {
    constexpr std::uint64_t blocks = 100;
    SharedL1 l1({2, 64, l1_bytes, blocks}, 1);
    for (int i = 0; i < 20 && l1.samples(0); ++i) l1.add(0, lines(0, SharedL1::max_requests));
    const std::uint64_t asked = l1.found(0).asked;
    CHECK(asked > 0);  // although fewer blocks came than are there at the same time
    l1.add(1, lines(0, 10));
    CHECK((l1.samples(1) && l1.samples(97) && !l1.samples(98)));
    CHECK(l1.found(0).asked == asked);
    l1.add(99, lines(0, 10));
    CHECK(l1.found(0).asked == asked + 4 * 20);
    CHECK(l1.found(0).found == asked / 8 * 7 + 4 * 10);  // eight blocks had asked for the same
}
