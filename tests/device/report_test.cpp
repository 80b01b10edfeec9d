// A report goes to the judge as bytes, and comes back as it was; bytes that are no report are refused.
#include "device/report.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "device/packing.hpp"
#include "device/record_limits.hpp"
#include "device/records.hpp"
#include "judge/catch.hpp"

using namespace warpgrade::device;

namespace {

LaunchRecord launch() {
    LaunchRecord record;
    record.kernel = "_Z6vecaddPf";
    record.demangled = "vecadd";
    record.config.grid = {4, 2, 1};
    record.config.block = {256, 1, 1};
    record.config.dynamic_shared_bytes = 1024;
    record.config.stream = 3;
    record.config.cooperative = true;
    record.registers_per_thread = 40;
    record.static_shared_bytes = 8;
    record.counters.emplace().inst_executed = 123456789012345;
    record.counters->warps_launched = 7;
    record.any_data = AnyData{false, "branch", {"bins.cu", 60}};
    record.occupancy = {8, 0.75, 0.25, "registers"};
    record.start_ns = 1.5;
    record.duration_ns = 1000.25;
    record.lines.push_back({"vecadd.cu", 7, {}});
    record.lines.back().counters.global_load_sectors = 9;
    record.costs = {{"uncoalesced", 0.25}};
    AccessTrace& trace = record.trace.emplace();
    trace.lines = {{"vecadd.cu", 7, 0}};
    trace.arrays = {{{"d_a", true, 512, {"", 0, 0x77}}, 64}};
    trace.accesses = {
        {TracedAccess::Kind::store, TracedAccess::Space::global, 4, 0x17, 0, 0, 3, 1, 2, 0, {0, 4, 8, 64}},
        {TracedAccess::Kind::atomic, TracedAccess::Space::shared, 8, ~0u, 5, 6, 7, 8, 9, 10, {}}};
    for (std::uint64_t lane = 0; lane < 32; ++lane) trace.accesses.back().offsets.push_back(lane * lane);
    record.most_block_instructions = 99;
    return record;
}

Diagnostic race() {
    Diagnostic found;
    found.rule = &rules::race_shared;
    found.message = "reads what another thread writes";
    found.kernel = "reverse";
    found.place = {"reverse.cu", 12, 0};
    found.thread = ThreadPlace{{3, 0, 0}, {7, 1, 0}};
    found.related = {{"written by", {"reverse.cu", 11, 0}, ThreadPlace{{60, 0, 0}, {7, 1, 0}}},
                     {"launched", {"", 0, 0x1234}, std::nullopt}};
    found.memory = MemoryPlace{"tile", true, 256, {"reverse.cu", 3, 5}};
    found.count = 64;
    found.weight = 0.5;
    return found;
}

Report sample() {
    Report report;
    report.launches = {launch(), launch()};
    report.launches.back().error_code = error::illegal_address;
    report.launches.back().error = "4 bytes past d";
    report.transfers = {{TransferRecord::Kind::to_host, 3, 4096, {1.5, 4.0}},
                        {TransferRecord::Kind::fill, 0, 8, {4.0, 4.5}}};
    report.allocations = {{"cudaMalloc", 400}, {"cudaHostAlloc", 4}};
    report.waits_ns = {1.0, 2.5};
    report.clock_ns = 17.25;
    report.output = "said 42\n";
    report.call_errors = {{"cudaFree", 1, "it was not allocated"}};
    report.diagnostics = {race()};
    report.origin = OriginVerdict{OriginVerdict::Problem::changed,
                                  2,
                                  3,
                                  4,
                                  5,
                                  {std::byte{6}, std::byte{7}},
                                  true,
                                  "its grid",
                                  true,
                                  false,
                                  8,
                                  {9, 10}};
    report.truncated = {"lines", "waits"};
    report.connected = true;
    report.internal_error = "none of the program's";
    return report;
}

Report there_and_back(const Report& report) { return unpack_report(pack_report(report)); }

}  // namespace

TEST_CASE("a report survives its bytes") {
    const Report report = sample(), back = there_and_back(report);
    CHECK(to_json(back) == to_json(report));
    CHECK(back.launches.at(0).counters == report.launches.at(0).counters);
    CHECK((back.launches.at(0).costs.at(0).cause == "uncoalesced" && back.launches.at(0).costs.at(0).share == 0.25));
    CHECK(back.launches.at(0).lines.at(0).counters == report.launches.at(0).lines.at(0).counters);
    CHECK(back.launches.at(1).error == "4 bytes past d");
    const AnyData& proof = back.launches.at(0).any_data.value();
    CHECK((!proof.holds && proof.because == "branch" && proof.place == SourcePlace{"bins.cu", 60}));
    CHECK(back.transfers.at(0).when.end_ns == 4.0);
    CHECK(back.diagnostics.at(0).rule == &rules::race_shared);
    CHECK(back.diagnostics.at(0).thread == report.diagnostics.at(0).thread);
    CHECK(back.origin->sample == report.origin->sample);
    REQUIRE(back.launches.at(0).trace->accesses.size() == 2);
    CHECK(back.launches.at(0).trace->accesses[1].space == TracedAccess::Space::shared);
    CHECK(pack_report(back) == pack_report(report));
    CHECK(pack_report(report).size() < dump_line(to_json(report)).size() / 2);
    CHECK(to_json(there_and_back({})) == to_json(Report{}));
}

TEST_CASE("a report that ends too early, or goes on, is refused") {
    const std::string bytes = pack_report(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_THROWS_AS(unpack_report(std::string_view(bytes).substr(0, size)), RecordError);
    CHECK_THROWS_AS(unpack_report(bytes + '\0'), RecordError);
}

TEST_CASE("a report with a changed byte is refused or whole") {
    const std::string bytes = pack_report(sample());
    std::size_t whole = 0, refused = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at)
        for (const char other : {'\0', '\1', '\x7f', '\xff'}) {
            std::string changed = bytes;
            changed[at] = other;
            try {
                whole += !dump_line(to_json(unpack_report(changed))).empty();
            } catch (const RecordError&) {
                ++refused;
            }
        }
    CHECK(whole > refused);
    CHECK(refused > 0);
}

TEST_CASE("what no device says is refused") {
    const auto broken = [](auto&& change) {
        Report report = sample();
        change(report);
        CHECK_THROWS_AS(there_and_back(report), RecordError);
    };
    broken([](Report& r) { r.launches[0].start_ns = -1; });
    broken([](Report& r) { r.launches[0].duration_ns = -1; });
    broken([](Report& r) { r.launches.resize(RecordLimits::max_launches + 1); });
    broken([](Report& r) { r.launches[0].lines.resize(RecordLimits::max_lines + 1); });
    broken([](Report& r) {  // each of them may be as long
        r.launches.resize(5);
        for (LaunchRecord& each : r.launches) each.lines.resize(RecordLimits::max_lines);
    });
    broken([](Report& r) { r.transfers[0].kind = static_cast<TransferRecord::Kind>(4); });
    broken([](Report& r) { r.transfers[0].when.end_ns = 0; });
    broken([](Report& r) { r.call_errors.resize(RecordLimits::max_call_errors + 1); });
    broken([](Report& r) { r.diagnostics[0].related.resize(17); });
    broken([](Report& r) { r.output = std::string(1, '\0'), r.waits_ns.resize(RecordLimits::max_waits + 1); });
    static constexpr Rule made_up{"made/up", Severity::Error, "", ""};
    broken([](Report& r) { r.diagnostics[0].rule = &made_up; });
    broken([](Report& r) { r.origin->problem = static_cast<OriginVerdict::Problem>(200); });
}

TEST_CASE("a long text is cut, and one that is not UTF-8 made readable") {
    Report report = sample();
    LaunchRecord& failed = report.launches[1];
    failed.kernel = failed.demangled = failed.error = failed.lines[0].file = std::string(3 << 20, 'x');
    report.launches[0].kernel = "\xff\xfe";
    report.output = "naïve \x80" + std::string(2 << 20, 'x');
    const Report back = there_and_back(report);
    for (const std::string& text :
         {back.launches[1].kernel, back.launches[1].demangled, back.launches[1].error, back.launches[1].lines[0].file})
        CHECK(text.size() < 5000);
    CHECK(back.launches[0].kernel == "\uFFFD\uFFFD");
    CHECK(back.output == "naïve \uFFFD" + std::string(2 << 20, 'x'));
}

TEST_CASE("a time that is no number is none") {
    Report report = sample();
    report.launches[0].duration_ns = std::numeric_limits<double>::infinity();
    report.diagnostics[0].weight = std::numeric_limits<double>::quiet_NaN();
    const Report back = there_and_back(report);
    CHECK(back.launches[0].duration_ns == 0);
    CHECK(back.diagnostics[0].weight == 0);
}
