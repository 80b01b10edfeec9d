#include "judge/judge.hpp"
#include "sums.h"

using namespace warpgrade::judge;

TEST_CASE("scales, with commas and [brackets]", "[public]") {
    const int n = GENERATE(1, 7, 4096);
    const auto x = uniform(n);
    const float a = uniform(1)[0];
    const auto y = submission().call<scale>(in(x), out<float>(n), a, n);
    std::vector<double> expected(x.begin(), x.end());
    for (auto& value : expected) value *= a;
    CHECK_THAT(y, near(Expected{expected, std::vector<double>(x.size(), 1e-7)}).shape(1, x.size()));
}

[[maybe_unused]] const bool by_host = computed_on_host<&sum>();

TEST_CASE("sums", "[public]") {
    const auto x = uniform_double(1000);
    double expected = 0;
    for (const double value : x) expected += value;
    CHECK_THAT(submission().call<sum>(in(x), x.size()), near({{expected}, {1e-9}}));
}

TEST_CASE("negates in place", "[hidden]") {
    const auto x = integers<int>(100, -50, 50);
    auto expected = x;
    for (auto& value : expected) value = -value;
    const auto [count, negated] = submission().call<negate>(inout(x), 100);
    CHECK_THAT(measure("elements negated", count), is(100));
    CHECK_THAT(negated, equals_exactly(expected));
}

TEST_CASE("has no mistakes", "[public]") {
    const auto x = uniform(8);
    const auto run = submission().profile<scale>(in(x), out<float>(8), 2.0f, 8);
    CHECK_THAT(run, clean());
}

TEST_CASE("measures", "[public][speed]") {
    const auto x = uniform(8);
    const auto compared = compare_with_starter<scale>(in(x), out<float>(8), 2.0f, 8);
    CHECK(compared.submission.output[0] == 2 * x[0]);
    report_speedup(compared);
    report_measurement("a number behind it", integers<int>(1, 0, 1 << 30)[0], "");
}

// Not run unless it is asked for by its name, like the next one.
TEST_CASE("is broken", "[.]") { throw std::runtime_error("no such table"); }

TEST_CASE("asks the starter twice", "[.]") {
    const auto x = uniform_double(10);
    const auto ask = [&] { return baseline().call<sum>(in(x), x.size()); };
    report_measurement("first answer of the starter", ask(), "");
    REQUIRE(submission().call<sum>(in(x), x.size()) != 0);
    report_measurement("second answer of the starter", ask(), "");
    report_measurement("a number behind them", integers<int>(1, 0, 1 << 30)[0], "");
}
