// Whole judges: the verdict for each kind of program. The programs are in programs/.
#include "judge/judged.hpp"
#include "judge/worker_process.hpp"
#include "support/contains.hpp"

namespace {

void check_scale_fails(const Judged& judged, const std::string& reason) {
    INFO(judged.output);
    REQUIRE(judged.status == 0);
    REQUIRE(judged.cases.size() == 5);
    CHECK(judged.end["cases"] == 5);
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains(reason));
    CHECK(judged.others_pass());
}

// On a busy machine a program may not even start in the time.
void check_runs_out_of_time(const Judged& judged, const std::string& limit) {
    INFO(judged.output);
    REQUIRE(judged.status == 0);
    REQUIRE(judged.cases.size() == 5);
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains("did not ") && Contains(" within " + limit));
    CHECK(judged.scales()["signs"] == nlohmann::json({"time-out"}));
    CHECK(judged.others_are_called());
}

}  // namespace

TEST_CASE("a test that fails by itself is an error, and no student's") {
    const auto judged = judge("correct", "--test \"is broken\"");
    INFO(judged.output);
    const auto& broken = judged.cases.at("is broken");
    CHECK(broken["status"] == "error");
    CHECK(broken["message"] == "the test itself failed: no such table");
}

TEST_CASE("a right program passes, and every line of the verdict is there") {
    const auto judged = judge("correct");
    INFO(judged.output);
    REQUIRE(judged.status == 0);
    CHECK(judged.start["seed"].is_number_unsigned());
    CHECK(judged.start["device"].empty());
    CHECK(judged.scales()["status"] == "pass");
    CHECK(judged.message().empty());
    CHECK(judged.scales()["tags"] == nlohmann::json({"public"}));
    CHECK(judged.others_pass());
    CHECK(judged.end["cases"] == 5);
}

TEST_CASE("a wrong answer is shown with its place, the expected value and the call") {
    const auto judged = judge("wrong");
    check_scale_fails(judged, "is wrong");
    CHECK_THAT(judged.message(), Contains("[row 0, column 6] expected") && Contains("tolerance 1e-07"));
    CHECK_THAT(judged.message(), Contains("in scale(x: 7 float, y: 7 float, a = "));
    CHECK_THAT(judged.message(), !Contains("CHECK_THAT"));
}

TEST_CASE("a number that is not good is told by its name") {
    const auto judged = judge("miscounts");
    CHECK(judged.cases.at("negates in place")["message"] ==
          "elements negated: 99, expected 100\n  in negate(100 int, 100)");
}

TEST_CASE("an output that was never written is named") {
    const auto judged = judge("never_writes");
    check_scale_fails(judged, "y was never written");
    CHECK(judged.message().starts_with("y was never written"));  // the sentence that explains most comes first
    CHECK(judged.scales()["signs"] == nlohmann::json({"wrong", "unwritten"}));
}

TEST_CASE("signs are those of the failure that is told first") {
    CHECK(judge("wrong_in_two_ways").scales()["signs"] == nlohmann::json({"wrong", "factor", "all"}));
}

TEST_CASE("a crash is explained") {
    SECTION("null pointer") {
        check_scale_fails(judge("null_pointer"), "crashed (segmentation fault): host code dereferenced a null pointer");
    }
    SECTION("past the end of a buffer") {
        check_scale_fails(judge("past_the_end"), "8 bytes past the end of y (an output of scale, 1 float)");
    }
    SECTION("before the start of a buffer") {
        check_scale_fails(judge("before_the_start"), "9 bytes before the start of y (an output of scale");
    }
    SECTION("a device pointer on the host") {
        check_scale_fails(judge("device_pointer"), "host code dereferenced the device pointer 0x70000001000");
    }
    SECTION("the stack") { check_scale_fails(judge("stack_overflow"), "the stack overflowed"); }
    SECTION("abort") { check_scale_fails(judge("aborts"), "crashed (abort"); }
    SECTION("an exception, without its terminal escapes") {
        check_scale_fails(judge("throws"), "scale threw an exception: no scale [31m today");
    }
}

TEST_CASE("a program that never comes back is stopped, and costs its own test only") {
    const auto judged = judge("hangs", "--seconds 1.5");
    check_runs_out_of_time(judged, "1.5 s");
    // The place where it hung, as reported by the program: an offset in its file.
    if (judged.message().starts_with("scale did not finish")) CHECK(judged.scales()["stopped_at"].size() > 0);
}

TEST_CASE("a function that hangs costs its limit once, a part of it a second time, and then nothing") {
    const auto judged = judge("hangs", "--seconds 1.5");
    const auto& second = judged.cases.at("has no mistakes");
    CHECK(second["status"] == "fail");
    CHECK_THAT(
        second["message"].get<std::string>(),
        Contains("did not finish within 1 s (less time than usual, after a test that did not finish: “scales, "));
    const auto& third = judged.cases.at("measures");
    CHECK(third["status"] == "fail");
    CHECK_THAT(third["message"].get<std::string>(), Contains("not called any more: scale did not finish in the test"));
    CHECK(judged.others_are_called());
}

TEST_CASE("a judge that is killed leaves nothing running") {
    const auto running = [] {
        return std::atoi(run_command("pgrep -c -f 'warpgrade-sandbox .*/[p]rogram-hangs'").output.c_str());
    };
    run_command("timeout -s KILL 1 " WG_JUDGE " --sandbox " WG_SANDBOX " --worker " WG_PROGRAMS
                "/program-hangs --verdict /dev/null");
    CHECK(happens([&] { return running() == 0; }));
}

TEST_CASE("leaving early is no pass") {
    check_scale_fails(judge("exits"), "called exit(0) inside scale");
    const auto at_start = judge("exits_at_start");
    REQUIRE(at_start.cases.size() == 5);
    for (const auto& [name, verdict] : at_start.cases) CHECK(verdict["status"] == "fail");
}

TEST_CASE("a flood of output is cut, and is text only") {
    const auto judged = judge("floods");
    INFO(judged.output);
    REQUIRE(judged.cases.size() == 5);
    CHECK(judged.scales()["status"] == "pass");
    const std::string output = judged.scales()["output"];
    CHECK(output.size() < 8192);
    CHECK_THAT(output, Contains("bytes left out]") && Contains("the end"));
}

TEST_CASE("processes are refused and threads bounded") {
    const auto judged = judge("fork_bomb");
    INFO(judged.output << judged.message());
    CHECK(judged.scales()["status"] == "pass");
    CHECK(judged.others_pass());
}

TEST_CASE("replies that the program writes itself gain nothing") {
    // A forged reply to this call is the same as returning without computing.
    const auto forged = judge("forged_reply", "--seconds 1");
    REQUIRE(forged.cases.size() == 5);
    CHECK(forged.scales()["status"] == "fail");
    CHECK(forged.others_are_called());
    check_scale_fails(judge("noise_on_the_connection"), "wrote to the judge's connection");
    check_scale_fails(judge("closes_everything"), "closed the judge's connection");
}

TEST_CASE("memory is bounded, and the program may go on") {
    const auto judged = judge("memory_hog");
    INFO(judged.output << judged.message());
    CHECK(judged.scales()["status"] == "pass");
}

TEST_CASE("the judge compares with inputs of its own") {
    const auto judged = judge("changes_its_inputs");
    check_scale_fails(judged, "got 0");
}

TEST_CASE("results that arrive after the return are not there") {
    check_scale_fails(judge("computes_late"), "never written");
}

TEST_CASE("the seed replays a run, alone or among others") {
    const auto first = judge("wrong", "--seed 7"), again = judge("wrong", "--seed 7"),
               other = judge("wrong", "--seed 8");
    const auto alone = judge("wrong", "--seed 7 --test 'scales, with commas and [brackets]'");
    CHECK(first.start["seed"] == 7);
    CHECK(alone.cases.size() == 1);
    // The expected values are the same, and so is the content of the unwritten element.
    CHECK(first.message() == again.message());
    CHECK(first.message() == alone.message());
    CHECK(first.message() != other.message());
}

TEST_CASE("public tests alone, and no test at all") {
    const auto only_public = judge("correct", "--only public");
    CHECK(only_public.cases.size() == 4);
    CHECK(only_public.cases.count("negates in place") == 0);
    const auto none = judge("correct", "--test 'no such test'");
    CHECK(none.status != 0);
    CHECK(none.end.is_null());
}

TEST_CASE("in the plain sandbox the judge works the same") {
    const std::string plain = " --plain-sandbox ";
    const auto correct = judge("correct", plain);
    INFO(correct.output);
    CHECK(correct.others_pass());
    CHECK(correct.scales()["status"] == "pass");
    check_scale_fails(judge("past_the_end", plain), "past the end of y");
    check_scale_fails(judge("null_pointer", plain), "null pointer");
    check_scale_fails(judge("stack_overflow", plain), "stack");
    check_runs_out_of_time(judge("hangs", plain + "--seconds 0.5"), "0.5 s");
    check_scale_fails(judge("exits", plain), "called exit(0) inside scale");
    check_scale_fails(judge("throws", plain), "");
    check_scale_fails(judge("aborts", plain), "");
    CHECK(judge("fork_bomb", plain).scales()["status"] == "pass");
    CHECK(judge("memory_hog", plain).scales()["status"] == "pass");
    CHECK(judge("floods", plain).scales()["status"] == "pass");
    const auto forged = judge("forged_reply", plain + "--seconds 1");
    CHECK(forged.scales()["status"] == "fail");
    CHECK(forged.others_are_called());
}

TEST_CASE("without a sandbox the judge works the same") {
    CHECK(judge("correct", "--no-sandbox").others_pass());
    check_scale_fails(judge("past_the_end", "--no-sandbox"), "past the end of y");
    check_runs_out_of_time(judge("hangs", "--no-sandbox --seconds 0.5"), "0.5 s");
}
