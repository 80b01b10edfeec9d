// Uploads explained by the inputs of two runs of a call, and the cost of unexplained bytes.
#include "server/pair_cover.hpp"

#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "judge/catch.hpp"

using namespace warpgrade::server;

namespace {

using Numbers = std::vector<unsigned>;

// The same in two runs.
struct Two {
    Numbers mine, other;
    [[nodiscard]] Two part(std::size_t from, std::size_t count) const {
        const auto cut = [&](const Numbers& all) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
            return Numbers(begin, begin + static_cast<std::ptrdiff_t>(count));
        };
        return {cut(mine), cut(other)};
    }
    [[nodiscard]] Two then(const Two& more) const {
        Two all = *this;
        all.mine.insert(all.mine.end(), more.mine.begin(), more.mine.end());
        all.other.insert(all.other.end(), more.other.begin(), more.other.end());
        return all;
    }
};

Two random(std::size_t count, unsigned seed) {
    std::mt19937 numbers(seed);
    Two two;
    for (std::size_t i = 0; i < count; ++i)
        two.mine.push_back(static_cast<unsigned>(numbers())), two.other.push_back(static_cast<unsigned>(numbers()));
    return two;
}
Two equal(std::size_t count, unsigned value) { return {Numbers(count, value), Numbers(count, value)}; }

struct Cover {
    PairCover pairs;
    std::deque<Two> kept;
    const Two& keep(const Two& two) { return kept.emplace_back(two); }
    void input(const Two& two, unsigned element_bytes = 4) {
        const Two& all = keep(two);
        pairs.add_source(std::as_bytes(std::span(all.mine)), std::as_bytes(std::span(all.other)), element_bytes);
    }
    void came(const Two& two) {
        const Two& all = keep(two);
        pairs.add_download(std::as_bytes(std::span(all.mine)), std::as_bytes(std::span(all.other)));
    }
    // Bytes that this costs.
    std::uint64_t up(const Two& two) {
        const std::uint64_t before = pairs.cost();
        pairs.explain(std::as_bytes(std::span(two.mine)), std::as_bytes(std::span(two.other)));
        return pairs.cost() - before;
    }
};

const Two in = random(400, 1), more = random(400, 2), strange = random(2000, 3);

}  // namespace

TEST_CASE("pairs: an input goes up from its beginning, and on from where it was left, however short the pieces") {
    Cover cover;
    cover.input(in);
    CHECK(cover.up(in.part(0, 7)) == 0);
    CHECK(cover.up(in.part(7, 1)) == 0);
    CHECK(cover.up(in.part(8, 100)) == 0);
    CHECK(cover.up(in.part(0, 32)) == 0);
    CHECK(cover.up(in.part(32, 1)) == 0);
    CHECK(cover.up(in.part(0, 31)) == 124);  // too short to stand by itself, and not where it was left
    CHECK(cover.up(in.part(33, 367)) == 0);
    CHECK(cover.up(in) == 0);
}

TEST_CASE("pairs: a whole input may be short, and go up again") {
    Cover cover;
    cover.input(in.part(0, 3));
    cover.input(more);
    CHECK(cover.up(in.part(0, 3)) == 0);
    CHECK(cover.up(in.part(0, 3)) == 0);
    CHECK(cover.up(equal(5, 9).then(in.part(0, 3))) == 0);
    CHECK(cover.up(equal(5, 9).then(in.part(0, 2))) == 8);
}

TEST_CASE("pairs: a warp's elements are found wherever they stand, fewer are not") {
    for (std::size_t from = 1; from <= 40; ++from) {
        CAPTURE(from);
        Cover cover;
        cover.input(more);
        cover.input(in);
        CHECK(cover.up(in.part(from, 32)) == 0);
        CHECK(cover.up(in.part(from + 32, 2)) == 0);
        CHECK(cover.up(in.part(from, 31)) == 124);
    }
    Cover cover;
    cover.input(in);
    CHECK(cover.up(in.part(368, 32)) == 0);
    CHECK(cover.up(in.part(100, 90).then(in.part(10, 90)).then(in.part(200, 200))) == 0);
}

TEST_CASE("pairs: a short piece between others stands for itself") {
    Cover cover;
    cover.input(in);
    cover.input(more);
    CHECK(cover.up(in.part(0, 5).then(in.part(100, 40))) == 20);
    CHECK(cover.pairs.is_rearranged());
    Cover enough;
    enough.input(in);
    CHECK(enough.up(in.part(0, 32).then(in.part(100, 40))) == 0);
    Cover two;
    two.input(in);
    two.input(more);
    CHECK(two.up(in.part(0, 5).then(equal(3, 0)).then(in.part(5, 27)).then(in.part(100, 40))) == 0);
    CHECK(two.up(more.part(0, 5).then(in.part(140, 40))) == 0);  // both go on
    CHECK(two.up(in.part(200, 40).then(more.part(5, 5)).then(in.part(300, 40))) == 20);
}

TEST_CASE("pairs: what is the same in both runs is nobody's, to the last byte") {
    Cover cover;
    cover.input(in);
    CHECK(cover.up(equal(1000, 0x12345678)) == 0);
    CHECK(cover.up({{5, 0x0100'0000}, {5, 0x0200'0000}}) == 4);
    CHECK(cover.up({{5, 1}, {5, 2}}) == 4);
    // Both runs must match the input.
    CHECK(cover.up({in.part(0, 40).mine, in.part(1, 40).other}) == 160);
    CHECK(cover.up({in.part(1, 40).mine, in.part(0, 40).other}) == 160);
}

TEST_CASE("pairs: what nothing explains is counted by the smallest elements, up to enough") {
    Cover cover;
    cover.pairs.add_source({}, {}, 1);
    cover.input(in);
    CHECK(cover.up(strange.part(0, 3)) == 12);
    CHECK_FALSE(cover.pairs.is_rearranged());
    const auto& first = cover.pairs.first_unexplained();
    REQUIRE(first.size() == 8);
    CHECK(std::memcmp(first.data(), strange.mine.data(), 8) == 0);
    CHECK(cover.up({{1}, {2}}) == 4);  // one byte differs
    CHECK(cover.up(strange.part(3, 1900)) == PairCover::max_cost - 16);
    CHECK(cover.pairs.first_unexplained() == first);
    Cover bytes;
    bytes.input(in, 1);
    CHECK(bytes.up({{1}, {2}}) == 1);
    Cover halves;
    halves.input(in, 0);  // of unknown size: bytes
    CHECK(halves.up({{0x10001}, {0x20002}}) == 2);
    Cover large;
    large.input(in, 8);
    CHECK(large.up({{1, 0}, {2, 0}}) == 8);
    Cover odd;
    odd.input(in, 12);  // in blocks that are a power of two
    CHECK(odd.up({{1, 0, 0}, {2, 0, 0}}) == 8);
}

TEST_CASE("pairs: an element of the inputs at a wrong place is called that") {
    Cover cover;
    cover.input(in);
    CHECK(cover.up(in.part(77, 1)) == 4);
    CHECK(cover.pairs.is_rearranged());
    CHECK(cover.pairs.first_unexplained().size() == 4);
    Cover first;
    first.input(in);
    CHECK(first.up(in.part(0, 40)) == 0);
    CHECK(first.up(in.part(0, 1)) == 4);
    CHECK(first.pairs.is_rearranged());
    Cover result;
    result.input(in);
    result.came(more);
    CHECK(result.up(more.part(77, 1)) == 4);
    CHECK_FALSE(result.pairs.is_rearranged());
    Cover shorter;
    shorter.input(in, 8);
    CHECK(shorter.up(in.part(77, 1)) == 4);
    CHECK_FALSE(shorter.pairs.is_rearranged());
}

TEST_CASE("pairs: what came down goes up again in pieces of a warp's elements, and only the last one goes on") {
    const Two a = in.part(0, 100), b = more.part(0, 100);
    Cover cover;
    cover.came(a), cover.came(b);
    CHECK(cover.up(a.part(0, 32)) == 0);
    CHECK(cover.up(a.part(32, 10)) == 0);
    CHECK(cover.up(b.part(0, 32)) == 0);
    CHECK(cover.up(a.part(42, 10)) == 40);
    CHECK(cover.up(b.part(32, 10)) == 0);
    CHECK(cover.up(a.part(50, 40)) == 0);
    CHECK(cover.up(b.part(0, 31)) == 124);
    CHECK(cover.up(b) == 0);
    // One that is short may go up whole.
    Cover small;
    small.came(a.part(0, 3));
    CHECK(small.up(a.part(0, 3)) == 0);
    CHECK(small.up(a.part(0, 2)) == 8);
}

TEST_CASE("pairs: what a row is padded with may be how the next one begins") {
    Two rows = random(64, 4);
    for (std::size_t i = 16; i < 20; ++i) rows.mine[i] = rows.other[i] = 0;
    for (const std::size_t padding : {2u, 4u, 6u}) {
        CAPTURE(padding);
        Cover cover;
        cover.input(rows);
        Two up;
        for (std::size_t row = 0; row < 4; ++row) up = up.then(rows.part(16 * row, 16)).then(equal(padding, 0));
        CHECK(cover.up(up) == 0);
    }
}

// Graphs in which nine of ten edges are missing: rows begin and end like the padding, and some are nothing else.
TEST_CASE("pairs: rows of which most elements are like the padding go up padded") {
    const auto [width, pitch] = GENERATE(std::pair{70u, 128u}, std::pair{7u, 64u}, std::pair{40u, 41u});
    CAPTURE(width);
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 numbers(seed);
        Two rows = random(std::size_t{width} * width, seed);
        for (unsigned& value : rows.mine)
            if (numbers() % 10 != 0) value = 0;
        // Elements of the other run come twice, as those of the replay's inputs do.
        for (std::size_t i = 0; i < rows.other.size(); ++i)
            rows.other[i] = rows.mine[(i / 8 * 8 + i % 5 + 99) % rows.mine.size()];
        Two up;
        for (std::size_t row = 0; row < width; ++row)
            up = up.then(rows.part(row * width, width)).then(equal(pitch - width, 0));
        Cover cover;
        cover.input(rows);
        CHECK(cover.up(up) == 0);
    }
}

TEST_CASE("pairs: a piece may begin in the middle of an element whose first half is the same in both runs") {
    Two halves = random(200, 7);
    for (std::size_t i = 0; i < halves.mine.size(); i += 2) halves.mine[i] = halves.other[i] = 0;
    Cover cover;
    cover.input(halves, 8);
    cover.input(in.part(0, 3), 4);
    CHECK(cover.up(halves.part(0, 6).then(equal(4, 0)).then(halves.part(6, 100))) == 0);
    CHECK(cover.up(halves.part(40, 64)) == 0);
    CHECK(cover.up(halves.part(40, 60)) == 4 * 30);
}

TEST_CASE("pairs: inputs whose sizes differ in the two runs agree as far as both go") {
    Cover cover;
    cover.input({in.mine, in.part(0, 50).other});
    CHECK(cover.up(in.part(0, 50)) == 0);
    CHECK(cover.up(in.part(10, 40)) == 0);
    CHECK(cover.up(in.part(50, 2)) == 8);
    CHECK(cover.up({in.part(0, 40).mine, in.part(0, 35).other}) == 0);
}

// Of the blocks with the same hash, only a limited number is tried.
TEST_CASE("pairs: a piece is found among thousands whose values differ in their signs alone") {
    std::mt19937 numbers(5);
    Two signs = equal(std::size_t{16} * 20'000, 0x3F80'0000);
    for (unsigned& value : signs.other) value ^= static_cast<unsigned>(numbers()) & 0x8000'0000;
    Cover cover;
    cover.input(signs);
    for (const std::size_t block : {19'990u, 10'000u, 3u}) CHECK(cover.up(signs.part(16 * block, 40)) == 0);
    CHECK(cover.up(signs.part(16 * 15'000 + 5, 32)) == 0);
}

TEST_CASE("pairs: a piece is found among rows that differ from each other in one element") {
    const Two values = random(1000, 6);
    for (const std::size_t column : {0u, 1u, 15u}) {
        CAPTURE(column);
        Two rows = equal(16 * values.mine.size(), 7);
        for (std::size_t row = 0; row < values.mine.size(); ++row)
            rows.mine[16 * row + column] = values.mine[row], rows.other[16 * row + column] = values.other[row];
        Cover cover;
        cover.input(rows);
        CHECK(cover.up(rows.part(std::size_t{16} * 900, 32)) == 0);
    }
}

TEST_CASE("pairs: without an input, bytes are looked at eight by eight; 4096 of them are enough") {
    Cover cover;
    CHECK(cover.pairs.cost() == 0);
    CHECK(cover.up({{1, 0, 5, 0}, {2, 0, 6, 0}}) == 16);
    CHECK(cover.up({{1, 0, 0, 0}, {2, 0, 0, 0}}) == 8);
    cover.up(strange);
    CHECK(cover.pairs.cost() == 4096);
}
