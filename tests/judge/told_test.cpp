// Messages about wrong results and numbers, at every value at which the message changes.
#include <cmath>

#include "judge/compare.hpp"
#include "judge/context.hpp"
#include "judge/measures.hpp"
#include "judge/signs.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

using Signs = std::vector<std::string>;

struct Told {
    Signs signs;
    std::string text;
};

template <class Matcher, class T>
Told told(const Matcher& matcher, const std::vector<T>& got) {
    context().signs.clear(), context().signs_final = false, context().failure.clear(), context().mismatch.clear();
    CHECK_FALSE(matcher.match(got));
    return {std::exchange(context().signs, {}), std::exchange(context().mismatch, {})};
}

// Of the numbers 1 to n in a mixed order, whose elements a mistake changes.
template <class Change>
Told of_mixed(std::size_t n, Change change, std::size_t rows = 0, std::size_t columns = 0) {
    context().outputs.clear();
    std::vector<float> right(n);
    for (std::size_t i = 0; i < n; ++i) right[i] = static_cast<float>(i * 1237 % 4096 + 1);
    auto got = right;
    for (std::size_t i = 0; i < n; ++i) change(i, got, right);
    return told(equals_exactly(right).shape(rows, columns), got);
}

std::string failed(const Measure& measured, const Good& good) {
    context().failure.clear();
    CHECK_FALSE(good.match(measured));
    return std::exchange(context().failure, {});
}

bool has(const Told& told, std::string_view sign) {
    return std::find(told.signs.begin(), told.signs.end(), sign) != told.signs.end();
}

}  // namespace

TEST_CASE("one element is shown where all are wrong in the same way, else the first five") {
    context().outputs.clear();
    const auto zeros = of_mixed(8, [](auto i, auto& got, auto&) { got[i] = 0; });
    CHECK(zeros.text == "8 of 8 elements are wrong: all of them are 0\n  [0] expected 1, got 0\n  …");
    const auto nothing = of_mixed(8, [](auto i, auto& got, auto&) { got[i] = NAN; });
    CHECK(nothing.text == "8 of 8 elements are wrong: all of them are NaN\n  [0] expected 1, got nan\n  …");
    const auto same = of_mixed(8, [](auto i, auto& got, auto&) { got[i] = -7; });
    CHECK(same.text == "8 of 8 elements are wrong: all of them are -7\n  [0] expected 1, got -7\n  …");
    const auto doubled = of_mixed(6, [](auto i, auto& got, auto&) { got[i] *= 2; });
    CHECK_THAT(doubled.text,
               Contains("each is 2 times") && Contains("\n  [4] expected ") && Contains("\n  …") && !Contains("[5]"));
    const auto five = of_mixed(6, [](auto i, auto& got, auto&) {
        if (i != 2) got[i] = -static_cast<float>(i * i + 3);
    });
    CHECK_THAT(five.text, Contains("5 of 6 elements are wrong") && Contains("\n  [1] ") && Contains("\n  [3] ") &&
                              Contains("\n  [5] ") && !Contains("\n  [2] ") && !Contains("…"));
    CHECK(told(equals_exactly(std::vector<int>{3}), std::vector<int>{4}).text == "expected 3, got 4");
    CHECK(told(equals_exactly(std::vector<int>{3}), std::vector<int>{0}).text == "expected 3, got 0");
    CHECK(told(near({{1, 2, 3}, {0.5, 0.5, 0.25}}), std::vector<float>{1, 2, 4}).text ==
          "1 of 3 elements is wrong: the last\n  [2] expected 3, got 4 (tolerance 0.25)");
}

TEST_CASE("numbers are shown in the digits of their type") {
    CHECK(told(near({{1.0 / 3}, {0}}), std::vector<float>{0.5f}).text == "expected 0.33333334, got 0.5");
    CHECK(told(near({{1.0 / 3}, {0}}), std::vector<double>{0.1}).text == "expected 0.3333333333333333, got 0.1");
    CHECK(told(near({{16777217}, {0}}), std::vector<int>{5}).text == "expected 16777216, got 5");
    CHECK(told(near({{16777217}, {0}}), std::vector<long>{5}).text == "expected 16777217, got 5");
    CHECK(told(equals_exactly(std::vector{1.0 / 3}), std::vector{0.5}).text == "expected 0.3333333333333333, got 0.5");
}

TEST_CASE("a shape is told where it fits") {
    const auto wrong = [](auto i, auto& got, auto&) {
        if (i == 7 || i == 13) got[i] = -5 - static_cast<float>(i);
    };
    CHECK_THAT(of_mixed(24, wrong, 4, 6).text, Contains("(4 × 6)") && Contains("[row 1, column 1]"));
    CHECK_THAT(of_mixed(24, wrong, 4, 6).text, Contains("[row 2, column 1]"));
    CHECK_THAT(of_mixed(24, wrong, 24, 1).text, Contains("(24 × 1)") && Contains("[row 7, column 0]"));
    CHECK_THAT(of_mixed(24, wrong, 5, 6).text, !Contains("×") && Contains("[row 1, column 1]"));
    CHECK_THAT(of_mixed(24, wrong).text, !Contains("×") && Contains("[7] ") && Contains("[13] "));
}

TEST_CASE("what an output held before the call tells that nothing was written, if it can") {
    const auto said = [](auto element, std::size_t fewer) {
        using T = decltype(element);
        const std::vector<T> right{1, 2, 3, 4}, got{1, 2, 30, 40};
        auto before = got;
        before[0] = 99;  // where the result is right, it has been written
        const auto after = std::as_bytes(std::span(got)), was = std::as_bytes(std::span(before));
        context().outputs = {
            {"C", wire::Kind::out, {was.begin(), was.end() - fewer}, {after.begin(), after.end()}, false}};
        const auto result = told(equals_exactly(right), got);
        context().outputs.clear();
        CHECK(context().failure.starts_with("C: 2 of 4 elements are wrong"));
        return has(result, sign::unwritten);
    };
    CHECK(said(1.0f, 0));
    CHECK(said(1, 0));
    CHECK(said(1.0, 0));
    CHECK_FALSE(said(static_cast<short>(1), 0));  // so few bytes may be equal by chance
    CHECK_FALSE(said(static_cast<unsigned char>(1), 0));
    CHECK_FALSE(said(1.0f, 4));
}

TEST_CASE("memory that nothing wrote is known by four bytes, and where all wrong elements are so") {
    const auto signs = [](auto fresh, auto other) {
        using T = decltype(fresh);
        const std::vector<T> right(8, 1);
        std::vector<T> got(8, fresh);
        const auto all = told(equals_exactly(right), got);
        got[3] = other;
        return std::pair(has(all, sign::unwritten), has(told(equals_exactly(right), got), sign::unwritten));
    };
    CHECK(signs(static_cast<int>(0xcdcdcdcd), 7) == std::pair(true, false));
    CHECK(signs(static_cast<std::uint64_t>(0xcdcdcdcdcdcdcdcd), std::uint64_t{0xcd}) == std::pair(true, false));
    CHECK(signs(static_cast<short>(0xcdcd), static_cast<short>(7)) == std::pair(false, false));
    const auto one = told(equals_exactly(std::vector<int>{1, 2}), std::vector<int>{1, static_cast<int>(0xcdcdcdcd)});
    CHECK_THAT(one.text, Contains("it holds the pattern"));
}

TEST_CASE("three values make a pattern, two may be chance") {
    context().outputs.clear();
    for (const std::size_t count : {std::size_t{2}, std::size_t{3}}) {
        const bool enough = count == 3;
        const auto first = [&](auto value_of) {
            return of_mixed(99, [&](auto i, auto& got, auto& right) {
                if (i >= 10 && i < 10 + count) got[i] = value_of(i, right);
            });
        };
        CHECK(has(first([](auto, auto&) { return -7.0f; }), sign::constant) == enough);
        CHECK(has(first([](auto i, auto& right) { return 3 * right[i]; }), sign::factor) == enough);
        CHECK(has(first([](auto i, auto& right) { return right[98 - i]; }), sign::reversed) == enough);
        CHECK(has(first([](auto i, auto& right) { return right[i - 1]; }), sign::shifted) == enough);
        CHECK(has(first([](auto i, auto& right) { return right[i + 1]; }), sign::shifted) == enough);
    }
    // Of two different values, many times.
    std::vector<int> right(64), got(64);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = i % 2 ? 5 : 7, got[i] = 2 * right[i];
    CHECK_FALSE(has(told(equals_exactly(right), got), sign::factor));
    for (std::size_t i = 0; i < right.size(); ++i) got[i] = right[63 - i];
    CHECK_FALSE(has(told(equals_exactly(right), got), sign::reversed));
}

TEST_CASE("at the end that has no neighbour a shifted result may hold anything") {
    const auto shifted = [](int by, std::size_t odd) {
        return of_mixed(32, [=](auto i, auto& got, auto& right) {
            const auto from = static_cast<std::ptrdiff_t>(i) - by;
            got[i] = i == odd || from < 0 || from >= 32 ? -1.0f : right[static_cast<std::size_t>(from)];
        });
    };
    CHECK_THAT(shifted(1, 0).text, Contains("one place before"));
    CHECK_THAT(shifted(-1, 31).text, Contains("one place after"));
    CHECK_FALSE(has(shifted(1, 31), sign::shifted));
    CHECK_FALSE(has(shifted(-1, 0), sign::shifted));
    CHECK_FALSE(has(shifted(2, 0), sign::shifted));
}

TEST_CASE("moved values may be off by a rounding, and no more") {
    const auto reversed = [](float by) {
        return has(of_mixed(32, [=](auto i, auto& got, auto& right) { got[i] = right[31 - i] * by; }), sign::reversed);
    };
    CHECK(reversed(1.000005f));
    CHECK_FALSE(reversed(1.00002f));
    CHECK(reversed(0.999995f));
    CHECK_FALSE(reversed(0.99998f));
}

TEST_CASE("each is a multiple, unless something is expected to be 0 or none is a number") {
    context().outputs.clear();
    const std::vector<double> right{1, 2, 3, 4};
    CHECK(has(told(equals_exactly(right), std::vector<double>{-1, -2, -3, -4}), sign::factor));
    CHECK_FALSE(has(told(equals_exactly(right), std::vector<double>{2, 4, 6, 9}), sign::factor));
    CHECK_FALSE(
        has(told(equals_exactly(std::vector<double>{0, 2, 3, 4}), std::vector<double>{1, 4, 6, 8}), sign::factor));
    CHECK_FALSE(
        has(told(equals_exactly(std::vector<double>{1, 0, 3, 4}), std::vector<double>{2, 5, 6, 8}), sign::factor));
    CHECK_THAT(told(equals_exactly(right), std::vector<double>{0.5, 1, 1.5, 2}).text, Contains("each is 0.5 times"));
}

TEST_CASE("half precision is told by its largest number and by its bits") {
    context().outputs.clear();
    const auto infinite = [](std::vector<float> right) {
        return told(equals_exactly(right), std::vector<float>(right.size(), INFINITY));
    };
    CHECK(has(infinite({65504}), sign::precision));
    CHECK(has(infinite({-65504}), sign::precision));
    CHECK_FALSE(has(infinite({65503}), sign::precision));
    CHECK_THAT(infinite({70000, 80000}).text, Contains("all of them are infinite, and half precision ends at 65,504"));
    CHECK_FALSE(has(infinite({70000, 60000}), sign::precision));
    CHECK_FALSE(has(told(equals_exactly(std::vector<int>{70000}), std::vector<int>{2147483647}), sign::precision));
    // Nearly right: off by at most 2^-7 of itself, or of what is usual here.
    const auto nearly = [](double part) {
        std::vector<float> right, got;
        for (int i = 0; i < 16; ++i) {
            right.push_back(1 + static_cast<float>(2 * i + 1) / 4096);
            got.push_back(static_cast<float>(right.back() * (1 + (i % 2 ? -part : part))));
        }
        return has(told(equals_exactly(right), got), sign::precision);
    };
    CHECK(nearly(0x1p-8));
    CHECK(nearly(0x1.fcp-8));
    CHECK_FALSE(nearly(0x1.04p-7));
    // Of those that a half can hold, one in eight may be wrong.
    const auto with_short = [](std::size_t others) {
        std::vector<float> right{2048}, got{2049};
        for (std::size_t i = 0; i < others; ++i) {
            right.push_back(2049.0f + 2 * static_cast<float>(i));  // 12 bits
            got.push_back(right.back() + (i % 2 ? 1.0f : -1.0f));
        }
        return has(told(equals_exactly(right), got), sign::precision);
    };
    CHECK(with_short(7));
    CHECK_FALSE(with_short(6));
    const std::vector<float> short_ones{2047, 1025, 3, 2046};
    CHECK_FALSE(has(told(equals_exactly(short_ones), std::vector<float>{2046, 1024, 3.01f, 2044}), sign::precision));
    const std::vector<double> floats{0x1.000002p0, 0x1.000004p1, 0x1.000006p1};
    CHECK_FALSE(has(told(equals_exactly(floats), std::vector<double>{1, 2.1, 2}), sign::precision));
    const std::vector<double> doubles{0x1.0000010000001p0, 0x1.0000030000001p1, 0x1.0000050000001p1};
    CHECK_THAT(told(equals_exactly(doubles), std::vector<double>{1, 2.001, 2}).text,
               Contains("as with less precision than double has"));
}

TEST_CASE("each stride of a block's size is one, from its first element on") {
    for (const std::size_t step : {1024, 512, 256, 128, 64, 32}) {
        const auto found = of_mixed(3 * step, [&](auto i, auto& got, auto&) {
            if (i % step == 3) got[i] = -1 - static_cast<float>(i * i % 97);
        });
        CHECK_THAT(found.text, Contains("every " + std::to_string(step) + (step % 10 == 2 ? "nd" : "th") +
                                        " element, from [3] on"));
        const auto missing = of_mixed(3 * step, [&](auto i, auto& got, auto&) {
            if (i % step == 3 && i > step) got[i] = -1 - static_cast<float>(i * i % 97);
        });
        CHECK_FALSE(has(missing, sign::stride));
    }
}

TEST_CASE("a matrix is transposed only as a whole") {
    const auto transposed = [](std::size_t rows, std::size_t columns, bool but_one) {
        return has(of_mixed(
                       rows * columns,
                       [=](auto i, auto& got, auto& right) {
                           got[i] = right[i % rows * columns + i / rows];
                           if (but_one && i == 5) got[i] = -1;
                       },
                       rows, columns),
                   sign::transposed);
    };
    CHECK(transposed(4, 6, false));
    CHECK_FALSE(transposed(4, 6, true));
    CHECK(transposed(2, 5, false));
    // A single row or column is its own transposed one, and nearly right is not in another place.
    const auto nearly = [](auto i, auto& got, auto& right) { got[i] = right[i] * 1.000005f; };
    for (const std::size_t rows : {1, 8}) CHECK_FALSE(has(of_mixed(8, nearly, rows, 8 / rows), sign::transposed));
}

TEST_CASE("numbers in messages: where commas and full digits begin") {
    const auto number = [](Number value, const std::string& unit = "") {
        return failed(measure("n", value, unit), is(Number(-1).value()));
    };
    CHECK(number(9999) == "n: 9999, expected -1");
    CHECK(number(10000) == "n: 10,000, expected -1");
    CHECK(number(-9999) == "n: -9999, expected -1");
    CHECK(number(-123456) == "n: -123,456, expected -1");
    CHECK(number(123456789) == "n: 123,456,789, expected -1");
    CHECK(number(9999.5) == "n: 9999.5, expected -1");
    CHECK(number(10000.5) == "n: 10,000, expected -1");
    CHECK(number(-12345.75) == "n: -12,346, expected -1");
    CHECK(number(INFINITY) == "n: inf, expected -1");
    CHECK(number(0.123456) == "n: 0.12346, expected -1");
    CHECK(number(2.5, "ns") == "n: 2.5 ns, expected -1 ns");
    CHECK(failed(measure("n", 0.30000001), between(0.1, 0.3)) ==
          "n: 0.30000001, expected between 0.1 and 0.3");  // the same in five digits
    CHECK(failed(measure("n", 0.09999999), between(0.1, 0.3)) == "n: 0.09999999, expected between 0.1 and 0.3");
    CHECK(failed(measure("n", 12345.25), at_most(12345.0)) == "n: 12345.25, expected at most 12,345");
    CHECK(failed(measure("n", true), is(false)) == "n: true, expected false");
    CHECK(failed(measure("n", 7), is(2 * measure("m", 3, "x"))) == "n: 7, expected 6 (2 × m)");
    CHECK((2 * measure("m", 3, "x")).unit == "x");
}

TEST_CASE("transfers of each direction have their words") {
    using Kind = device::TransferRecord::Kind;
    Profile run;
    run.transfers = std::vector<device::TransferRecord>{
        {Kind::within_device, 0, 5, {}}, {Kind::within_device, 0, 6, {}}, {Kind::to_host, 0, 7, {}}};
    CHECK(failed(bytes_copied(run, Kind::within_device), is(0)) == "bytes copied within the device: 11, expected 0");
    CHECK(failed(bytes_copied(run, Kind::to_host), is(0)) == "bytes copied to the host: 7, expected 0");
    CHECK(failed(copies(run, Kind::fill), is(1)) == "fills by cudaMemset: 0, expected 1");
}

TEST_CASE("a prediction's two numbers are reported with their names and units") {
    const auto predict = [](Number value, const Prediction& prediction) {
        context().measurements.clear(), context().failure.clear();
        return prediction.match(value);
    };
    CHECK(predict(3, predicts(measure("sectors", 3, "x"))));
    REQUIRE(context().measurements.size() == 2);
    const auto& [name, value, unit] = context().measurements[1];
    CHECK((name == "measured sectors" && value == 3 && unit == "x"));
    CHECK((context().measurements[0].value == 3 && context().measurements[0].unit == "x"));
    CHECK_FALSE(predict(2, predicts(measure("sectors", 3), 3)));
    CHECK(context().failure == "sectors: predicted 2, measured 3");
    CHECK_FALSE(predict(2, predicts(measure("sectors", INFINITY))));
    CHECK(context().measurements.empty());
    CHECK(predict(-3.5, predicts(measure("n", -4)).within(0.125)));
    CHECK_FALSE(predict(-3.4, predicts(measure("n", -4)).within(0.125)));
    CHECK(predict(90, predicts(measure("n", 1), 100).within(0.1)));
    CHECK_FALSE(predict(89, predicts(measure("n", 1), 100).within(0.1)));
    context().measurements.clear(), context().failure.clear();
}
