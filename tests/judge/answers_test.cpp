// The judge's use of a device's report: errors and faults, launches that count, and messages about an output that was
// never written.

#include "device/report.hpp"
#include "judge/context.hpp"
#include "judge/device_server.hpp"
#include "judge/errors.hpp"
#include "judge/judged.hpp"
#include "judge/session.hpp"
#include "judge/submission.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

device::LaunchRecord launch(const std::string& name, double duration_ns = 1) {
    device::LaunchRecord record;
    record.kernel = record.demangled = name;
    record.duration_ns = duration_ns;
    return record;
}

std::vector<device::LaunchRecord> launches(const std::vector<std::string>& names) {
    std::vector<device::LaunchRecord> all;
    for (const auto& name : names) all.push_back(launch(name));
    return all;
}

std::string refused(const Profile& run, const std::string& name = "") {
    try {
        return run.kernel(name).demangled;
    } catch (const SubmissionFailure& failure) {
        return failure.what();
    }
}

// A call of the starter, kept with this report.
CallResult kept(const device::Report& report, std::vector<std::string>& notes) {
    context().begin_test("kept");
    return make_result(BaselineCache::Entry{7, {{std::byte{1}}}, device::pack_report(report)}, notes);
}

}  // namespace

TEST_CASE("a kernel is found by its name, if it was launched once") {
    Profile run;
    CHECK(refused(run) == "no kernel was launched");
    run.launches = launches({"void add<int>(int)"});
    CHECK(refused(run) == "void add<int>(int)");
    CHECK(refused(run, "add") == "void add<int>(int)");
    CHECK(refused(run, "mul") == "launches of mul: 0, expected 1 (launched: void add<int>(int))");
    run.launches = launches({"a", "b", "c", "a"});
    CHECK(refused(run, "b") == "b");
    CHECK(refused(run, "a") == "launches of a: 2, expected 1 (launched: a, b, c, a)");
    CHECK(refused(run) == "kernel launches: 4, expected 1 (launched: a, b, c, a)");
    run.launches = launches({"a", "b", "c", "d", "e"});
    CHECK(refused(run) == "kernel launches: 5, expected 1 (launched: a, b, c, d, …)");
    run.not_part = launches({"x", "y"});
    CHECK_THAT(refused(run), Contains("d, …); not part of the result: x, y"));
    run.launches.clear();
    CHECK(refused(run) == "no kernel was launched that the result comes from; not part of the result: x, y");
}

TEST_CASE("launches that the outputs do not come from are told apart") {
    device::Report report;
    report.launches = {launch("a", 2), launch("b", 3), launch("c", 5)};
    report.clock_ns = 20, report.output = "printed";
    report.waits_ns = {4};
    std::vector<std::string> notes;
    auto result = kept(report, notes);
    CHECK(result.profile.kernel_time_ns() == 10);
    CHECK(result.profile.launches.size() == 3);
    CHECK((result.profile.time_ns == 20 && result.profile.device_output == "printed"));
    CHECK((result.result == 7 && result.outputs.size() == 1));
    report.origin.emplace().not_part = {1, 3};
    result = kept(report, notes);
    REQUIRE((result.profile.launches.size() == 1 && result.profile.not_part.size() == 2));
    CHECK(result.profile.launches[0].demangled == "b");
    CHECK(result.profile.not_part[1].demangled == "c");
    CHECK(notes.empty());
}

TEST_CASE("three errors of CUDA calls are noted, and how many more there were") {
    const auto noted = [](std::size_t count, const std::string& fault = "") {
        device::Report report;
        for (std::size_t i = 0; i < count; ++i)
            report.call_errors.push_back({"cudaMemcpy", 1, "error " + std::to_string(i)});
        if (!fault.empty()) report.call_errors.push_back({"launch", 700, fault});
        std::vector<std::string> notes;
        kept(report, notes);
        return notes;
    };
    using Notes = std::vector<std::string>;
    CHECK(noted(0).empty());
    CHECK(context().signs.empty());
    CHECK(noted(2) == Notes{"cudaMemcpy: error 0", "cudaMemcpy: error 1"});
    CHECK(context().signs == Notes{"cuda-error"});
    CHECK(noted(3).size() == 3);
    CHECK(noted(4) ==
          Notes{"cudaMemcpy: error 0", "cudaMemcpy: error 1", "cudaMemcpy: error 2", "and 1 more CUDA errors"});
    CHECK(noted(6).back() == "and 3 more CUDA errors");
    // A fault is reported as such, and not again as an error.
    CHECK(noted(1, "8 bytes past d") == Notes{"cudaMemcpy: error 0"});
    CHECK(noted(0, "8 bytes past d").empty());
    CHECK(context().signs.empty());
    device::Report report;
    report.call_errors = {{"cudaMemcpy", 1, std::string(700, 'x')}};
    Notes notes;
    kept(report, notes);
    CHECK(notes[0].size() == 600);
}

TEST_CASE("a fault is what ended the context, the first of them") {
    const auto fault_of = [](const device::Report& report) { return read_report(device::pack_report(report)).fault; };
    device::Report report;
    for (const int code : {700, 702, 710, 714, 715, 716, 717, 718, 719}) {
        report.call_errors = {{"cudaMalloc", 2, "no memory"}, {"launch", code, "it"}, {"cudaFree", 700, "again"}};
        CHECK(fault_of(report) == "it");
    }
    for (const int code : {1, 2, 9, 98, 400, 701, 703, 801}) {
        report.call_errors = {{"launch", code, "it"}};
        CHECK(fault_of(report).empty());
    }
    report.launches = {launch("fine"), launch("first"), launch("second")};
    report.launches[1].error_code = 1, report.launches[1].error = "of the first";
    report.launches[2].error_code = 2, report.launches[2].error = "of the second";
    report.call_errors = {{"launch", 700, "later"}};
    CHECK(fault_of(report) == "of the first");
    report.call_errors = {{"a", 801, "no wmma"}, {"b", 801, "no mma"}, {"c", 1, "misuse"}};
    const auto read = read_report(device::pack_report(report));
    CHECK(read.unsupported == "no wmma");
    CHECK(read.errors == std::vector<std::string>{"a: no wmma", "b: no mma", "c: misuse"});
    report.call_errors = {{"c", 1, "misuse"}};
    CHECK(read_report(device::pack_report(report)).unsupported.empty());
}

namespace {

nlohmann::json verdict_of(const std::string& program, const std::string& device) {
    return ::judge(program,
                   "--device-server " WG_FAKE_DEVICE " --device fake:" + device + " --test \"has no mistakes\"")
        .cases.at("has no mistakes");
}

}  // namespace

TEST_CASE("a function that ran no kernel that writes is told so where its output was never written") {
    const auto told = [](const std::string& device) {
        return ::judge("never_writes", "--device-server " WG_FAKE_DEVICE " --device fake:" + device +
                                           " --test 'scales, with commas and [brackets]'")
            .message();
    };
    CHECK_THAT(told("idle"), Contains("y was never written") && Contains("No kernel was launched"));
    CHECK_THAT(told("kernels"), Contains("No kernel of this call has written to global memory"));
    for (const char* device : {"stores", "atomics", "surfaces"})
        CHECK_THAT(told(device),
                   Contains("y was never written") && Contains("Is the result copied back") && !Contains("No kernel"));
    CHECK_THAT(told("misuse"), Contains("y was never written") && !Contains("No kernel"));
}

TEST_CASE("an output that did not come from the device, and one that nothing wrote") {
    const auto found = verdict_of("correct", "not_found_1");
    CHECK(found["status"] == "fail");
    CHECK_THAT(found["message"].get<std::string>(), Contains("y[0] did not come from the device"));
    CHECK(found["signs"] == nlohmann::json({"origin"}));
    CHECK(found["review"] == nlohmann::json({"its result was not computed by the device"}));
    // A function that may do its work on the host is not asked where its result comes from.
    const auto all = ::judge("correct", "--device-server " WG_FAKE_DEVICE " --device fake:not_found_1");
    CHECK(all.cases.at("sums")["status"] == "pass");
    CHECK(all.cases.at("negates in place")["status"] == "fail");
    const auto unwritten = verdict_of("never_writes", "not_found_1");
    CHECK(unwritten["status"] == "fail");
    CHECK_THAT(unwritten["message"].get<std::string>(), Contains("y was never written"));
    CHECK(unwritten["signs"] == nlohmann::json({"unwritten"}));
    CHECK(unwritten["review"].empty());
    CHECK(verdict_of("never_writes", "not_found_0")["signs"] == nlohmann::json({"origin"}));  // of the input
}
