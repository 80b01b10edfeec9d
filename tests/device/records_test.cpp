#include "device/records.hpp"

#include "judge/catch.hpp"
#include "server/journal.hpp"

using namespace warpgrade::server;

namespace {

LaunchRecord sample() {
    LaunchRecord record;
    record.kernel = "_Z6vecaddPf";
    record.demangled = "vecadd";
    record.config.grid = {4, 2, 1};
    record.config.block = {256, 1, 1};
    record.config.dynamic_shared_bytes = 1024;
    record.registers_per_thread = 40;
    record.counters.emplace().inst_executed = 123456789012345;
    record.occupancy = {8, 0.75, 0.25, "registers"};
    record.start_ns = 1.5;
    record.duration_ns = 1000.25;
    record.lines.push_back({"vecadd.cu", 7, {}});
    record.lines.back().counters.global_load_sectors = 9;
    return record;
}

}  // namespace

TEST_CASE("a launch record as JSON has all counters, and of its lines those other than zero") {
    const auto json = to_json(sample());
    CHECK(json.at("name") == "vecadd");
    CHECK(json.at("grid") == nlohmann::json{4, 2, 1});
    CHECK(json.at("counters").at("inst_executed") == 123456789012345);
    CHECK(json.at("counters").at("branches") == 0);
    CHECK(json.at("lines").at(0).at("counters") == nlohmann::json{{"global_load_sectors", 9}});
    CHECK(json.at("error") == nullptr);
}

TEST_CASE("a journal counts the same mistake at the same place") {
    Journal journal;
    Diagnostic d;
    d.rule = &rules::race_shared;
    d.place = {"reverse.cu", 12, 0};
    journal.add(d);
    journal.add(d);
    d.place.line = 13;
    journal.add(d);
    d.rule = &rules::leak;
    d.place = {};  // places unknown: perhaps two
    journal.add(d);
    journal.add(d);
    const auto taken = journal.take().diagnostics;
    REQUIRE(taken.size() == 4);
    CHECK(taken[0].count == 2);
    CHECK(journal.take().diagnostics.empty());
}

TEST_CASE("names that are not UTF-8 do not break a line of JSON") {
    LaunchRecord record = sample();
    record.kernel = "\xff\xfe";
    CHECK(nlohmann::json::parse(dump_line(to_json(record))).at("kernel") == "\uFFFD\uFFFD");
    CHECK(dump_line({{"größe", "\xff"}, {"n", {1, 2}}}) == "{\"größe\":\"\uFFFD\",\"n\":[1,2]}");
}

TEST_CASE("a text is cut where it is too long, and where it is no UTF-8 it is made so") {
    std::string text = "ab" + std::string(max_string_bytes - 2, 'x');
    CHECK(shorten(text) == text);
    CHECK(shorten(text + "y") == text + "…");
    CHECK(to_valid_utf8("a\x7f") == "a\x7f");
    CHECK(to_valid_utf8("a\x80") == "a\uFFFD");
    CHECK(to_valid_utf8("ä") == "ä");
}

TEST_CASE("of a traced access JSON has the lanes' places as steps") {
    LaunchRecord record = sample();
    AccessTrace& trace = record.trace.emplace();
    trace.lines = {{"a.cu", 7, 1}};
    trace.arrays = {{{"d_a", true, 512, {"b.cu", 2, 3}}, 64}};
    trace.accesses.resize(5);
    trace.accesses[0] = {TracedAccess::Kind::store, TracedAccess::Space::shared, 4, 0x17, 1, 2, 3, 4, 5, 6,
                         {0, 4, 8, 64, 60, 56, 9}};
    trace.accesses[1].offsets = {5};
    trace.accesses[2].offsets = {5, 5, 5};
    trace.accesses[3].kind = TracedAccess::Kind::atomic;
    const auto json = to_json(record).at("trace");
    CHECK(json.at("lines") == nlohmann::json::parse(R"([{"file": "a.cu", "line": 7}])"));
    CHECK(json.at("arrays") == nlohmann::json::parse(R"([{"memory": {"name": "d_a", "variable": true, "bytes": 512,
        "allocated": {"file": "b.cu", "line": 2, "code": 3}}, "begin": 64}])"));
    CHECK(json.at("accesses").at(0) == nlohmann::json::parse(R"({"kind": "store", "space": "shared", "bytes": 4,
        "mask": 23, "line": 1, "array": 2, "block": 3, "warp": 4, "units": 5, "conflicts": 6,
        "offsets": [[0, 4, 3], [64, -4, 3], [9, 0, 1]]})"));
    CHECK(json.at("accesses").at(1).at("offsets") == nlohmann::json::parse("[[5, 0, 1]]"));
    CHECK(json.at("accesses").at(2).at("offsets") == nlohmann::json::parse("[[5, 0, 3]]"));
    CHECK(json.at("accesses").at(3).at("kind") == "atomic");
    // Of which nothing is known.
    CHECK(json.at("accesses").at(4) == nlohmann::json::parse(R"({"kind": "load", "space": "global", "bytes": 0,
        "mask": 0, "line": 0, "array": 0, "block": 0, "warp": 0, "units": 0, "conflicts": 0, "offsets": []})"));
    CHECK((TracedArray{}.begin == 0 && TracedArray::line_bytes == 128));
    CHECK_FALSE(to_json(sample()).contains("trace"));
    CHECK_FALSE(to_json(sample()).contains("sampled_blocks"));
    record.sampled_blocks = 1;
    CHECK(to_json(record).at("sampled_blocks") == 1);
}

TEST_CASE("a journal says which of its lists are not complete") {
    Journal journal;
    CHECK(journal.take().truncated.empty());
    for (std::size_t i = 0; i < RecordLimits::max_allocations; ++i) journal.add_allocation("cudaMalloc", 4);
    journal.print({std::string(RecordLimits::max_output_bytes, 'x')});
    CHECK(journal.take().truncated.empty());
    for (std::size_t i = 0; i <= RecordLimits::max_allocations; ++i) journal.add_allocation("cudaMalloc", 4);
    journal.print({std::string(RecordLimits::max_output_bytes, 'x')});
    journal.print({"y"});
    CHECK(journal.take().truncated == std::set<std::string>{"allocations", "output"});
    CHECK(journal.take().truncated.empty());
}

TEST_CASE("names and texts of what students compile do not fill the journal") {
    Journal journal;
    const std::string long_name(64 << 10, 'n');
    for (std::size_t i = 0; i < 1000; ++i) {
        LaunchRecord record;
        record.kernel = record.demangled = long_name;
        record.lines.assign(20, LineCounters{long_name, 1, {}});
        journal.add_launch(std::move(record));
        Diagnostic found;
        found.rule = &rules::race_shared;
        found.message = found.kernel = found.place.file = long_name;
        found.place.line = static_cast<std::uint32_t>(i);
        found.related.push_back({"written by", {long_name, 1, 0}, {}});
        journal.add(std::move(found));
    }
    const auto report = journal.take();
    CHECK(report.launches.size() == 1000);
    CHECK(report.truncated.empty());
    CHECK(dump_line(to_json(report)).size() < 40'000'000);
    CHECK(pack_report(report).size() < 40'000'000);
}

TEST_CASE("lines of launches are bounded in bytes") {
    Journal journal;
    for (std::size_t i = 0; i < 400; ++i) {
        LaunchRecord record;
        record.lines.assign(500, LineCounters{std::string(500, 'n'), 1, {}});
        journal.add_launch(std::move(record));
    }
    const auto report = journal.take();
    CHECK(report.truncated == std::set<std::string>{"lines"});
    CHECK(report.launches.front().lines.size() == 500);
    CHECK(report.launches.back().lines.empty());
    CHECK(dump_line(to_json(report)).size() < RecordLimits::max_line_bytes * 2);
    CHECK(pack_report(report).size() < RecordLimits::max_line_bytes * 2);
}
