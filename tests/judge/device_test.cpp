// A device server that crashes, hangs or sends invalid messages is never the student's failure.
#include "judge/judged.hpp"
#include "support/contains.hpp"

namespace {

Judged judge_on(const std::string& device, const std::string& options = "") {
    return judge("correct", options + " --device-server " WG_FAKE_DEVICE " --device fake:" + device);
}

int count(const std::string& text, const std::string& words) {
    int found = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("a device server serves the sessions of several tests, one after the other") {
    const auto begun = [](const Judged& judged) { return count(judged.output, "a device server begins\n"); };
    const auto kept = judge_on("leaks");
    INFO(kept.output);
    CHECK(kept.others_pass());
    CHECK(begun(kept) == 2);  // the submission's and the starter's
    // One that cannot serve another session is replaced, and nobody's verdict depends on it.
    for (const char* device : {"old", "falls_ill"}) {
        const auto judged = judge_on(device);
        INFO(judged.output);
        CHECK(judged.others_pass());
        CHECK(begun(judged) == 5 + 1);
    }
}

TEST_CASE("calls are repeated in other orders unless no launch depends on the order") {
    const auto begun = [](const char* device) {
        const auto judged = judge_on(device);
        INFO(judged.output);
        CHECK(judged.others_pass());
        return count(judged.output, "a device server begins\n");
    };
    CHECK(begun("any_order") == 2);
    CHECK(begun("second_any_order") == 3);  // the first launch may
    CHECK(begun("stores") == 3);
}

TEST_CASE("a device server whose session did not come to an end serves no other one") {
    const auto judged = judge("throws", "--device-server " WG_FAKE_DEVICE " --device fake:leaks");
    INFO(judged.output);
    CHECK(count(judged.output, "a device server begins\n") > 2);
}

TEST_CASE("a device server that fails is an error, not a failure") {
    const auto [device, reason] =
        GENERATE(table<std::string, std::string>({{"dies", "ended unexpectedly"},
                                                  {"nonsense", "cannot be read"},
                                                  {"wordless", "cannot be read"},
                                                  {"mute", "does not tell what its device knows"},
                                                  {"countless", "does not tell what its device knows"},
                                                  {"timeless", "does not tell what its device knows"},
                                                  {"broken", "out of its own memory"}}));
    const auto judged = judge_on(device);
    INFO(judged.output);
    REQUIRE(judged.cases.size() == 5);
    CHECK(judged.scales()["status"] == "error");
    CHECK_THAT(judged.message(), Contains(reason));
    CHECK(judged.end["cases"] == 5);
}

TEST_CASE("a device server that a program kills, or makes report without end, is a failure of that program") {
    const auto [device, reason] = GENERATE(table<std::string, std::string>(
        {{"killed", "crashed the device twice: the device server ended unexpectedly (signal 4)"},
         {"endless", "more than can be recorded"},
         {"huge", "more than can be recorded"}}));
    const auto judged = judge_on(device);
    INFO(judged.output);
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains(reason));
    CHECK(judged.end["cases"] == 5);
}

TEST_CASE("a device without analysis: results count, and what only analysis knows is pending") {
    const auto judged = judge("correct", "--device-server " WG_FAKE_DEVICE " --device gpu::mute");
    INFO(judged.output);
    CHECK(judged.cases.at("sums")["status"] == "pass");
    CHECK(judged.scales()["status"] == "pending");
    CHECK(judged.cases.at("has no mistakes")["status"] == "pending");
}

TEST_CASE("what the device does not support is an error that the grader may look into") {
    const auto judged = judge_on("limited");
    CHECK(judged.scales()["status"] == "error");
    CHECK(judged.scales()["unsupported"] == true);
    const auto& other = judged.cases.at("sums");  // each test for itself
    CHECK(other["unsupported"] == true);
    CHECK_THAT(other["message"].get<std::string>(), Contains("'wmma' is not supported"));
    CHECK(judge_on("dies").scales()["unsupported"] == false);
    CHECK(judge_on("fault").scales()["unsupported"] == false);
    CHECK_THAT(judged.message(), Contains("cannot run this program: 'wmma' is not supported"));
}

TEST_CASE("a kernel's fault fails the test in the device's words") {
    const auto judged = judge_on("fault");
    CHECK(judged.start["device"]["name"] == "a fake");
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains("on the device: 8 bytes past d (400 bytes)"));
    // The starter's fault is no student's.
    CHECK(judged.cases.at("measures")["status"] == "error");
}

TEST_CASE("errors of CUDA calls explain a wrong result, and spoil no right one") {
    CHECK(judge_on("misuse").scales()["status"] == "pass");
    const auto judged = judge("wrong", std::string("--device-server ") + WG_FAKE_DEVICE + " --device fake:misuse");
    CHECK_THAT(judged.message(), Contains("a CUDA call failed: cudaMemcpy: the size is larger than d"));
    CHECK_THAT(judged.message(), Contains("Probably as a result: y: "));
    CHECK_THAT(judged.message(), !Contains("note: cudaMemcpy"));  // that of an earlier call
}

TEST_CASE("what the checks found is in the verdict, once for all calls of the test") {
    // The first test makes three calls, and each program's end is one more request.
    const auto judged = judge_on("mistakes");
    const auto& found = judged.scales()["diagnostics"];
    INFO(judged.scales().dump());
    CHECK(judged.scales()["status"] == "pass");
    REQUIRE(found.size() == 2);
    CHECK(found[0]["rule"] == "racecheck/shared");
    CHECK(found[0]["place"]["line"] == 17);
    CHECK(found[1]["place"]["line"] == 18);
    CHECK(found[0]["count"].get<int>() >= 3);
    CHECK(judge_on("kernels").scales()["diagnostics"].empty());
}

TEST_CASE("work of two streams without an order fails whatever the result is") {
    const auto judged = judge_on("streams");
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains("nothing makes one wait for the other (racecheck/stream)"));
    CHECK_THAT(judged.message(), !Contains("4711"));  // also of a hidden test
    REQUIRE(judged.scales()["diagnostics"].size() == 1);
    CHECK(judged.scales()["diagnostics"][0]["rule"] == "racecheck/stream");
}

TEST_CASE("what the checks found explains a fault, too") {
    const auto judged = judge_on("fault");
    CHECK(judged.scales()["status"] == "fail");
    CHECK(judged.scales()["diagnostics"].size() == 2);
    // Here it is the starter that faulted, after a call of it alone.
    CHECK(judged.cases.at("measures")["diagnostics"].empty());
}

TEST_CASE("what the device finds when the program has ended still reaches the verdict") {
    const auto judged = judge_on("leaks");
    const auto& found = judged.scales()["diagnostics"];
    INFO(judged.scales().dump());
    CHECK(judged.scales()["status"] == "pass");
    REQUIRE(found.size() == 1);
    CHECK(found[0]["rule"] == "memcheck/leak");
}

TEST_CASE("a test may ask for a program without mistakes") {
    const auto judged = judge_on("mistakes");
    const auto& asked = judged.cases.at("has no mistakes");
    CHECK(asked["status"] == "fail");
    CHECK_THAT(asked["message"].get<std::string>(),
               Contains("the checks found 2 mistakes: race in shared memory (racecheck/shared) at "
                        "/submission/sums.cu:17; race"));
    CHECK(judge_on("kernels").cases.at("has no mistakes")["status"] == "pass");
    const auto without = judge_on("kernels", "--checks init,sync").cases.at("has no mistakes");
    CHECK(without["status"] == "error");
    CHECK_THAT(without["message"].get<std::string>(), Contains("racecheck, which --checks has switched off"));
}

TEST_CASE("a measured test carries its launches and its speed") {
    const auto judged = judge_on("kernels");
    const auto& measured = judged.cases.at("measures");
    INFO(measured.dump());
    CHECK(measured["status"] == "pass");
    REQUIRE(measured["launches"].size() == 2);
    CHECK(measured["launches"][1]["name"] == "second");
    CHECK(measured["launches"][1]["counters"]["inst_executed"] == 42);
    REQUIRE(measured["measurements"].size() >= 3);
    CHECK(measured["measurements"][0] == nlohmann::json({{"name", "speedup"}, {"value", 1.0}, {"unit", "x"}}));
    CHECK(judged.scales()["launches"].empty());
}

TEST_CASE("no kernel, no speed") {
    // Here it is the starter that launches none.
    CHECK(judge_on("idle").cases.at("measures")["status"] == "error");
}

TEST_CASE("a device server that cannot start ends the judge without a verdict") {
    const auto judged = judge("correct", "--device-server /bin/false");
    CHECK(judged.status != 0);
    CHECK(judged.end.is_null());
    CHECK(judged.cases.empty());
}
