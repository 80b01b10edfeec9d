#include <nlohmann/json.hpp>

#include "judge/context.hpp"
#include "judge/verdict.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;

namespace {

CaseVerdict fresh() {
    context().submission = std::make_unique<Program>(Program::Role::submission);
    context().begin_test("t");
    CaseVerdict verdict;
    verdict.begin("t", {"public"});
    return verdict;
}

}  // namespace

TEST_CASE("errors outweigh failures, and a test that checks nothing is none that passes") {
    auto verdict = fresh();
    CHECK(std::string(verdict.status()) == "error");
    CHECK(verdict.end()["message"] == "the test checked nothing");
    verdict = fresh();
    verdict.set_checks(1);
    CHECK(std::string(verdict.status()) == "pass");
    verdict.add_failure("wrong");
    CHECK(std::string(verdict.status()) == "fail");
    verdict.add_error("the machine");
    const auto line = verdict.end();
    CHECK(line["status"] == "error");
    CHECK(line["message"] == "the machine");
}

TEST_CASE("what several failed checks have in common is told once, behind the last of them") {
    auto verdict = fresh();
    verdict.add_failure("a: 3, expected 4", "\n  n = 1");
    verdict.add_failure("b: 5, expected 6", "\n  n = 1");
    verdict.add_failure("b: 5, expected 6", "\n  n = 1");
    verdict.add_failure("a: 3, expected 4", "\n  n = 2");
    CHECK(verdict.end()["message"] == "a: 3, expected 4\nb: 5, expected 6\n  n = 1\n\na: 3, expected 4\n  n = 2");
}

TEST_CASE("a CUDA call that failed is told once, before what it may have caused") {
    auto verdict = fresh();
    context().notes = {"launch: too many threads"};
    for (const auto* message : {"a: wrong", "a: wrong", "b: wrong", "b: wrong"}) verdict.add_failure(message);
    CHECK(verdict.end()["message"] ==
          "a CUDA call failed: launch: too many threads\nProbably as a result: a: wrong\nb: wrong");
}

TEST_CASE("messages are bounded and come once each") {
    auto verdict = fresh();
    for (int i = 0; i < 10; ++i) verdict.add_failure("the same");
    CHECK(verdict.end()["message"] == "the same");
    verdict = fresh();
    for (int i = 0; i < 10; ++i) verdict.add_failure("number " + std::to_string(i));
    CHECK_THAT(verdict.end()["message"].get<std::string>(), Contains("number 2\n\nand 7 more failed checks"));
    verdict = fresh();
    for (int i = 0; i < 4; ++i) verdict.add_failure("number " + std::to_string(i));
    CHECK_THAT(verdict.end()["message"].get<std::string>(), Contains("number 2\n\nand 1 more failed check"));
    verdict = fresh();
    std::string long_text;
    while (long_text.size() < 10000) long_text += "…";
    verdict.add_failure(long_text);
    const std::string message = verdict.end()["message"];
    CHECK(message.size() < 4100);
    CHECK_NOTHROW(nlohmann::json(message).dump());  // cut between characters
}
