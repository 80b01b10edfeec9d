#include <algorithm>

#include "judge/context.hpp"
#include "judge/diagnostics.hpp"
#include "judge/errors.hpp"
#include "judge/measures.hpp"
#include "server/journal.hpp"
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

std::string failure() { return std::exchange(context().failure, {}); }

}  // namespace

TEST_CASE("errors are mistakes, warnings and advice are none") {
    context().checks = {};
    Profile run;
    run.diagnostics = std::vector{found(device::rules::leak), found(device::rules::uncoalesced)};
    CHECK(clean().match(run));
    run.diagnostics = std::vector{found(device::rules::leak), found(device::rules::race_warp, 9)};
    CHECK_FALSE(clean().match(run));
    CHECK(failure() == "the checks found a mistake: race inside a warp (racecheck/warp) at sum.cu:9");
}

TEST_CASE("a test may ask for one check") {
    context().checks = {};
    Profile run;
    run.diagnostics = std::vector{found(device::rules::uninitialized_shared)};
    CHECK(clean("racecheck").match(run));
    CHECK_FALSE(clean("initcheck").match(run));
    context().checks.init = false;
    CHECK(clean("racecheck").match(run));
    CHECK_THROWS_AS(clean("initcheck").match(run), InfrastructureError);
    CHECK_THROWS_AS(clean().match(run), InfrastructureError);
    context().checks = {};
}

TEST_CASE("what a test asks for is no mistake, until it ends") {
    context().checks = {};
    context().begin_test("reports a launch that cannot work");
    expect_findings("launch/configuration");
    Profile run;
    run.diagnostics = std::vector{found(device::rules::bad_launch)};
    CHECK(clean().match(run));
    collect_findings({found(device::rules::bad_launch), found(device::rules::unchecked_launch)}, "f");
    REQUIRE(context().diagnostics.size() == 1);
    CHECK(context().diagnostics.front().rule == &device::rules::unchecked_launch);

    context().begin_test("another one");
    CHECK_FALSE(clean().match(run));
    collect_findings(run.diagnostics.all(), "f");
    CHECK(context().diagnostics.size() == 1);
    CHECK_THROWS_AS(expect_findings("launch/no-such-rule"), std::logic_error);
    context().begin_test("");
    failure();
}

TEST_CASE("many mistakes are counted, and few of them named") {
    Profile run;
    std::vector<device::Diagnostic> all;
    for (std::uint32_t line = 1; line <= 5; ++line) all.push_back(found(device::rules::race_shared, line));
    all[0].place.file = "a\x1b[31m\n" + std::string(1000, 'x');
    run.diagnostics = all;
    CHECK_FALSE(clean().match(run));
    const auto text = failure();
    CHECK_THAT(text, Contains("found 5 mistakes: ") && Contains("sum.cu:3; and 2 more") && !Contains("sum.cu:4"));
    CHECK_THAT(text, !Contains("\x1b") && !Contains("\n"));
    CHECK(text.size() < 1000);
}

TEST_CASE("the same finding counts up, another place is another one") {
    context().begin_test("");
    const auto& known = context().diagnostics;
    collect_findings({found(device::rules::race_shared), found(device::rules::race_shared)}, "f");
    collect_findings({found(device::rules::race_shared, 8), found(device::rules::race_warp)}, "f");
    auto other = found(device::rules::race_shared);
    other.related.push_back({"written by", {"sum.cu", 3, 0}, {}});
    collect_findings({other}, "f");
    REQUIRE(known.size() == 4);
    CHECK(known[0].count == 2);
    for (std::uint32_t line = 0; line < 10'000; ++line)
        collect_findings({found(device::rules::race_shared, line)}, "f");
    CHECK(known.size() < 10'000);
    context().begin_test("");
}

TEST_CASE("findings that do not matter make room for those that do") {
    constexpr std::size_t most = 8;
    std::vector<device::Diagnostic> known;
    const auto add = [&](const device::Rule& rule, std::uint32_t line) {
        return device::add_finding(known, found(rule, line), most);
    };
    const auto count = [&](const device::Rule& rule) {
        return std::ranges::count(known, &rule, &device::Diagnostic::rule);
    };
    for (std::uint32_t line = 1; line <= most; ++line) CHECK(add(device::rules::uncoalesced, line));
    CHECK_FALSE(add(device::rules::uncoalesced, 100));
    CHECK_FALSE(add(device::rules::leak, 1));  // a warning replaces advice
    CHECK(count(device::rules::leak) == 1);
    for (std::uint32_t line = 1; line <= 100; ++line) add(device::rules::bad_free, line);
    CHECK(count(device::rules::bad_free) == most);
    CHECK(known.front().place.line == 1);
    // Many errors of one kind do not hide another kind.
    CHECK_FALSE(add(device::rules::race_stream, 1));
    CHECK(count(device::rules::race_stream) == 1);
    add(device::rules::race_shared, 1);
    CHECK(count(device::rules::race_shared) == 1);
    CHECK(count(device::rules::race_stream) == 1);
    CHECK(known.front().place.line == 1);
    CHECK_FALSE(add(device::rules::uncoalesced, 1));
    CHECK(known.size() == most);
    // The same again counts.
    CHECK(add(device::rules::race_stream, 1));
    CHECK(std::ranges::find(known, &device::rules::race_stream, &device::Diagnostic::rule)->count == 2);
}

TEST_CASE("an error is found behind any number of pieces of advice") {
    context().checks = {};
    server::Journal journal;
    for (std::uint32_t line = 1; line <= 1000; ++line) journal.add(found(device::rules::uncoalesced, line));
    journal.add(found(device::rules::race_shared));
    Profile run;
    run.diagnostics = journal.take().diagnostics;
    CHECK_FALSE(clean().match(run));
    CHECK(failure() == "the checks found a mistake: race in shared memory (racecheck/shared) at sum.cu:7");
}

TEST_CASE("a record that is not complete fails the test that looks at it") {
    Profile run;
    CHECK(run.transfers.empty());
    run.waits_ns = std::vector{1.0, 2.0};
    CHECK(run.waits_ns.size() == 2);
    run.waits_ns = {{1.0, 2.0}, "waits for the device", Completeness::truncated};
    const auto looks = GENERATE(0, 1, 2, 3);
    const auto look = [&] {
        if (looks == 0) return run.waits_ns.size() == 2;
        if (looks == 1) return run.waits_ns.begin() != run.waits_ns.end();
        return looks == 2 ? run.waits_ns.back() == 2.0 : run.waits_ns[0] == 1.0;
    };
    CHECK_THROWS_WITH(look(),
                      "one call made more than 2 waits for the device: further ones are not recorded, so the test "
                      "cannot check all of them");
    CHECK_THROWS_AS(look(), SubmissionFailure);
}

TEST_CASE("what a device does not tell is not known: neither none, nor zero, nor clean") {
    Profile run;
    run.diagnostics = {{}, "findings", Completeness::unknown};
    run.launches.resize(1);
    CHECK_THROWS_AS(clean().match(run), MissingAnalysis);
    CHECK_THROWS_AS(run.total(), MissingAnalysis);
    CHECK_THROWS_AS(run.kernel_time_ns(), MissingAnalysis);
    CHECK_THROWS_AS(sectors_stored(run), MissingAnalysis);
    CHECK_THROWS_AS(sectors_stored(run.launches[0]), MissingAnalysis);
    CHECK_THROWS_AS(when(run.launches[0]), MissingAnalysis);
    run.launches[0].start_ns = 3;
    CHECK_THROWS_AS(when(run.launches[0]), MissingAnalysis);
    run.launches[0].duration_ns = 4;
    CHECK(when(run.launches[0]).end_ns == 7);
    run.launches[0].counters.emplace().global_store_sectors = 5;
    CHECK(sectors_stored(run).number.value() == 5);
}

TEST_CASE("a verdict knows in which function the first error was found") {
    context().checks = {};
    context().begin_test("scans");
    collect_findings({found(device::rules::leak), found(device::rules::uncoalesced)}, "adds");
    CHECK(context().faulty.empty());
    collect_findings({found(device::rules::race_warp), found(device::rules::uninitialized_global)}, "scan");
    collect_findings({found(device::rules::uninitialized_local)}, "");  // of no call
    CHECK(context().faulty == std::map<std::string, std::string>{{"scan", "racecheck/warp"}});
    expect_findings("launch/configuration");
    collect_findings({found(device::rules::bad_launch)}, "reports");
    CHECK(context().faulty.size() == 1);
    context().begin_test("another one");
    CHECK(context().faulty.empty());
}
