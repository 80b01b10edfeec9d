#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "judge/compare.hpp"
#include "judge/context.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;

namespace {

using Signs = std::vector<std::string>;

struct Told {
    Signs signs;
    std::string first_line;
};

// The message for the numbers 1 to n, changed by a mistake.
template <class Mistake>
Told told(std::size_t rows, std::size_t columns, Mistake mistake) {
    std::vector<float> right(rows * columns);
    std::iota(right.begin(), right.end(), 1.0f);
    auto got = right;
    mistake(got);
    context().signs.clear(), context().outputs.clear(), context().failure.clear();
    auto matcher = equals_exactly(right);
    CHECK_FALSE((rows > 1 ? matcher.shape(rows, columns) : matcher).match(got));
    const auto text = std::exchange(context().mismatch, {});
    return {std::exchange(context().signs, {}), text.substr(0, text.find('\n'))};
}

}  // namespace

TEST_CASE("values that a typical mistake leaves are named") {
    const auto fill = [](float value) { return [=](auto& v) { std::fill(v.begin(), v.end(), value); }; };
    CHECK(told(1, 64, fill(0)).first_line == "64 of 64 elements are wrong: all of them are 0");
    CHECK(told(1, 64, fill(NAN)).first_line == "64 of 64 elements are wrong: all of them are NaN");
    CHECK(told(1, 64, fill(-7)).signs == Signs{"wrong", "constant", "all"});
    const auto doubled = told(1, 64, [](auto& v) {
        for (float& x : v) x *= 2;
    });
    CHECK(doubled.first_line == "64 of 64 elements are wrong: each is 2 times what is expected");
    const auto reversed = told(1, 64, [](auto& v) { std::reverse(v.begin(), v.end()); });
    CHECK(reversed.signs == Signs{"wrong", "reversed", "all"});
    const auto shifted = told(1, 64, [](auto& v) { std::rotate(v.begin(), v.begin() + 1, v.end()); });
    CHECK(shifted.first_line == "64 of 64 elements are wrong: each holds what belongs one place after");
    const auto before = told(1, 64, [](auto& v) { std::rotate(v.begin(), v.end() - 1, v.end()); });
    CHECK(before.first_line == "64 of 64 elements are wrong: each holds what belongs one place before");
}

TEST_CASE("a multiple is told with what a launch has so many of") {
    const auto times = [](double factor, std::vector<warpgrade::device::LaunchConfig> launches) {
        ComparedElements c;
        for (std::size_t i = 0; i < 64; ++i) {
            c.expected.push_back(3.0 + static_cast<double>(i));
            c.got.push_back(factor * c.expected.back());
            c.wrong.push_back(i);
        }
        c.launches = launches;
        return find_pattern(c).value();
    };
    const warpgrade::device::LaunchConfig one{{3, 2, 1}, {16, 4, 2}}, other{{7, 1, 1}, {32, 1, 1}};
    CHECK(
        times(128, {other, one}).text ==
        ": each is 128 times what is expected, and 128 is the number of threads of a block: does each of them do what "
        "one alone, or all together, should do?");
    CHECK(times(128, {other, one}).signs[0] == "repeated");
    CHECK_THAT(times(6, {one}).text, Contains("6 is the number of blocks"));
    CHECK_THAT(times(7, {one, other}).text, Contains("7 is the number of blocks"));
    CHECK_THAT(times(768, {one}).text, Contains("768 is the number of threads of the launch"));
    CHECK_THAT(times(32, {one}).text, Contains("32 is the number of threads of a warp"));
    CHECK_THAT(times(32, {one, other}).text, Contains("32 is the number of threads of a block"));
    for (const double factor : {5.0, 127.0, 6.5, 0.5, 1.5}) {
        const auto plain = times(factor, {one});
        CHECK(plain.signs[0] == "factor");
        CHECK_THAT(plain.text, !Contains("number"));
    }
    CHECK(times(2, {{{1, 1, 1}, {1, 1, 1}}}).signs[0] == "factor");
}

TEST_CASE("where only the first blocks or the first warp are right it is told") {
    using warpgrade::device::LaunchConfig;
    const auto text = [](std::size_t rows, std::size_t columns, const LaunchConfig& launch, auto is_wrong,
                         std::size_t unwritten = 0) {
        ComparedElements c;
        for (std::size_t i = 0; i < rows * columns; ++i) {
            c.expected.push_back(static_cast<double>(i % 7));
            c.got.push_back(c.expected.back() + (is_wrong(i) ? 1 + static_cast<double>(i % 5) : 0));
            if (is_wrong(i)) c.wrong.push_back(i);
        }
        if (rows > 1) c.rows = rows, c.columns = columns;
        c.launches = {&launch, 1};
        c.unwritten = unwritten;
        const auto found = find_pattern(c);
        CHECK((!found || found->text.find("only") == std::string::npos || found->signs.back() == "later"));
        return found ? found->text : "";
    };
    const auto from = [](std::size_t first) { return [=](std::size_t i) { return i >= first; }; };
    const LaunchConfig blocks{{4, 1, 1}, {64, 1, 1}}, few{{2, 1, 1}, {64, 1, 1}}, tiles{{4, 4, 1}, {16, 8, 1}};
    CHECK(text(1, 256, blocks, from(64)) == ": all from [64] on: only the first block is right");
    CHECK(text(1, 256, blocks, from(128)) == ": all from [128] on: only the first 2 blocks are right");
    CHECK(text(1, 256, blocks, from(32)) == ": all from [32] on: only the first warp is right");
    CHECK(text(1, 256, blocks, [](std::size_t i) { return i >= 64 && i % 3 != 0; }) ==
          ": all from [64] on: only the first block is right");
    CHECK(text(32, 64, tiles, from(8 * 64)) == ", all in the rows from 8 on: only the first row of blocks is right");
    CHECK(text(32, 64, tiles, [](std::size_t i) { return i % 64 >= 32; }) ==
          ", all in the columns from 32 on: only the first 2 columns of blocks are right");
    // The rest of the array, less than half of it, what nothing wrote, other places.
    CHECK_THAT(text(1, 256, blocks, from(192)), !Contains("only"));
    CHECK_THAT(text(1, 256, few, from(64)), !Contains("only"));
    CHECK_THAT(text(1, 256, blocks, from(63)), !Contains("only"));
    CHECK_THAT(text(1, 256, blocks, [](std::size_t i) { return i >= 64 && i % 3 == 0; }), !Contains("only"));
    CHECK_THAT(text(1, 256, blocks, from(64), 192), !Contains("only"));
    CHECK_THAT(text(1, 256, {{4, 1, 1}, {32, 1, 1}}, from(96)), !Contains("only"));
    CHECK_THAT(text(32, 64, tiles, from(32)), !Contains("only"));
}

TEST_CASE("values without their fractions are those of an int") {
    const auto pattern = [](std::vector<double> expected, std::vector<double> got, int digits = 24) {
        ComparedElements c;
        for (std::size_t i = 0; i < got.size(); ++i)
            if (expected[i] != got[i]) c.wrong.push_back(i);
        c.expected = std::move(expected), c.got = std::move(got), c.digits = digits;
        const auto found = find_pattern(c);
        return found ? std::string(found->signs[0]) : "";
    };
    CHECK(pattern({6.5, 21.25, -14.75, 9}, {6, 21, -14, 9}) == "truncated");
    CHECK(pattern({2626.25}, {2626}) == "truncated");
    CHECK(pattern({6.5, 21.25, -14.75, 9}, {6, 21, -15, 9}) != "truncated");
    CHECK(pattern({6.5, 21.25, 7, 9}, {6, 21, 6, 9}) != "truncated");
    CHECK(pattern({6.5, 21.25, 9}, {6, 21, 9}) != "truncated");  // two may be chance
    CHECK(pattern({0.5, 0.25, 0.75}, {0, 0, 0}) == "zeros");
    CHECK(pattern({0.5}, {0}) != "truncated");
}

TEST_CASE("a transposed matrix is told from one stored by columns") {
    const auto transpose = [](std::size_t rows, std::size_t columns) {
        return [=](auto& v) {
            const auto right = v;
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t c = 0; c < columns; ++c) v[c * rows + r] = right[r * columns + c];
        };
    };
    CHECK(told(8, 8, transpose(8, 8)).first_line ==
          "56 of 64 elements are wrong (8 × 8): the result is transposed; [row, column] holds what belongs to [column, "
          "row]");
    CHECK_THAT(told(4, 8, transpose(4, 8)).first_line, Contains("stored column by column"));
}

namespace {

// The message for whole numbers in a mixed order, of which some are changed.
template <class T, class Change>
Told told_of_mixed(Change change) {
    std::vector<T> right(4096);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<T>(i * 1237 % 4096 + 1);
    auto got = right;
    std::ranges::for_each(got, change);
    context().signs.clear(), context().outputs.clear();
    CHECK_FALSE(equals_exactly(right).shape(64, 64).match(got));
    const auto text = std::exchange(context().mismatch, {});
    return {std::exchange(context().signs, {}), text.substr(0, text.find('\n'))};
}

}  // namespace

TEST_CASE("values with too few bits are told from values that are off by one") {
    const auto with_11_bits =
        told_of_mixed<float>([](float& x) { x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u); });
    CHECK(with_11_bits.first_line ==
          "1024 of 4096 elements are wrong (64 × 64): each is nearly right, as with less precision than float has");
    CHECK(with_11_bits.signs == Signs{"wrong", "precision"});
    const auto off_by_one = [](auto& x) { x += x < 2048 ? 0 : static_cast<int>(x) % 3 == 0 ? 2 : 1; };
    CHECK(told_of_mixed<float>(off_by_one).signs == Signs{"wrong"});
    CHECK(told_of_mixed<float>([](float& x) { x *= 1.01f; }).signs == Signs{"wrong", "factor", "all"});
    CHECK(told_of_mixed<int>([](int& x) { x = x < 2048 ? x : x & ~1; }).signs == Signs{"wrong"});
}

TEST_CASE("a sum in which terms cancel is nearly right if it is so beside the others") {
    context().signs.clear(), context().outputs.clear();
    const Expected expected{{0.0001, 1.7, -2.3, 3.1}, {1e-6}};
    CHECK_FALSE(near(expected).match(std::vector<float>{0.0009f, 1.6995f, -2.3006f, 3.1004f}));
    CHECK(std::exchange(context().signs, {}) == Signs{"wrong", "precision", "all"});
}

TEST_CASE("a double that was a float is nearly right, and not one time what is expected") {
    context().signs.clear(), context().outputs.clear();
    CHECK_FALSE(equals_exactly(std::vector{0.1, 0.2, 0.3}).match(std::vector<double>{0.1f, 0.2f, 0.3f}));
    CHECK_THAT(std::exchange(context().mismatch, {}), Contains("as with less precision than double has"));
}

TEST_CASE("an infinite sum is too large for half precision, if it is") {
    const auto signs_of = [](float expected) {
        context().signs.clear(), context().outputs.clear();
        CHECK_FALSE(equals_exactly(std::vector<float>{expected}).match(INFINITY));
        return std::exchange(context().signs, {});
    };
    CHECK(signs_of(70000) == Signs{"wrong", "precision"});
    CHECK_THAT(std::exchange(context().mismatch, {}), Contains("got inf: half precision ends at 65,504"));
    CHECK(signs_of(60000) == Signs{"wrong"});
    const auto all = told_of_mixed<float>([](float& x) { x = INFINITY; });  // most are in a half's reach
    CHECK(all.signs == Signs{"wrong", "constant", "all"});
}

TEST_CASE("the place of the wrong elements tells the mistake") {
    const auto spoil = [](auto which) {
        return [=](auto& v) {
            for (std::size_t i = 0; i < v.size(); ++i)
                if (which(i)) v[i] = -1.0f - static_cast<float>(i * i % 37);
        };
    };
    CHECK(told(1, 1000, spoil([](auto i) { return i >= 768; })).first_line ==
          "232 of 1000 elements are wrong: all from [768] to the end");
    CHECK(told(1, 256, spoil([](auto i) { return i % 32 == 31; })).first_line ==
          "8 of 256 elements are wrong: every 32nd element, from [31] on");
    CHECK(told(16, 16, spoil([](auto i) { return i / 16 >= 12; })).first_line ==
          "64 of 256 elements are wrong (16 × 16), all in the rows from 12 on");
    CHECK(told(16, 16, spoil([](auto i) { return i % 16 == 15; })).first_line ==
          "16 of 256 elements are wrong (16 × 16), all in the last column");
    CHECK(told(32, 32, spoil([](auto i) { return i % 16 == 0; })).first_line ==
          "64 of 1024 elements are wrong (32 × 32), all in the first column of a tile of 16");
    CHECK(told(1, 64, spoil([](auto i) { return i == 0 || i == 63; })).signs == Signs{"wrong", "edge"});
    CHECK(told(1, 64, spoil([](auto i) { return i == 20 || i == 37; })).signs == Signs{"wrong"});
    const auto zeros = told(1, 100, [](auto& v) { std::fill(v.begin() + 64, v.end(), 0.0f); });
    CHECK(zeros.first_line == "36 of 100 elements are wrong: all from [64] to the end: all of them are 0");
    CHECK(zeros.signs == Signs{"wrong", "zeros", "tail"});
}

TEST_CASE("few or equal values prove no pattern") {
    CHECK(told(1, 8, [](auto& v) { std::swap(v[2], v[5]); }).signs == Signs{"wrong"});
    context().signs.clear();
    CHECK_FALSE(equals_exactly(std::vector<int>(64, 3)).shape(8, 8).match(std::vector<int>(64, 5)));
    CHECK(context().signs == Signs{"wrong", "constant", "all"});
}

TEST_CASE("device memory that nothing wrote, and what was there before the call, are named") {
    float fresh;
    std::memset(&fresh, 0xCD, sizeof fresh);
    const auto memory = told(1, 64, [=](auto& v) { std::fill(v.begin(), v.end(), fresh); });
    CHECK_THAT(memory.first_line, Contains("they hold the pattern of memory that nothing had written"));
    CHECK(memory.signs == Signs{"wrong", "unwritten", "all"});

    std::memset(&fresh, 0xF1, sizeof fresh);
    const auto variable = told(1, 64, [=](auto& v) { v[7] = v[20] = v[33] = fresh + 1; });
    CHECK_THAT(variable.first_line, Contains("what a variable holds that was never given a value"));
    CHECK(variable.signs == Signs{"wrong", "unset"});
    const auto sum = told(1, 1, [=](auto& v) { v[0] = 256 * fresh + 1000; });
    CHECK_THAT(sum.first_line, Contains(": it holds what a variable holds that was never given a value"));
    // Counts of 256 threads that began with it, added up modulo 2^32; 40 is the right number.
    constexpr auto count = static_cast<int>(0xF1F1F100u + 40);
    context().signs.clear();
    CHECK_FALSE(equals_exactly(std::vector<int>(4, 40)).match(std::vector<int>(4, count)));
    CHECK(context().signs == Signs{"wrong", "unset", "all"});
    context().signs.clear();
    CHECK_FALSE(equals_exactly(std::vector<int>(4, 40)).match(std::vector<int>(4, count + 1)));
    CHECK(context().signs == Signs{"wrong", "constant", "all"});
    context().signs.clear();
    CHECK(told(1, 1, [=](auto& v) { v[0] = 2.5f * fresh; }).signs == Signs{"wrong"});
    CHECK(told(1, 1, [](auto& v) { v[0] = -1e6f; }).signs == Signs{"wrong"});

    std::vector<float> right{1, 2, 3, 4}, got{1, 2, 30, 40};
    const auto bytes = std::as_bytes(std::span(got));
    LastOutput output{"C", warpgrade::wire::Kind::out, {bytes.begin(), bytes.end()}, {bytes.begin(), bytes.end()}};
    context().outputs = {output};
    CHECK_FALSE(equals_exactly(right).match(got));
    CHECK_THAT(context().failure, Contains("C: 2 of 4 elements are wrong: they still are what C held before the call"));
    output.unchanged = true;
    output.kind = warpgrade::wire::Kind::inout;
    context().outputs = {output};
    CHECK_FALSE(equals_exactly(right).match(got));
    CHECK_THAT(context().mismatch, Contains("C came back as it went in"));
    context().kernels = KernelWork::nothing_written;
    CHECK_FALSE(equals_exactly(right).match(got));
    CHECK_THAT(context().mismatch, Contains("No kernel of this call has written to global memory"));
    context().kernels = KernelWork::not_launched;
    CHECK_FALSE(equals_exactly(right).match(got));
    CHECK_THAT(context().mismatch, Contains("C came back as it went in. No kernel was launched"));
    context().kernels = KernelWork::unknown;
    context().failure.clear();
    context().outputs = {output, output};  // which of them the test looks at cannot be known
    CHECK_FALSE(equals_exactly(right).match(got));
    CHECK(context().failure.empty());
    context().outputs.clear();
}
