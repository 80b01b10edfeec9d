#include "judge/measures.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/verdict.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

// The message of a failed check; empty if it passes.
std::string message(const Measure& measured, const Good& good) {
    context().failure.clear();
    const bool matched = good.match(measured);
    CHECK(matched == context().failure.empty());
    return std::exchange(context().failure, {});
}

// Each counter has a value of its own.
device::LaunchRecord launch() {
    device::LaunchRecord record;
    record.counters.emplace();
    std::uint64_t next = 1;
#define WG_COUNTER(field, ncu, meaning) record.counters->field = next++;
#include "device/counters.def"
#undef WG_COUNTER
    record.config.grid = {3, 2, 1};
    record.config.block = {32, 4, 1};
    record.config.dynamic_shared_bytes = 512;
    record.static_shared_bytes = 128;
    return record;
}

}  // namespace

TEST_CASE("a failed check names what is measured, its value and what is good") {
    const auto sectors = measure("sectors stored to global memory", 2048);
    CHECK(message(sectors, is(512)) == "sectors stored to global memory: 2048, expected 512");
    CHECK(message(sectors, is(512, "each element once")) ==
          "sectors stored to global memory: 2048, expected 512 (each element once)");
    CHECK(message(sectors, at_most(2047)) == "sectors stored to global memory: 2048, expected at most 2047");
    CHECK(message(sectors, at_least(2049)) == "sectors stored to global memory: 2048, expected at least 2049");
    CHECK(message(sectors, below(2048)) == "sectors stored to global memory: 2048, expected less than 2048");
    CHECK(message(sectors, between(4, 4)) == "sectors stored to global memory: 2048, expected 4");
    CHECK(message(sectors, between(4, 8)) == "sectors stored to global memory: 2048, expected between 4 and 8");
}

TEST_CASE("limits are good themselves, but for below") {
    const auto seven = measure("seven", 7);
    CHECK(message(seven, is(7)).empty());
    CHECK(message(seven, at_most(7)).empty());
    CHECK(message(seven, at_least(7)).empty());
    CHECK(message(seven, between(7, 8)).empty());
    CHECK(message(seven, between(6, 7)).empty());
    CHECK(message(seven, below(8)).empty());
    CHECK(!message(seven, below(7)).empty());
    CHECK(!message(seven, between(5, 6)).empty());
}

TEST_CASE("no number that is none is good") {
    const auto none = measure("ratio", std::nan(""));
    for (const auto& good : {is(1), at_most(1), at_least(1), below(1), between(0, 1)})
        CHECK_THAT(message(none, good), Contains("ratio: nan, expected "));
}

TEST_CASE("a limit may come from another measure") {
    const auto padded = measure("bank conflicts of rows_padded", 40),
               plain = measure("bank conflicts of rows_strided", 62);
    CHECK(message(padded, at_most(plain)).empty());
    CHECK(message(padded, at_most(0.5 * plain)) ==
          "bank conflicts of rows_padded: 40, expected at most 31 (0.5 × bank conflicts of rows_strided)");
    CHECK(message(padded, is(plain, "like the plain one")) ==
          "bank conflicts of rows_padded: 40, expected 62 (like the plain one)");
}

TEST_CASE("numbers are written for people") {
    CHECK(message(measure("n", 1048576), is(9999)) == "n: 1,048,576, expected 9999");
    CHECK(message(measure("n", -12345), is(0)) == "n: -12,345, expected 0");
    CHECK(message(measure("n", ~std::uint64_t{0} / 2), is(123456)) == "n: 9,223,372,036,854,775,808, expected 123,456");
    CHECK(message(measure("time", 123456.7, "ns"), below(2500.25, "with one stream")) ==
          "time: 123,457 ns, expected less than 2500.2 ns (with one stream)");
    CHECK(message(measure("part", 1.0 / 3), is(0.25)) == "part: 0.33333, expected 0.25");
    // If only later digits differ, all digits are shown.
    CHECK(message(measure("part", 0.1 + 0.2), is(0.3)) == "part: 0.30000000000000004, expected 0.3");
    CHECK(message(measure("your answer", false), is(true)) == "your answer: false, expected true");
}

TEST_CASE("each counter has its name") {
    const auto record = launch();
    const auto check = [](const Measure& measured, std::uint64_t value, const char* name) {
        CHECK(measured.number.value() == static_cast<double>(value));
        CHECK(measured.name == name);
    };
    const auto& c = *record.counters;
    check(warp_instructions(record), c.inst_executed, "warp instructions");
    check(thread_instructions(record), c.thread_inst_executed, "thread instructions");
    check(warps(record), c.warps_launched, "warps launched");
    check(barriers(record), c.barriers, "barriers executed by warps");
    check(divergent_branches(record), c.divergent_branches, "divergent branches");
    check(global_load_requests(record),
          c.global_load_requests + c.texture_requests + c.surface_load_requests + c.atomic_requests,
          "global-memory load requests");
    check(global_store_requests(record), c.global_store_requests + c.surface_store_requests,
          "global-memory store requests");
    check(sectors_loaded(record), c.global_load_sectors + c.texture_sectors + c.surface_load_sectors + c.atomic_sectors,
          "sectors loaded from global memory");
    check(sectors_stored(record), c.global_store_sectors + c.surface_store_sectors, "sectors stored to global memory");
    check(global_atomic_requests(record), c.atomic_requests, "global-memory atomic requests");
    check(shared_load_requests(record), c.shared_load_requests, "shared-memory load requests");
    check(shared_store_requests(record), c.shared_store_requests, "shared-memory store requests");
    check(shared_requests(record), c.shared_load_requests + c.shared_store_requests,
          "shared-memory load and store requests");
    check(shared_atomic_requests(record), c.shared_atomic_requests, "shared-memory atomic requests");
    check(bank_conflicts(record), c.shared_load_bank_conflicts + c.shared_store_bank_conflicts,
          "shared-memory bank conflicts");
    check(load_bank_conflicts(record), c.shared_load_bank_conflicts, "bank conflicts of shared-memory loads");
    check(store_bank_conflicts(record), c.shared_store_bank_conflicts, "bank conflicts of shared-memory stores");
    check(local_load_requests(record), c.local_load_requests, "local-memory load requests");
    check(local_store_requests(record), c.local_store_requests, "local-memory store requests");
    check(blocks(record), 6, "blocks in the grid");
    check(threads_per_block(record), 128, "threads per block");
    check(static_shared_bytes(record), 128, "bytes of static shared memory");
    check(dynamic_shared_bytes(record), 512, "bytes of dynamic shared memory");
}

TEST_CASE("loads of every kind count, constants and other memories do not") {
    device::Counters counters;
    const auto loads = [&](auto change) {
        counters = {};
        change(counters);
        return global_load_requests(counters).number.value() + sectors_loaded(counters).number.value();
    };
    CHECK(loads([](auto& c) { c.texture_requests = 1, c.texture_sectors = 4; }) == 5);
    CHECK(loads([](auto& c) { c.surface_load_requests = 1, c.surface_load_sectors = 4; }) == 5);
    CHECK(loads([](auto& c) { c.atomic_requests = 1, c.atomic_sectors = 4; }) == 5);
    CHECK(loads([](auto& c) { c.constant_load_requests = 1, c.constant_load_wavefronts = 32; }) == 0);
    CHECK(loads([](auto& c) { c.local_load_requests = c.shared_load_requests = 1; }) == 0);
}

TEST_CASE("the busiest block's part is that of the launch in which one block does most") {
    Profile run;
    run.launches = {launch(), launch()};
    run.launches[0].counters->inst_executed = 300, run.launches[1].counters->inst_executed = 100;
    run.launches[0].most_block_instructions = 60, run.launches[1].most_block_instructions = 100;
    CHECK(part_of_busiest_block(run).number.value() == 0.25);
    CHECK(part_of_busiest_block(Profile{}).number.value() == 0);
}

TEST_CASE("a run is counted as a whole") {
    Profile run;
    run.launches = {launch(), launch()};
    CHECK(barriers(run).number.value() == 2 * barriers(launch()).number.value());
    CHECK(message(launches(run), is(1)) == "kernel launches: 2, expected 1");
    run.not_part = {launch()};
    CHECK(message(launches(run), is(1)) == "kernel launches that the result comes from: 2, expected 1");
}

TEST_CASE("copies are counted by their direction") {
    using Kind = device::TransferRecord::Kind;
    Profile run;
    run.transfers = std::vector<device::TransferRecord>{{Kind::to_device, 0, 100, {}},
                                                        {Kind::to_device, 0, 28, {}},
                                                        {Kind::to_host, 0, 64, {}},
                                                        {Kind::fill, 0, 32, {}}};
    CHECK(message(copies(run, Kind::to_device), is(1)) == "copies to the device: 2, expected 1");
    CHECK(message(bytes_copied(run, Kind::to_device), is(1)) == "bytes copied to the device: 128, expected 1");
    CHECK(message(copies(run, Kind::to_host), is(0)) == "copies to the host: 1, expected 0");
    CHECK(message(copies(run, Kind::within_device), is(1)) == "copies within the device: 0, expected 1");
    CHECK(message(bytes_copied(run, Kind::fill), is(0)) == "bytes filled by cudaMemset: 32, expected 0");
}

namespace {

// The part of the points, after a check in a test of its own.
double part(const Measure& measured, const Good& good) {
    context().part = 1;
    context().part_reason.clear();
    return good.match(measured) ? context().part : 0;
}

bool predicted(double value, const Prediction& prediction) {
    context().failure.clear();
    context().measurements.clear();
    return prediction.match(value);
}

}  // namespace

TEST_CASE("within a band a part of the points is left, linear from all to none") {
    const auto few = at_most(512, "each once").none_at(1024);
    CHECK(part(measure("sectors", 512), few) == 1);
    CHECK(context().part_reason.empty());
    CHECK(part(measure("sectors", 640), few) == 0.75);
    CHECK(context().part_reason == "sectors: 640; all points at 512 or less, none at 1024 (each once)");
    CHECK(part(measure("sectors", 1023), few) > 0);
    CHECK(part(measure("sectors", 1024), few) == 0);
    CHECK(context().failure == "sectors: 1024, expected at most 512 (each once)");
    CHECK(part(measure("sectors", std::nan("")), few) == 0);
    CHECK(part(measure("ratio", 12, "%"), at_least(16).none_at(8)) == 0.5);
    CHECK(context().part_reason == "ratio: 12 %; all points at 16 or more, none at 8");
    CHECK(part(measure("barriers", 3), is(2).none_at(6)) == 0.75);
    CHECK(context().part_reason == "barriers: 3; all points at 2, none at 6");
    CHECK(part(measure("barriers", 1), is(2).none_at(6)) == 0);  // on the other side
}

TEST_CASE("a verdict holds the numbers of each check with their limits") {
    context().submission = std::make_unique<Program>(Program::Role::submission);
    context().begin_test("t");
    CaseVerdict verdict;
    verdict.begin("t", {});
    static_cast<void>(at_most(512, "each once").none_at(1024).match(measure("sectors", 640)));
    static_cast<void>(between(2, 4).match(measure("ratio", 4.5, "%")));
    static_cast<void>(is(true).match(measure("truth", false)));
    static_cast<void>(at_least(1).match(measure("predicted", std::nan(""))));
    static_cast<void>(is(3).match(measure("launches", 3)));
    CHECK(verdict.end()["checks"] == nlohmann::json::parse(R"([
        {"name": "sectors", "now": 640.0, "unit": "", "relation": "at most", "limit": 512.0, "words": "each once",
         "outcome": "part"},
        {"name": "ratio", "now": 4.5, "unit": "%", "relation": "between", "limit": 2.0, "upper": 4.0, "words": "",
         "outcome": "fail"},
        {"name": "launches", "now": 3.0, "unit": "", "relation": "is", "limit": 3.0, "words": "", "outcome": "pass"}
    ])"));
    for (std::size_t i = 0; i < 2 * max_checks; ++i) static_cast<void>(is(3).match(measure("launches", 3)));
    CHECK(context().checked.size() == max_checks);
    context().begin_test("u");
    CHECK(context().checked.empty());
}

TEST_CASE("of several bands the smallest part counts") {
    context().part = 1;
    CHECK(at_most(0).none_at(4).match(measure("a", 1)));
    CHECK(at_most(0).none_at(4).match(measure("b", 3)));
    CHECK(at_most(0).none_at(4).match(measure("c", 2)));
    CHECK(context().part == 0.25);
    CHECK(context().part_reason.starts_with("b: 3;"));
}

TEST_CASE("a band is of one limit") {
    CHECK_THROWS_AS(below(5).none_at(6), std::logic_error);
    CHECK_THROWS_AS(between(5, 6).none_at(7), std::logic_error);
}

// For example, a test asks for half of the time that streams can hide, and there is none to hide.
TEST_CASE("a limit that was measured may leave no band") {
    CHECK(part(measure("hidden", 0, "ns"), at_least(0).none_at(0)) == 1);
    CHECK(part(measure("barriers", 1), at_most(0).none_at(0)) == 0);
    CHECK(context().failure == "barriers: 1, expected at most 0");
    CHECK(part(measure("ratio", 5), at_least(6).none_at(7)) == 0);
    CHECK(part(measure("ratio", 6.5), at_least(6).none_at(7)) == 1);
}

// For all values from a submission, a matcher matches or fails with a message.
TEST_CASE("no measure makes a matcher throw") {
    const double numbers[] = {0,
                              -0.0,
                              1,
                              -1,
                              1e5,
                              5e-324,
                              std::numeric_limits<double>::max(),
                              std::numeric_limits<double>::lowest(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::nan("")};
    for (const double value : numbers) {
        for (const double limit : numbers) {
            for (const double other : numbers) {
                const auto of = measure("it", limit);
                for (const auto& good : {is(of), at_most(of), at_least(of), below(of), between(of, other),
                                         is(limit).none_at(other), at_most(of).none_at(other),
                                         at_least(limit).none_at(other), at_most(0.5 * of).none_at(2 * other)}) {
                    const auto measured = measure("number", value, "ns");
                    const double points = part(measured, good);
                    CHECK((points >= 0 && points <= 1 && (points == 0 || !std::isnan(value))));
                    if (points == 0) CHECK_THAT(message(measured, good), Contains("number: "));
                }
                for (const double within : {0.0, 0.25}) {
                    const auto prediction = predicts(of, other).within(within);
                    CHECK_FALSE((predicted(value, prediction) && std::isnan(value)));
                    CHECK((!predicted(value, prediction) || value == limit || std::isfinite(limit) || value == other ||
                           std::isfinite(other)));
                }
            }
        }
    }
}

TEST_CASE("a profile of nothing has measures") {
    const Profile nothing;
    for (const auto& measured :
         {warp_instructions(nothing), warps(nothing), barriers(nothing), sectors_loaded(nothing),
          bank_conflicts(nothing), launches(nothing), copies(nothing, device::TransferRecord::Kind::to_host),
          bytes_copied(nothing, device::TransferRecord::Kind::fill)})
        CHECK(measured.number.value() == 0);
    CHECK(nothing.kernel_time_ns() == 0);
    CHECK_THROWS_AS(nothing.kernel(), SubmissionFailure);
}

TEST_CASE("a prediction is compared with what was measured, and both are reported") {
    const auto sectors = measure("sectors", 4096);
    CHECK(predicted(4096, predicts(sectors)));
    REQUIRE(context().measurements.size() == 2);
    CHECK(context().measurements[0].name == "predicted sectors");
    CHECK(context().measurements[1].value == 4096);
    CHECK(!predicted(5, predicts(sectors)));
    CHECK(context().failure == "sectors: predicted 5, measured 4096");
    CHECK(!predicted(std::nan(""), predicts(sectors)));
    CHECK(context().measurements.empty());
}

TEST_CASE("a prediction may be of what the contract describes") {
    const auto sectors = measure("sectors", 139264);
    CHECK(predicted(4096, predicts(sectors, 4096)));
    CHECK(predicted(139264, predicts(sectors, 4096)));
    CHECK(!predicted(5, predicts(sectors, 4096)));
    CHECK(context().failure ==
          "sectors: predicted 5; a version as the contract describes it takes 4096, yours took 139,264");
}

TEST_CASE("a prediction may be near") {
    const auto faster = predicts(measure("speed-up", 4, "×")).within(0.25);
    CHECK(predicted(3, faster));
    CHECK(predicted(5, faster));
    CHECK(!predicted(5.1, faster));
    CHECK(context().failure == "speed-up: predicted 5.1, measured 4 ×");
}
