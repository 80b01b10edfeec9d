// Boundary values of the judge: signals, addresses, and the smallest patterns.
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <numeric>

#include "judge/compare.hpp"
#include "judge/context.hpp"
#include "judge/explain.hpp"
#include "judge/inputs.hpp"
#include "judge/verdict.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

const CallSpec spec{
    "f",
    {{wire::Kind::in, wire::Type::f32, 0, {}, 10, ""}, {wire::Kind::out, wire::Type::f64, 0, {}, 3, ""}},
    wire::Type::none,
    {"x"}};

wire::Reply reply(wire::Status status, std::uint32_t signal = 0, std::uint64_t address = 0) {
    wire::Reply r;
    r.status = status;
    r.signal = signal;
    r.address = address;
    return r;
}

// The message for the numbers 1 to n, of which those in `which` are changed, each in another way.
template <class Which>
std::string told(std::size_t rows, std::size_t columns, Which which) {
    std::vector<float> right(rows * columns);
    std::iota(right.begin(), right.end(), 1.0f);
    auto got = right;
    for (std::size_t i = 0; i < got.size(); ++i)
        if (which(i)) got[i] = -1.0f - static_cast<float>(i * i % 37);
    context().signs.clear(), context().outputs.clear();
    auto matcher = equals_exactly(right);
    CHECK_FALSE((rows > 1 ? matcher.shape(rows, columns) : matcher).match(got));
    const auto text = std::exchange(context().mismatch, {});
    return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("each signal has its words") {
    const std::pair<int, const char*> all[] = {{SIGSEGV, "segmentation fault"},
                                               {SIGBUS, "bus error"},
                                               {SIGFPE, "arithmetic exception"},
                                               {SIGILL, "illegal instruction"},
                                               {SIGABRT, "abort: "},
                                               {SIGTRAP, "trap"},
                                               {SIGSYS, "forbidden system call"},
                                               {SIGXCPU, "too much processor time"},
                                               {SIGXFSZ, "file too large"},
                                               {SIGKILL, "killed, "},
                                               {SIGTERM, "a signal"}};
    for (const auto& [number, words] : all) {
        CHECK_THAT(explain_exit(128 + number, spec), Contains(std::string("your program crashed (") + words));
        CHECK_THAT(explain(reply(wire::Status::crashed, static_cast<std::uint32_t>(number), 4096 * 1000), spec),
                   Contains(words));
    }
    CHECK(explain_exit(129, spec) == "your program crashed (a signal)");
    CHECK(explain_exit(128, spec) == "your program called exit(128) inside f");
    CHECK(explain_exit(0, spec) == "your program called exit(0) inside f");
    CHECK_THAT(explain_exit(-1, spec), Contains("closed the judge's connection before f returned"));
}

TEST_CASE("an address is told where it says something") {
    const auto crashed = [](std::uint32_t signal, std::uint64_t address) {
        return explain(reply(wire::Status::crashed, signal, address), spec);
    };
    CHECK_THAT(crashed(SIGSEGV, 65535), Contains("null pointer"));
    CHECK_THAT(crashed(SIGSEGV, 65536), Contains(" at address 0x10000"));
    CHECK_THAT(crashed(SIGBUS, 0), Contains("null pointer"));
    CHECK_THAT(crashed(SIGFPE, 0), !Contains("null pointer"));
    auto guard = reply(wire::Status::crashed, SIGSEGV, 1);
    guard.argument = 1, guard.distance = 8;
    CHECK_THAT(explain(guard, spec), Contains("8 bytes past the end of argument 2 (an output of f, 3 double)"));
    guard.argument = 2;
    CHECK_THAT(explain(guard, spec), Contains("an argument of f"));
    guard.status = wire::Status::wrote_before, guard.argument = 0;
    CHECK(explain(guard, spec) ==
          "your program wrote to memory 8 bytes before the start of x (an input of f, 10 float)");
    guard.status = wire::Status::crashed, guard.stack_overflow = true;
    CHECK_THAT(explain(guard, spec), Contains("the stack overflowed"));
    CHECK_THAT(explain(reply(wire::Status::out_of_memory), spec), Contains("no room for the arguments of f"));
    CHECK_THAT(explain(reply(wire::Status::no_such_function), spec), Contains("has no function f"));
    CHECK_THAT(explain(reply(wire::Status::returned), spec), Contains("the judge's connection"));
    CHECK(tame("abcdef", 3) == "abc");
    CHECK(tame("a\x1f\x20\x7e\x7f\x80") == "a \x20\x7e \x80");
}

TEST_CASE("the bound of a dot product is the derived one") {
    CHECK(judge::gamma(1.0) == 0x1p-24 / (1 - 0x1p-24));
    CHECK(judge::gamma(1024.0) == 0x1p-14 / (1 - 0x1p-14));
    CHECK(dot_bound(63, 2) == judge::gamma(64.0) * 2 + 64 * 0x1p-150);
    CHECK(dot_bound(1, 0) == 0x1p-149);
}

TEST_CASE("where a pattern of places begins, and where there is none") {
    // Of lines of elements.
    CHECK(told(1, 100, [](auto i) { return i == 0; }) == "1 of 100 elements is wrong: the first");
    CHECK(told(1, 100, [](auto i) { return i == 99; }) == "1 of 100 elements is wrong: the last");
    CHECK(told(1, 100, [](auto i) { return i == 98; }) == "1 of 100 elements is wrong");
    CHECK(told(1, 100, [](auto i) { return i >= 98; }) == "2 of 100 elements are wrong: all from [98] to the end");
    CHECK(told(1, 100, [](auto i) { return i == 98 || i == 97; }) == "2 of 100 elements are wrong");
    CHECK(told(1, 100, [](auto i) { return i == 1 || i == 99; }) == "2 of 100 elements are wrong");
    CHECK(told(1, 64, [](auto i) { return i % 32 == 0; }) ==
          "2 of 64 elements are wrong: every 32nd element, from [0] on");
    CHECK(told(1, 65, [](auto i) { return i % 32 == 0; }) ==
          "3 of 65 elements are wrong: every 32nd element, from [0] on");
    CHECK(told(1, 65, [](auto i) { return i % 32 == 0 && i < 64; }) ==
          "2 of 65 elements are wrong");  // not all of them
    CHECK(told(1, 200, [](auto i) { return i % 64 == 5; }) ==
          "4 of 200 elements are wrong: every 64th element, from [5] on");
    // Of rows and columns: at least the first half is right.
    CHECK(told(10, 10, [](auto i) { return i / 10 >= 5; }) ==
          "50 of 100 elements are wrong (10 × 10), all in the rows from 5 on");
    CHECK(told(10, 10, [](auto i) { return i / 10 >= 4; }) == "60 of 100 elements are wrong (10 × 10)");
    CHECK(told(10, 10, [](auto i) { return i / 10 == 9; }) ==
          "10 of 100 elements are wrong (10 × 10), all in the last row");
    CHECK(told(10, 10, [](auto i) { return i % 10 >= 7; }) ==
          "30 of 100 elements are wrong (10 × 10), all in the columns from 7 on");
    CHECK(told(10, 10, [](auto i) { return i % 10 == 8; }) == "10 of 100 elements are wrong (10 × 10)");
    // Of tiles: two of them, and more than one of their rows.
    CHECK_THAT(told(16, 40, [](auto i) { return i / 40 % 8 == 7 && i % 40 < 9; }),
               Contains("all in the last row of a tile of 8"));
    CHECK_THAT(told(15, 40, [](auto i) { return i / 40 % 8 == 0 && i % 40 < 9; }), !Contains("tile"));
    CHECK_THAT(told(16, 40, [](auto i) { return i / 40 == 8 && i % 40 < 9; }), !Contains("tile"));
    CHECK_THAT(told(70, 70, [](auto i) { return i % 70 % 32 == 31 && i / 70 < 9; }),
               Contains("last column of a tile of 32"));
    CHECK_THAT(told(70, 70, [](auto i) { return i % 70 % 32 == 30 && i / 70 < 9; }), !Contains("tile"));
    // At the edge: three or more.
    CHECK_THAT(told(9, 9, [](auto i) { return i == 4 || i == 36 || i == 44; }), Contains(", all at the edge"));
    CHECK_THAT(told(9, 9, [](auto i) { return i == 4 || i == 36; }), !Contains("edge"));
    CHECK_THAT(told(9, 9, [](auto i) { return i == 4 || i == 36 || i == 44 || i == 40; }), !Contains("edge"));
}

TEST_CASE("a verdict's message ends between characters, and says how much is left out") {
    context().submission = std::make_unique<Program>(Program::Role::submission);
    context().begin_test("t");
    const auto message_of = [](const std::string& text) {
        CaseVerdict verdict;
        verdict.begin("t", {});
        verdict.add_failure(text);
        return verdict.end()["message"].get<std::string>();
    };
    const std::string full(4000, 'x');
    CHECK(message_of(full) == full);
    CHECK(message_of(full + 'x') == full + "…");
    CHECK(message_of(std::string(3999, 'x') + "é") == std::string(3999, 'x') + "…");
    CHECK(message_of(std::string(3998, 'x') + "é") == std::string(3998, 'x') + "é");
    // A character of several bytes is not split.
    CHECK(message_of(std::string(3997, 'x') + "…y") == std::string(3997, 'x') + "…");
    // One launch more than are shown.
    for (const std::size_t count : {std::size_t{256}, std::size_t{257}}) {
        context().launches.assign(count, device::LaunchRecord{});
        CaseVerdict verdict;
        verdict.begin("t", {});
        const auto line = verdict.end();
        CHECK(line["launches"].size() == 256);
        CHECK(line["launches_left_out"] == count - 256);
    }
    context().launches.clear();
    context().part_reason = "nearly";
    CaseVerdict verdict;
    verdict.begin("t", {});
    verdict.set_checks(2);
    CHECK(verdict.end()["message"] == "nearly");
    verdict.add_failure("wrong");
    CHECK(verdict.end()["message"] == "wrong");
    context().part_reason.clear();
}

TEST_CASE("signs are added once, and not after the first failure is told") {
    context().begin_test("t");
    for (const char* sign : {"a", "b", "a"}) context().add_sign(sign);
    CHECK(context().signs == std::vector<std::string>{"a", "b"});
    context().signs_final = true;
    context().add_sign("c");
    CHECK(context().signs == std::vector<std::string>{"a", "b"});
    context().begin_test("t");
    CHECK((context().signs.empty() && !context().signs_final));
}

TEST_CASE("inputs reach the ends of their ranges and no further") {
    context().seed = 5;
    context().begin_test("edges");
    CHECK(uniform(3, 2, 2) == std::vector<float>{2, 2, 2});
    for (const float x : uniform(1000, 1, 1 + 0x1p-22)) CHECK((x >= 1 && x < 1 + 0x1p-22f));
    for (const double x : uniform_double(1000, -3, -2)) CHECK((x >= -3 && x < -2));
    CHECK(integers<int>(3, 7, 7) == std::vector<int>{7, 7, 7});
    CHECK(permutation(1) == std::vector<int>{0});
    CHECK(permutation(0).empty());
    CHECK_THROWS_AS(integers<int>(-1, 0, 1), std::invalid_argument);
    CHECK_THROWS_AS(data_file("../x"), std::invalid_argument);
    CHECK_THROWS_AS(data_file(".x"), std::invalid_argument);
    CHECK_THROWS_AS(data_file(""), std::invalid_argument);
}
