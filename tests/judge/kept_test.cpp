// Verdicts, speeds and the cache of the starter's calls: no field is lost, and no two numbers are swapped.
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "judge/baseline_cache.hpp"
#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/speed.hpp"
#include "judge/verdict.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

CaseVerdict fresh() {
    context().submission = std::make_unique<Program>(Program::Role::submission);
    context().begin_test("t");
    CaseVerdict verdict;
    verdict.begin("t", {"public", "speed"});
    return verdict;
}

struct Scratch {
    Scratch() { std::filesystem::create_directory(folder); }
    ~Scratch() { std::filesystem::remove_all(folder); }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
    }
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("kept-" + std::to_string(getpid()) + "-test");
};

Profile profile(std::vector<double> kernels, double time) {
    Profile run;
    for (const double duration : kernels) {
        run.launches.emplace_back();
        run.launches.back().duration_ns = duration;
    }
    run.time_ns = time;
    return run;
}

BaselineCache::Entry entry_of(std::size_t bytes, std::uint64_t result = 1) {
    return {result, {std::vector<std::byte>(bytes)}, ""};
}

}  // namespace

TEST_CASE("a verdict's line holds all that was gathered") {
    auto verdict = fresh();
    auto& current = context();
    current.seed = 77;
    current.part = 0.25;
    current.signs = {"wrong"};
    current.stopped_at = {1, 2};
    current.review = {"looks odd"};
    current.measurements = {{"time", 2.5, "ns"}};
    current.launches.resize(3);
    current.called = {"scan", "sum"};
    current.faulty = {{"scan", "racecheck/shared"}};
    verdict.set_checks(2);
    const auto line = verdict.end();
    CHECK(line["type"] == "case");
    CHECK(line["name"] == "t");
    CHECK(line["tags"] == nlohmann::json({"public", "speed"}));
    CHECK(line["status"] == "pass");
    CHECK(line["unsupported"] == false);
    CHECK(line["seconds"].get<double>() >= 0);
    CHECK(line["message"] == "");
    CHECK(line["part"] == 0.25);
    CHECK(line["signs"] == nlohmann::json({"wrong"}));
    CHECK(line["stopped_at"] == nlohmann::json({1, 2}));
    CHECK(line["measurements"] == nlohmann::json::parse(R"([{"name": "time", "value": 2.5, "unit": "ns"}])"));
    CHECK(line["launches"].size() == 3);
    CHECK(line["launches_left_out"] == 0);
    CHECK(line["diagnostics"].empty());
    CHECK(line["review"] == nlohmann::json({"looks odd"}));
    CHECK(line["functions"] == nlohmann::json({"scan", "sum"}));
    CHECK(line["faulty"] == nlohmann::json({{"scan", "racecheck/shared"}}));
    CHECK(line["output"] == "");
    CHECK(line["seed"] == 77);
}

TEST_CASE("nothing of a test is left when the next begins") {
    auto verdict = fresh();
    verdict.add_failure("wrong");
    verdict.add_unsupported("no wmma");
    verdict.set_checks(1);
    auto& current = context();
    current.measurements = {{"time", 1, "ns"}};
    current.launches.resize(1);
    current.diagnostics.resize(1);
    current.last_call = "f(1)";
    current.notes = {"a note"};
    current.review = {"looks odd"};
    current.mismatch = current.failure = current.part_reason = "words";
    current.part = 0.5;
    current.outputs.resize(1);
    current.stopped_at = {1};
    current.called = {"f"};
    current.faulty = {{"f", "racecheck/shared"}};
    current.begin_test("u");
    verdict.begin("u", {});
    const auto line = verdict.end();
    CHECK(line["status"] == "error");
    CHECK(line["message"] == "the test checked nothing");
    CHECK(line["unsupported"] == false);
    CHECK(line["name"] == "u");
    CHECK(line["part"] == 1);
    for (const char* key : {"tags", "signs", "stopped_at", "measurements", "launches", "review"})
        CHECK(line[key].empty());
    CHECK((current.test == "u" && current.last_call.empty() && current.notes.empty() && current.outputs.empty()));
    CHECK((current.mismatch.empty() && current.failure.empty() && current.part_reason.empty()));
    CHECK((current.diagnostics.empty() && current.launches.empty()));
}

TEST_CASE("what the device lacks is that only as long as nothing else went wrong") {
    const auto told = [](const std::string& events) {
        auto verdict = fresh();
        for (const char event : events)
            event == 'u' ? verdict.add_unsupported("no wmma") : verdict.add_error("broken " + std::string(1, event));
        const auto line = verdict.end();
        CHECK(line["status"] == "error");
        return line["unsupported"].get<bool>();
    };
    CHECK(told("u"));
    CHECK(told("uu"));
    CHECK_FALSE(told("e"));
    CHECK_FALSE(told("ue"));
    CHECK_FALSE(told("eu"));
    CHECK_FALSE(told("euu"));
}

TEST_CASE("a failure tells its call, the outputs that were never written, and what else is noted") {
    auto verdict = fresh();
    context().last_call = "f(x: 3 float)";
    context().outputs = {{"a", wire::Kind::out, {}, {}, true},
                         {"b", wire::Kind::out, {}, {}, false},
                         {"c", wire::Kind::inout, {}, {}, true}};
    verdict.add_failure("wrong", "\n  n = 3");
    CHECK(verdict.end()["message"] == "wrong\n  n = 3\n  in f(x: 3 float)\n  note: a was never written");
    verdict = fresh();
    context().outputs = {{"a", wire::Kind::out, {}, {}, true}};
    verdict.add_failure("a was never written: …");
    CHECK(verdict.end()["message"] == "a was never written: …");
    verdict = fresh();
    context().notes = {"the cause", "second", "third"};
    verdict.add_failure("wrong");
    CHECK(verdict.end()["message"] ==
          "a CUDA call failed: the cause\nProbably as a result: wrong\n  note: second\n  note: third");
    verdict = fresh();
    context().notes = {"the cause"};
    verdict.add_failure("wrong");
    context().notes = {"another"};
    verdict.add_failure("wrong");
    CHECK_THAT(verdict.end()["message"].get<std::string>(),
               Contains("the cause\nProbably") && Contains("another\nProbably"));
    context().begin_test("t");
}

TEST_CASE("the verdicts' file has a line for each thing that happens") {
    const Scratch scratch;
    const auto path = (scratch.folder / "verdicts").string();
    {
        std::ofstream(path) << std::string(5000, 'x');  // of an earlier run
        VerdictFile file(path);
        file.begin(5, R"({"name": "it"})");
        file.begin_case("t");
        auto verdict = fresh();
        verdict.set_checks(1);
        file.end_case(verdict);
        file.write_used_time(1.5);
        file.end(1);
    }
    std::ifstream file(path);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == nlohmann::json::parse(R"({"type": "start", "seed": 5, "device": {"name": "it"}})"));
    CHECK(lines[1] == nlohmann::json::parse(R"({"type": "case_start", "name": "t"})"));
    CHECK(lines[2]["status"] == "pass");
    CHECK(lines[3] == nlohmann::json::parse(R"({"type": "used", "processor_seconds": 1.5})"));
    CHECK(lines[4] == nlohmann::json::parse(R"({"type": "end", "cases": 1})"));
    const auto others = umask(0);
    const auto made = scratch.folder / "new";
    VerdictFile(made.string()).end(0);
    umask(others);
    using std::filesystem::perms;
    CHECK(std::filesystem::status(made).permissions() ==
          (perms::owner_read | perms::owner_write | perms::group_read | perms::others_read));
    CHECK_THROWS_AS(VerdictFile("/no/such/folder/file"), std::system_error);
    VerdictFile full("/dev/full");
    CHECK_THROWS_AS(full.begin_case("t"), std::system_error);
    // Of which a part fits.
    VerdictFile small((scratch.folder / "small").string());
    rlimit usual{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &usual) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{10, usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    CHECK_THROWS_AS(small.begin_case("t"), std::system_error);
    setrlimit(RLIMIT_FSIZE, &usual);
    std::signal(SIGXFSZ, handler);
}

TEST_CASE("a function that counts just what the starter's does is not begun") {
    context().begin_test("begun");
    auto base = profile({30, 50}, 200), mine = profile({80}, 200);
    CHECK_THROWS_AS(require_begun(base, mine), MissingAnalysis);
    for (auto* const run : {&base, &mine})
        for (auto& launch : run->launches) launch.counters.emplace().inst_executed = 8;
    require_begun(base, mine);
    mine.launches[0].counters->inst_executed = 16;
    CHECK_THROWS_AS(require_begun(base, mine), SubmissionFailure);
    CHECK(context().signs == std::vector<std::string>{"unbegun"});
    mine.launches[0].counters->global_load_sectors = 1;
    require_begun(base, mine);
    CHECK_THROWS_AS(require_begun(base, profile({}, 200)), SubmissionFailure);
    CHECK(has_begun(base, mine));
    CHECK_FALSE(has_begun(base, profile({}, 200)));
    CHECK_FALSE(has_begun(mine, mine));
}

TEST_CASE("a speed-up is the starter's time by the submission's") {
    context().begin_test("speed");
    const auto base = profile({30, 50}, 200), mine = profile({10, 10}, 50);
    report_speedup(base, mine);
    report_kernel_speedup(base, mine);
    const auto& all = context().measurements;
    REQUIRE(all.size() == 6);
    const auto is = [&](std::size_t i, const char* name, double value, const char* unit) {
        return all[i].name == name && all[i].value == value && all[i].unit == unit;
    };
    CHECK(is(0, "speedup", 4, "x"));
    CHECK(is(1, "time", 50, "ns"));
    CHECK(is(2, "baseline time", 200, "ns"));
    CHECK(is(3, "speedup", 4, "x"));
    CHECK(is(4, "time", 20, "ns"));
    CHECK(is(5, "baseline time", 80, "ns"));
    for (const auto& none : {profile({}, 5), profile({0}, 5)}) {
        CHECK_THROWS_AS(report_speedup(none, mine), InfrastructureError);
        CHECK_THROWS_AS(report_speedup(base, none), SubmissionFailure);
        CHECK_THROWS_AS(report_kernel_speedup(none, mine), InfrastructureError);
        CHECK_THROWS_AS(report_kernel_speedup(base, none), SubmissionFailure);
    }
    CHECK_THROWS_WITH(report_measurement("it", std::numeric_limits<double>::infinity(), ""),
                      "the measurement 'it' is not a number");
    CHECK(all.size() == 6);
    context().begin_test("");
}

TEST_CASE("a cache keeps 64 MiB of one judge's calls, and writes when there is something new") {
    const Scratch scratch;
    const auto path = (scratch.folder / "cache").string();
    {
        BaselineCache cache(path);
        cache.save();
        CHECK(scratch.files() == 0);  // nothing to keep
        constexpr std::size_t most = std::size_t{64} << 20;
        cache.add("one", entry_of(most - 10));
        auto with_report = entry_of(6, 2);
        with_report.report = "12345";
        cache.add("too much", with_report);
        with_report.report = "1234";
        cache.add("just so", with_report);
        cache.add("none", entry_of(1));
        CHECK(cache.find("one"));
        CHECK_FALSE(cache.find("too much"));
        CHECK(cache.find("just so"));
        CHECK_FALSE(cache.find("none"));
    }
    BaselineCache cache(path);
    cache.add("a", entry_of(3));
    cache.save();
    REQUIRE(scratch.files() == 1);
    std::filesystem::remove(path);
    cache.save();  // it has said all
    cache.add("a", entry_of(4, 9));
    cache.save();
    CHECK(scratch.files() == 0);
    CHECK(cache.find("a")->result == 1);  // the first answer stays
    cache.add("b", entry_of(3));
    cache.save();
    CHECK(scratch.files() == 1);
    // A file of another format holds nothing.
    std::ifstream stored(path, std::ios::binary);
    auto all = nlohmann::json::from_cbor(stored);
    CHECK(BaselineCache(path).find("b"));
    all["format"] = "warpgrade/baseline/0";
    const auto bytes = nlohmann::json::to_cbor(all);
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    CHECK_FALSE(BaselineCache(path).find("b"));
}

TEST_CASE("a cache that cannot be written leaves nothing behind, and tries again") {
    const Scratch scratch;
    const auto path = scratch.folder / "cache";
    std::filesystem::create_directories(path / "in the way");
    BaselineCache cache(path.string());
    cache.add("a", entry_of(3));
    cache.save();
    CHECK(scratch.files() == 1);
    std::filesystem::remove_all(path);
    cache.save();
    CHECK(BaselineCache(path.string()).find("a"));
    BaselineCache nowhere("/no/such/folder/cache");
    nowhere.add("a", entry_of(3));
    CHECK_NOTHROW(nowhere.save());
}
