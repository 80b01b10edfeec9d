// A speed test's calls on a second device, whose times count, and what becomes of times that vary.
#include "judge/timed_call.hpp"

#include <filesystem>

#include "judge/judged.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;

namespace {

nlohmann::json measured(const std::string& options, const std::string& test = "measures",
                        const std::string& program = "correct", const std::string& device = "kernels") {
    const auto judged = judge(
        program,
        "--device-server " WG_FAKE_DEVICE " --device fake:" + device + " --seed 7 --test \"" + test + "\"" + options,
        "correct");
    INFO(judged.output);
    return judged.cases.at(test);
}

double value(const nlohmann::json& of, const char* name) {
    for (const auto& one : of["measurements"])
        if (one["name"] == name) return one["value"].get<double>();
    return -1;
}

}  // namespace

TEST_CASE("times come from the device that times, all else from the one that looks") {
    const auto here = measured("");
    const auto there = measured(" --timing-device fake:slow");
    CHECK(there["status"] == "pass");
    CHECK(value(here, "time") == 1000);
    CHECK(value(there, "time") == 2000);
    CHECK(value(there, "baseline time") == 2000);
    CHECK(value(there, "speedup at most") == -1);  // these times are always the same
    CHECK(there["launches"].size() == here["launches"].size());
    CHECK(there["launches"][0]["counters"] == here["launches"][0]["counters"]);
    // It must launch the same kernels there as on the analysing device.
    CHECK(measured(" --timing-device fake:nothing")["status"] != "pass");
    // Results with times from another device are not cached.
    const std::string cache = std::filesystem::temp_directory_path() / ("timed-" + std::to_string(getpid()));
    measured(" --timing-device fake:slow --baseline-cache " + cache);
    CHECK(!std::filesystem::exists(cache));
}

TEST_CASE("where times vary, calls are made again in turn, and medians count, with bounds") {
    const auto varies = measured(" --timing-device gpu::varies");
    CHECK(varies["status"] == "pass");
    CHECK(value(varies, "time") == 2010);
    CHECK(value(varies, "speedup") == 1);
    CHECK(value(varies, "speedup at least") > 0.98);
    CHECK(value(varies, "speedup at least") <= 1);
    CHECK(value(varies, "speedup at most") >= 1);
    CHECK(value(varies, "speedup at most") < 1.02);
}

TEST_CASE("each time is that of a call with other inputs, whose result must be right") {
    const auto kept = measured(" --timing-device gpu::varies", "measures", "keeps_its_result");
    CHECK(kept["status"] == "fail");
    CHECK_THAT(kept["message"].get<std::string>(), Contains("with other inputs") && Contains("than the starter"));
    CHECK(measured("", "measures", "keeps_its_result")["status"] == "pass");
}

TEST_CASE("a program that is faster when it has seen its inputs before has no speed") {
    const auto remembers = measured(" --timing-device gpu::remembers");
    CHECK(remembers["status"] == "fail");
    CHECK_THAT(remembers["message"].get<std::string>(), Contains("Compute the results anew in each call"));
}

TEST_CASE("a time that no GPU can reach is an error, for somebody to look at") {
    const auto possible = measured(" --timing-device gpu::varies");
    CHECK(possible["status"] == "pass");
    const auto impossible = measured(" --timing-device gpu::varies", "measures", "correct", "works_hard");
    CHECK(impossible["status"] == "error");
    CHECK_THAT(impossible["message"].get<std::string>(), Contains("2.01 µs for kernels that take at least 12.5 µs"));
    CHECK(impossible["review"][0] == "its kernels took less time than any such GPU needs for them");
}

TEST_CASE("no GPU is faster than half of its peak rates allow") {
    warpgrade::device::DeviceProperties gpu;
    warpgrade::device::Counters did;
    did.inst_executed = 8000;
    CHECK(impossible_time_ns(did, gpu) == 0);
    gpu.multi_processor_count = 10;
    CHECK(impossible_time_ns(did, gpu) == 0);
    gpu.clock_ghz = 2;
    CHECK(impossible_time_ns({}, gpu) == 0);
    CHECK(impossible_time_ns(did, gpu) == 50);
    did.global_load_sectors = 8000, did.global_store_sectors = 4000;
    CHECK(impossible_time_ns(did, gpu) == 75);
    did.shared_load_wavefronts = 3000, did.shared_store_wavefronts = 1000;
    CHECK(impossible_time_ns(did, gpu) == 100);
}

TEST_CASE("bounds of a ratio hold its value, and come closer with more calls") {
    std::vector<double> slow, fast;
    double last = 1;
    for (const std::size_t count : {5, 50, 500}) {
        while (slow.size() < count) {
            slow.push_back(300 + static_cast<double>(slow.size() * 7 % 11));
            fast.push_back(100 + static_cast<double>(fast.size() * 5 % 7));
        }
        const Ratio ratio = find_ratio(slow, fast);
        CHECK(ratio.middle == median(slow) / median(fast));
        CHECK(ratio.least <= ratio.middle);
        CHECK(ratio.most >= ratio.middle);
        CHECK(ratio.most - ratio.least < last);
        last = ratio.most - ratio.least;
    }
    const Ratio exact = find_ratio(std::vector<double>{8, 8}, std::vector<double>{2, 2});
    CHECK((exact.least == 4 && exact.middle == 4 && exact.most == 4));
    CHECK(find_ratio({}, {}).most == 0);
}

TEST_CASE("a median is the middle, or between the two in the middle") {
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 3, 2}) == 2.5);
    CHECK(median({}) == 0);
}
