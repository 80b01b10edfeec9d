#include "judge/context.hpp"
#include "judge/diagnostics.hpp"
#include "judge/errors.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

device::Diagnostic found(const device::Rule& rule, std::uint32_t line = 7) {
    device::Diagnostic diagnostic;
    diagnostic.rule = &rule;
    diagnostic.place = {"sum.cu", line, 0};
    return diagnostic;
}

std::string mismatch() { return std::exchange(context().mismatch, {}); }

}  // namespace

TEST_CASE("errors are mistakes, warnings and advice are none") {
    context().checks = {};
    Profile run;
    run.diagnostics = {found(device::rules::leak), found(device::rules::uncoalesced)};
    CHECK(clean().match(run));
    run.diagnostics.push_back(found(device::rules::race_warp, 9));
    CHECK_FALSE(clean().match(run));
    CHECK(mismatch() == "the checks found a mistake: race inside a warp (racecheck/warp) at sum.cu:9");
}

TEST_CASE("a test may ask for one check") {
    context().checks = {};
    Profile run;
    run.diagnostics = {found(device::rules::uninitialized_shared)};
    CHECK(clean("racecheck").match(run));
    CHECK_FALSE(clean("initcheck").match(run));
    context().checks.init = false;
    CHECK(clean("racecheck").match(run));
    CHECK_THROWS_AS(clean("initcheck").match(run), InfrastructureError);
    CHECK_THROWS_AS(clean().match(run), InfrastructureError);
    context().checks = {};
}

TEST_CASE("many mistakes are counted, and few of them named") {
    Profile run;
    for (std::uint32_t line = 1; line <= 5; ++line) run.diagnostics.push_back(found(device::rules::race_shared, line));
    run.diagnostics[0].place.file = "a\x1b[31m\n" + std::string(1000, 'x');
    CHECK_FALSE(clean().match(run));
    const auto text = mismatch();
    CHECK_THAT(text, Contains("found 5 mistakes: ") && Contains("sum.cu:3; and 2 more") && !Contains("sum.cu:4"));
    CHECK_THAT(text, !Contains("\x1b") && !Contains("\n"));
    CHECK(text.size() < 1000);
}

TEST_CASE("the same finding counts up, another place is another one") {
    std::vector<device::Diagnostic> known;
    merge(known, {found(device::rules::race_shared), found(device::rules::race_shared)});
    merge(known, {found(device::rules::race_shared, 8), found(device::rules::race_warp)});
    auto other = found(device::rules::race_shared);
    other.related.push_back({"written by", {"sum.cu", 3, 0}, {}});
    merge(known, {other});
    REQUIRE(known.size() == 4);
    CHECK(known[0].count == 2);
    for (std::uint32_t line = 0; line < 10'000; ++line) merge(known, {found(device::rules::race_shared, line)});
    CHECK(known.size() < 10'000);
}
